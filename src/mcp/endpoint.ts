import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { AppError } from '../core/error.ts'
import { readJson } from '../http/body.ts'
import { bugResponse, errorResponse, refusalOf } from '../http/errors.ts'
import { API_HEADERS } from '../http/headers.ts'
import { originOf } from '../http/origin.ts'
import type { Principal } from '../http/principal.ts'
import { requestSignal } from '../http/request-signal.ts'
import type { Authenticate } from '../http/router.ts'
import { mcpServers, type ServerParts } from './server.ts'

export interface McpParts extends ServerParts {
  authenticate: Authenticate
  /** Address under which people reach the server. */
  publicUrl: string
}

/** As many as the SDK takes. */
const MAX_MESSAGES = 100

/**
 * The Model Context Protocol over streamable HTTP, for assistants: every request stands for itself, and is answered as
 * JSON. What HTTP refuses (credential, origin, size, a body that is no message) is answered as `{"error"}` like
 * everywhere, what a message asks in vain as its JSON-RPC error or, for a tool, as a result with `isError`.
 */
export function mcpEndpoint(parts: McpParts): (request: Request) => Promise<Response> {
  const serverFor = mcpServers(parts)
  const { origin: ownOrigin } = new URL(parts.publicUrl)
  return async (request) => {
    try {
      if (request.method !== 'POST') return methodRefused()
      checkOrigin(request.headers.get('origin'), ownOrigin)
      // A stranger's body is not even read.
      parts.authenticate(request.headers)
      const body = await readJson(request)
      // It may take minutes, in which the credential may have ended or the role have changed.
      const principal = parts.authenticate(request.headers, { again: true })
      countMessages(body, () => parts.authenticate(request.headers))
      const server = serverFor({ principal, origin: originOf(request), signal: requestSignal(request) })
      return await answer(request, body, server)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal) return errorResponse(refusal)
      parts.report(error, `${request.method} /mcp`)
      return bugResponse()
    }
  }
}

function methodRefused(): Response {
  const error = 'only POST: there is no stream to listen to, and no session to end'
  return Response.json({ error }, { status: 405, headers: { ...API_HEADERS, allow: 'POST' } })
}

/**
 * Only browsers send it. A page of somebody else's that reaches this server under a name of its own is refused, as
 * https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#security-warning asks.
 */
function checkOrigin(origin: string | null, own: string): void {
  if (origin === null || origin === own) return
  throw new AppError('forbidden', `origin: must be ${own}`)
}

/** Messages that come together count as they would one by one. Fails with `invalid` when they are too many. */
function countMessages(body: unknown, count: () => Principal): void {
  if (!Array.isArray(body)) return
  if (body.length > MAX_MESSAGES) throw new AppError('invalid', `body: has more than ${MAX_MESSAGES} messages`)
  for (const _ of body.slice(1)) count()
}

async function answer(request: Request, body: unknown, server: ReturnType<ReturnType<typeof mcpServers>>) {
  // Without a generator of ids there are no sessions.
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

/** The SDK writes a JSON-RPC error without an id, which the protocol allows and nobody reads. */
async function asErrorBody(response: Response): Promise<Response> {
  const { error } = (await response.json()) as { error: { message: string } }
  return Response.json({ error: error.message }, { status: response.status, headers: API_HEADERS })
}
