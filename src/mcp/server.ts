import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  CancelledNotificationSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { AppError } from '../core/error.ts'
import { refusalOf } from '../http/errors.ts'
import type { Origin } from '../http/origin.ts'
import type { Perform } from '../http/perform.ts'
import { may, requirePermission } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import type { Route } from '../http/route.ts'
import { INSTRUCTIONS } from './instructions.ts'
import { type Ask, type Resources, resourcesOf } from './resource.ts'
import { type Tool, toolOf } from './tool.ts'

export interface ServerParts {
  routes: readonly Route[]
  perform: Perform
  /** Version of the program. */
  version: string
  /** Called for bugs. */
  report: (error: unknown, where: string) => void
}

/** The caller of a request. */
export interface Caller {
  principal: Principal
  origin: Origin
  /** Aborts when the caller disconnects or the request times out. */
  signal: AbortSignal
}

/** An error with a JSON-RPC code; the SDK's own class adds the code to the message. */
class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

/** The message that callers get for a bug. */
const BUG_MESSAGE = 'internal error; the log of the server says more'

/** https://modelcontextprotocol.io/specification/2025-06-18/server/resources#error-handling */
const RESOURCE_NOT_FOUND = -32002

/** The SDK's server validates only elicitation, which is not used here. */
const NO_VALIDATOR = {
  getValidator: (): never => {
    throw new Error('nothing is elicited')
  },
}

/**
 * Returns a function that makes the server for one request. Tools and resources are made from the routes once; throws a
 * plain `Error` when two tools share a name or a route can't be a tool.
 */
export function mcpServers(parts: ServerParts): (caller: Caller) => Server {
  const tools = parts.routes.filter(({ tool }) => tool).map(toolOf)
  const byName = new Map(tools.map((tool) => [tool.entry.name, tool]))
  if (byName.size < tools.length) throw new Error('two tools have one name')
  const resources = resourcesOf(parts.routes)
  return (caller) => {
    const server = new Server(
      { name: 'tagwarden', title: 'Tagwarden', version: parts.version },
      { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator: NO_VALIDATOR },
    )
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: tools.filter(({ route }) => may(caller.principal, route.access)).map(({ entry }) => entry),
    }))
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      const tool = byName.get(params.name)
      if (!tool) throw new RpcError(ErrorCode.InvalidParams, `unknown tool: ${params.name.slice(0, 100)}`)
      return await callTool(tool, params.arguments ?? {}, caller, parts)
    })
    offerResources(server, resources, caller, parts)
    // Ignored: a request ends before another could cancel it, and one cancelled in the same batch would never be
    // answered.
    server.setNotificationHandler(CancelledNotificationSchema, () => {})
    return server
  }
}

/**
 * Calls a tool. Refusals are results with `isError`, because the assistant can correct its call; so are bugs, without
 * details.
 */
async function callTool(
  tool: Tool,
  args: Record<string, unknown>,
  caller: Caller,
  { perform, report }: ServerParts,
): Promise<CallToolResult> {
  const { route, entry } = tool
  try {
    requirePermission(caller.principal, route.access)
    const { dryRun, ...call } = tool.read(args)
    const answer = await perform(route, { ...call, ...caller }, { dryRun })
    const note = dryRun ? ['This was a dry run: nothing was changed.'] : []
    const content = [JSON.stringify(answer), ...note].map((text) => ({ type: 'text' as const, text }))
    // safe because the answer fits the route's schema, which is an object's
    return { content, structuredContent: answer as Record<string, unknown> }
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) report(error, `tool ${entry.name}`)
    return { content: [{ type: 'text', text: refusal?.message ?? BUG_MESSAGE }], isError: true }
  }
}

function offerResources(server: Server, resources: Resources, caller: Caller, parts: ServerParts): void {
  const ask: Ask = async (route, { params = {}, query = {} }) => {
    requirePermission(caller.principal, route.access)
    return await parts.perform(route, { ...caller, params, query, body: undefined })
  }
  const orRpcError = async <T>(work: Promise<T>, where: string): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw rpcError(error, (bug) => parts.report(bug, where))
    }
  }
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [...resources.templates] }))
  server.setRequestHandler(ListResourcesRequestSchema, async () => ({
    resources: await orRpcError(resources.list(ask), 'resources/list'),
  }))
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const answer = await orRpcError(resources.read(uri, ask), 'resources/read')
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(answer) }] }
  })
}

function rpcError(error: unknown, report: (bug: unknown) => void): RpcError {
  const refusal = refusalOf(error)
  if (refusal) return new RpcError(codeOf(refusal), refusal.message)
  report(error)
  return new RpcError(ErrorCode.InternalError, BUG_MESSAGE)
}

function codeOf({ code }: AppError): number {
  if (code === 'notFound') return RESOURCE_NOT_FOUND
  return code === 'unavailable' ? ErrorCode.InternalError : ErrorCode.InvalidParams
}
