import {
  type CallToolResult,
  ErrorCode,
  type Resource,
  type ResourceTemplate,
  type Tool as ToolEntry,
} from '@modelcontextprotocol/sdk/types.js'
import type { AppError } from '../core/error.ts'
import type { Origin } from '../http/client-info.ts'
import { refusalOf } from '../http/error-responses.ts'
import type { Perform } from '../http/perform-call.ts'
import type { Principal } from '../http/principal.ts'
import type { Call, Route } from '../http/route.ts'
import { requireAccess } from '../http/route-access.ts'
import { type Page, pageOf, shorterPage } from './answer-pages.ts'
import { type Ask, resourcesOf } from './resources.ts'
import { knowsPages, makesPages, type Tool, toolOf } from './tool.ts'
import { CALL_TOOL, LIST_TOOLS, toolGroups, unknownTool } from './tool-groups.ts'

export interface MethodDeps {
  routes: readonly Route[]
  perform: Perform
  /** Called with every unexpected error. */
  report: (error: unknown, where: string, requestId?: string) => void
}

/** The caller of a request. */
export interface Caller {
  principal: Principal
  origin: Origin
  /** Aborted when the caller disconnects or the request times out. */
  signal: AbortSignal
}

/** The parameters of `tools/call`. */
interface ToolCall {
  name: string
  arguments?: Record<string, unknown> | undefined
}

/** The protocol methods for one caller. They are the same in every revision and throw `RpcError`. */
export interface Methods {
  listTools(): { tools: ToolEntry[] }
  callTool(call: ToolCall): Promise<CallToolResult>
  listResources(): Promise<{ resources: Resource[] }>
  listResourceTemplates(): { resourceTemplates: ResourceTemplate[] }
  readResource(uri: string): Promise<{ contents: { uri: string; mimeType: string; text: string }[] }>
}

/** An error with a JSON-RPC code. Unlike the SDK's class, it does not add the code to the message. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message)
  }
}

/** The message sent to callers when the server has a bug. */
const BUG_MESSAGE = 'internal error; see the server log'

/**
 * Error code defined by the protocol:
 * https://modelcontextprotocol.io/specification/2025-06-18/server/resources#error-handling
 */
export const RESOURCE_NOT_FOUND = -32002

/**
 * Creates tools and resources from the routes, and returns a function that creates the methods for one caller. `groups`
 * is the list of tool groups as in the URL; null selects the core tools. The returned function throws `invalid` for an
 * unknown group. Throws a plain `Error` when two tools share a name or a route can't be a tool.
 */
export function mcpMethods(deps: MethodDeps): (caller: Caller, groups: string | null) => Methods {
  const { routes, perform, report } = deps
  const tools = routes.filter(({ tool }) => tool).map(toolOf)
  // Also accepts `listAlerts`, the name of the operation in the REST API description.
  const byName = new Map(tools.flatMap((tool) => [tool.route.id, tool.entry.name].map((name) => [name, tool])))
  if (new Set(tools.map(({ entry }) => entry.name)).size < tools.length) throw new Error('two tools share a name')
  const grouped = toolGroups(tools)
  const resources = resourcesOf(routes)
  return (caller, groups) => {
    const listed = grouped.read(groups)
    const ask: Ask = async (route, { params = {}, query = {} }) => {
      requireAccess(caller.principal, route)
      return await perform(route, { ...caller, params, query, body: undefined })
    }
    const orRpcError = async <T>(work: Promise<T>, where: string): Promise<T> => {
      try {
        return await work
      } catch (error) {
        throw rpcError(error, (bug) => report(bug, where))
      }
    }
    const called = (tool: Tool, args: Record<string, unknown>) =>
      orRefusal(tool.entry.name, report, () => callTool(tool, args, caller, deps))
    return {
      listTools: () => ({ tools: grouped.listed(listed, caller.principal) }),
      async callTool({ name, arguments: args = {} }) {
        if (name === LIST_TOOLS) {
          return await orRefusal(name, report, () => asText(grouped.described(args, caller.principal)))
        }
        const tool = byName.get(name)
        if (tool) return await called(tool, args)
        if (name !== CALL_TOOL) throw new RpcError(ErrorCode.InvalidParams, unknownTool(name).message)
        return await orRefusal(name, report, () => {
          const call = grouped.called(args)
          const inner = byName.get(call.name)
          if (!inner) throw unknownTool(call.name)
          return called(inner, call.arguments)
        })
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

const textOf = (text: string) => ({ type: 'text' as const, text })
const asText = (answer: object): CallToolResult => ({ content: [textOf(JSON.stringify(answer))] })

type Fields = Record<string, unknown>

async function callTool(
  { route, entry, read }: Tool,
  args: Fields,
  caller: Caller,
  { perform, routes }: Pick<MethodDeps, 'perform' | 'routes'>,
): Promise<CallToolResult> {
  requireAccess(caller.principal, route)
  const { dryRun, cursor, ...parts } = read(args)
  const call = { ...parts, ...caller }
  // The casts are safe because the response was checked against the route's schema, which is always an object schema.
  const answer = (await perform(route, call, { dryRun })) as Fields
  if (dryRun) {
    const shown = await dryRunAnswer(route, call, answer, { perform, routes })
    return resultOf(shown.answer, [shown.note, 'This was a dry run. Nothing was changed.'])
  }
  if (makesPages(route)) {
    const page = pageOf(entry.name, answer, cursor)
    return resultOf(page.answer, [page.note])
  }
  if (!knowsPages(route)) return resultOf(answer, [])
  const again = async (limit: number) =>
    (await perform(route, { ...call, query: { ...(call.query as Fields), limit } })) as Fields
  const { answer: shown, note } = await shorterPage(entry.name, answer, again)
  return resultOf(shown, [note])
}

function resultOf(answer: Fields, notes: readonly (string | null)[]): CallToolResult {
  const texts = [JSON.stringify(answer), ...notes.filter((note) => note !== null)]
  return { content: texts.map(textOf), structuredContent: answer }
}

/** Adds the fields defined by the route's `dryRunShows` to the response of a dry run. */
async function dryRunAnswer(
  { dryRunShows }: Route,
  { body, ...call }: Call<unknown, unknown, unknown, Principal>,
  answer: Fields,
  { perform, routes }: Pick<MethodDeps, 'perform' | 'routes'>,
): Promise<Page> {
  const route = dryRunShows && routes.find(({ id }) => id === dryRunShows.routeId)
  if (!route) return { answer, note: null }
  const { field, say } = dryRunShows
  try {
    requireAccess(call.principal, route)
    const shown = await perform(route, { ...call, params: {}, query: {}, body: dryRunShows.body(body) })
    return { answer: { ...answer, [field]: shown }, note: say(shown) }
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    return { answer: { ...answer, [field]: null }, note: `There is no ${field}: ${refusal.message}` }
  }
}

/**
 * Returns the result of a call. For a rejected call, the result has `isError`, so that the assistant can correct the
 * call. The same applies to a bug, but without details.
 */
async function orRefusal(
  name: string,
  report: MethodDeps['report'],
  call: () => CallToolResult | Promise<CallToolResult>,
): Promise<CallToolResult> {
  try {
    return await call()
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) report(error, `tool ${name}`)
    return { content: [textOf(refusal ? faultsText(refusal) : BUG_MESSAGE)], isError: true }
  }
}

const MAX_FAULTS = 20

/** Returns all errors in an input, one line per field. */
function faultsText({ faults }: AppError): string {
  const more = faults.length - MAX_FAULTS
  return [...faults.slice(0, MAX_FAULTS), ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
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
