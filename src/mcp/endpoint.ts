import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { Implementation } from '@modelcontextprotocol/sdk/types.js'
import { AppError } from '../core/error.ts'
import { readJson } from '../http/body.ts'
import { bugResponse, errorResponse, refusalOf } from '../http/errors.ts'
import { API_HEADERS } from '../http/headers.ts'
import { originOf } from '../http/origin.ts'
import type { Principal } from '../http/principal.ts'
import { requestSignal } from '../http/request-signal.ts'
import type { Authenticate } from '../http/router.ts'
import { STATUS } from '../http/status.ts'
import { type MethodDeps, type Methods, mcpMethods } from './methods.ts'
import { handshakeServer } from './server.ts'
import { answerStateless, isStateless, namesStateless, unreadable } from './stateless.ts'

export interface McpParts extends MethodDeps {
  authenticate: Authenticate
  /** Version of the program. */
  version: string
  /** Public URL of the server. */
  publicUrl: string
}

/** The SDK's own limit. */
const MAX_MESSAGES = 100

/**
 * The Model Context Protocol over streamable HTTP, for assistants: stateless, with answers in JSON. A message of revision
 * 2026-07-28 or of an unknown one is answered by `stateless.ts`, one of an older revision by the SDK. Errors of HTTP
 * (credential, origin, size, a body that is no message) are answered as `{"error"}` like everywhere, errors of a
 * message as JSON-RPC errors or, for a tool, as a result with `isError`. `?groups=` chooses the tools that are listed.
 */
export function mcpEndpoint(parts: McpParts): (request: Request) => Promise<Response> {
  const methodsFor = mcpMethods(parts)
  const identity = { name: 'tagwarden', title: 'Tagwarden', version: parts.version }
  const { origin: ownOrigin } = new URL(parts.publicUrl)
  return async (request) => {
    try {
      if (request.method !== 'POST') return methodRefused()
      checkOrigin(request.headers.get('origin'), ownOrigin)
      // Before the body is read, so that unauthorized bodies are not.
      parts.authenticate(request.headers)
      const body = await readMessage(request)
      if (body instanceof Response) return body
      // The body may have taken minutes, in which the credential may have expired or the role changed.
      const principal = parts.authenticate(request.headers, { again: true })
      countMessages(body, () => parts.authenticate(request.headers))
      const groups = new URL(request.url).searchParams.get('groups')
      const caller = { principal, origin: originOf(request), signal: requestSignal(request) }
      const methods = methodsFor(caller, groups)
      if (isStateless(request.headers, body)) return await answerStateless(request.headers, body, identity, methods)
      return await answerWithSdk(request, body, identity, methods)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal) return errorResponse(refusal)
      parts.report(error, `${request.method} /mcp`)
      return bugResponse()
    }
  }
}

/**
 * Returns the body as `readJson` does. To a client of revision 2026-07-28, which takes any other body for the answer of
 * an older server, a body that is no JSON is refused with a JSON-RPC error.
 */
async function readMessage(request: Request): Promise<unknown> {
  try {
    return await readJson(request)
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid' && namesStateless(request.headers))) throw error
    return unreadable(STATUS[error.code], error.message)
  }
}

function methodRefused(): Response {
  const error = 'only POST: there is no stream to listen to, and no session to end'
  return Response.json({ error }, { status: 405, headers: { ...API_HEADERS, allow: 'POST' } })
}

/**
 * Refuses an `Origin`, which only browsers send, of another site: a protection against DNS rebinding, as
 * https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#security-warning requires.
 */
function checkOrigin(origin: string | null, own: string): void {
  if (origin === null || origin === own) return
  throw new AppError('forbidden', `origin: must be ${own}`)
}

/** Counts each message of a batch for the rate limit. Fails with `invalid` when there are too many. */
function countMessages(body: unknown, count: () => Principal): void {
  if (!Array.isArray(body)) return
  if (body.length > MAX_MESSAGES) throw new AppError('invalid', `body: has more than ${MAX_MESSAGES} messages`)
  for (const _ of body.slice(1)) count()
}

async function answerWithSdk(request: Request, body: unknown, identity: Implementation, methods: Methods) {
  const server = handshakeServer(identity, methods)
  // Without a generator of session ids the transport is stateless.
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    const response = await transport.handleRequest(request, { parsedBody: body ?? null })
    if (!response.ok) return await asErrorBody(response)
    for (const [name, value] of Object.entries(API_HEADERS)) response.headers.set(name, value)
    return response
  } finally {
    await server.close()
  }
}

/** Converts the SDK's JSON-RPC error without an id, which clients can't assign to a request, to `{"error"}`. */
async function asErrorBody(response: Response): Promise<Response> {
  const { error } = (await response.json()) as { error: { message: string } }
  return Response.json({ error: error.message }, { status: response.status, headers: API_HEADERS })
}
