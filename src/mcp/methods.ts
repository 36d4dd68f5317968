import {
  type CallToolResult,
  ErrorCode,
  type Resource,
  type ResourceTemplate,
  type Tool as ToolEntry,
} from '@modelcontextprotocol/sdk/types.js'
import type { AppError } from '../core/error.ts'
import { refusalOf } from '../http/errors.ts'
import type { Origin } from '../http/origin.ts'
import type { Perform } from '../http/perform.ts'
import { may, requirePermission } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import type { Route } from '../http/route.ts'
import { type Ask, resourcesOf } from './resource.ts'
import { type Tool, toolOf } from './tool.ts'

export interface MethodDeps {
  routes: readonly Route[]
  perform: Perform
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

/** The parameters of `tools/call`. */
export interface ToolCall {
  name: string
  arguments?: Record<string, unknown> | undefined
}

/** The methods of the protocol for one caller. They are the same in every revision, and throw `RpcError`. */
export interface Methods {
  listTools(): { tools: ToolEntry[] }
  callTool(call: ToolCall): Promise<CallToolResult>
  listResources(): Promise<{ resources: Resource[] }>
  listResourceTemplates(): { resourceTemplates: ResourceTemplate[] }
  readResource(uri: string): Promise<{ contents: { uri: string; mimeType: string; text: string }[] }>
}

/** An error with a JSON-RPC code. The SDK's own class adds the code to the message. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message)
  }
}

/** The message that callers get for a bug. */
const BUG_MESSAGE = 'internal error; the log of the server says more'

/** https://modelcontextprotocol.io/specification/2025-06-18/server/resources#error-handling */
export const RESOURCE_NOT_FOUND = -32002

/**
 * Returns a function that returns the methods for one caller. Tools and resources are made from the routes once; throws
 * a plain `Error` when two tools share a name or a route can't be a tool.
 */
export function mcpMethods({ routes, perform, report }: MethodDeps): (caller: Caller) => Methods {
  const tools = routes.filter(({ tool }) => tool).map(toolOf)
  const byName = new Map(tools.map((tool) => [tool.entry.name, tool]))
  if (byName.size < tools.length) throw new Error('two tools have one name')
  const byRoute = new Map(tools.map((tool) => [tool.route.id, tool]))
  const resources = resourcesOf(routes)
  return (caller) => {
    const ask: Ask = async (route, { params = {}, query = {} }) => {
      requirePermission(caller.principal, route.access)
      return await perform(route, { ...caller, params, query, body: undefined })
    }
    const orRpcError = async <T>(work: Promise<T>, where: string): Promise<T> => {
      try {
        return await work
      } catch (error) {
        throw rpcError(error, (bug) => report(bug, where))
      }
    }
    return {
      listTools: () => ({
        tools: tools.filter(({ route }) => may(caller.principal, route.access)).map(({ entry }) => entry),
      }),
      async callTool({ name, arguments: args = {} }) {
        // `listAlerts` is the name of the operation in the description of the REST API.
        const tool = byName.get(name) ?? byRoute.get(name)
        if (!tool) throw new RpcError(ErrorCode.InvalidParams, `unknown tool: ${name.slice(0, 100)}`)
        return await callTool(tool, args, caller, { perform, report })
      },
      listResources: async () => ({ resources: await orRpcError(resources.list(ask), 'resources/list') }),
      listResourceTemplates: () => ({ resourceTemplates: [...resources.templates] }),
      async readResource(uri) {
        const answer = await orRpcError(resources.read(uri, ask), 'resources/read')
        return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(answer) }] }
      },
    }
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
  { perform, report }: Pick<MethodDeps, 'perform' | 'report'>,
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
