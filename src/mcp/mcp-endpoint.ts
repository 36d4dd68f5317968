import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { Implementation } from '@modelcontextprotocol/sdk/types.js'
import { AppError } from '../core/error.ts'
import { originOf } from '../http/client-info.ts'
import { bugResponse, errorResponse, refusalOf } from '../http/error-responses.ts'
import { API_HEADERS } from '../http/headers.ts'
import { readJson } from '../http/json-body.ts'
import type { Principal } from '../http/principal.ts'
import { requestSignal } from '../http/request-abort-signal.ts'
import { requestIdOf } from '../http/request-id.ts'
import type { Authenticate } from '../http/router.ts'
import { STATUS } from '../http/status-codes.ts'
import { handshakeServer } from './handshake-server.ts'
import { type MethodDeps, type Methods, mcpMethods } from './rpc-methods.ts'
import { answerStateless, isStateless, namesStateless, unreadable } from './stateless-protocol.ts'

export interface McpDeps extends MethodDeps {
  authenticate: Authenticate
  /** Version of Tagwarden. */
  version: string
  /** Public URL of the server. */
  publicUrl: string
}

/** Maximum number of messages in a batch, as in the SDK. */
const MAX_MESSAGES = 100

/**
 * Creates the Model Context Protocol endpoint for assistants (streamable HTTP). It is stateless and responds with JSON.
 * Messages of revision 2026-07-28 or an unknown revision are handled by `stateless-protocol.ts`, messages of older
 * revisions by the SDK. HTTP errors (credential, origin, size, malformed message) have the body `{"error"}`, as in the
 * rest of the API. An error in a message becomes a JSON-RPC error or, for a tool, a result with `isError`. `?groups=`
 * selects the tools to list.
 */
export function mcpEndpoint(parts: McpDeps): (request: Request) => Promise<Response> {
  const methodsFor = mcpMethods(parts)
  const identity = { name: 'tagwarden', title: 'Tagwarden', version: parts.version }
  const { origin: ownOrigin } = new URL(parts.publicUrl)
  return async (request) => {
    try {
      if (request.method !== 'POST') return methodRefused()
      checkOrigin(request.headers.get('origin'), ownOrigin)
      // Authenticated first, so that the body of an unauthorized request is not read.
      parts.authenticate(request.headers)
      const body = await readMessage(request)
      if (body instanceof Response) return body
      // Receiving the body may take minutes. Meanwhile, the credential may have expired or the role may have changed.
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
      parts.report(error, `${request.method} /mcp`, requestIdOf(request))
      return bugResponse()
    }
  }
}

/**
 * Returns the body, like `readJson`. Clients of revision 2026-07-28 receive a JSON-RPC error for a malformed body,
 * because they would interpret any other error body as the response of an older server.
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
  const error = 'only POST is supported, because there are no streams or sessions'
  return Response.json({ error }, { status: 405, headers: { ...API_HEADERS, allow: 'POST' } })
}

/**
 * Rejects an `Origin` header that names another site. Only browsers send this header; the check prevents DNS rebinding,
 * as required by https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#security-warning.
 */
function checkOrigin(origin: string | null, own: string): void {
  if (origin === null || origin === own) return
  throw new AppError('forbidden', `origin: must be ${own}`)
}

/**
 * Counts each message in a batch towards the rate limit. Throws `invalid` when the batch contains too many messages.
 */
function countMessages(body: unknown, count: () => Principal): void {
  if (!Array.isArray(body)) return
  if (body.length > MAX_MESSAGES) throw new AppError('invalid', `body: has more than ${MAX_MESSAGES} messages`)
  for (const _ of body.slice(1)) count()
}

async function answerWithSdk(request: Request, body: unknown, identity: Implementation, methods: Methods) {
  const server = handshakeServer(identity, methods)
  // Without a session id generator, the transport is stateless.
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

/** Converts a JSON-RPC error of the SDK that has no id to `{"error"}`, because clients can't match it to a request. */
async function asErrorBody(response: Response): Promise<Response> {
  const { error } = (await response.json()) as { error: { message: string } }
  return Response.json({ error: error.message }, { status: response.status, headers: API_HEADERS })
}
