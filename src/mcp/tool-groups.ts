import type { Tool as ToolEntry } from '@modelcontextprotocol/sdk/types.js'
import { AppError } from '../core/error.ts'
import { Closed, parser, Type } from '../core/schema.ts'
import { PERMISSIONS } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import { mayCall } from '../http/route-access.ts'
import type { Tool } from './tool.ts'

/*
 * Listed tools use up context in every conversation. By default, only the core tools are listed, together with
 * `list_tools`, which describes other tools by group, and `call_tool`, which calls them.
 */

/** The core tools. They are listed without their response schemas. */
export const CORE: ReadonlySet<string> = new Set([
  'list_issues',
  'get_issue',
  'investigate_issue',
  'change_issue',
  'list_alerts',
  'get_alert',
  'create_alert',
  'set_alert_enabled',
  'preview_alert',
  'backtest_alert',
  'list_domains',
  'search_names',
  'search_events',
  'get_event_dictionary',
  'get_volume',
  'list_causes',
  'list_changes',
  'list_rejections',
  'list_suggestions',
  'get_scores',
  'get_usage',
  'whoami',
])

/** The group of the core tools. */
const CORE_GROUP = 'core'
/** Name that selects all groups. */
const ALL = 'all'

export const LIST_TOOLS = 'list_tools'
export const CALL_TOOL = 'call_tool'

const checkListInput = parser(Closed({ group: Type.Optional(Type.String()), name: Type.Optional(Type.String()) }))
const checkCall = parser(
  Closed({
    name: Type.String(),
    arguments: Type.Optional(Type.Object({}, { additionalProperties: true })),
  }),
)

/** Returns the group of a tool: the tag of its operation, written like `flow-tests`. */
function groupOf({ route }: Tool): string {
  return route.tag.toLowerCase().replaceAll(' ', '-')
}

const isCore = ({ entry }: Tool) => CORE.has(entry.name)
const withoutAnswer = ({ entry: { outputSchema: _, ...entry } }: Tool): ToolEntry => entry

/** Returns the entries for `list_tools` and `call_tool`, for a caller who may see `tools`. */
function metaEntries(tools: readonly Tool[], groups: readonly string[]): ToolEntry[] {
  const readOnly = tools.every(({ route }) => !PERMISSIONS[route.access].writes)
  return [
    {
      name: LIST_TOOLS,
      title: 'All tools by group',
      description:
        'List all tools by group, including those that are not listed here. With group or name, includes descriptions and arguments. ' +
        'Use call_tool to call them',
      inputSchema: {
        type: 'object',
        properties: {
          group: { type: 'string', enum: [...groups] },
          name: { type: 'string', description: 'One tool, with the schema of its response' },
        },
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    {
      name: CALL_TOOL,
      title: 'Call a tool from list_tools',
      description: 'Call a tool from list_tools; returns the response of that tool',
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          arguments: { type: 'object', description: 'As in the inputSchema of the tool, including dryRun' },
        },
        required: ['name'],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: readOnly, destructiveHint: !readOnly, idempotentHint: false, openWorldHint: false },
    },
  ]
}

/** The tools of the server, in groups. */
export interface ToolGroups {
  /**
   * Parses a comma-separated list of groups in the URL, such as `alerts,flow-tests`. Null selects only the core tools.
   * Throws `invalid` for an unknown group; the error lists the known groups.
   */
  read(text: string | null): ReadonlySet<string>
  /** Returns the entries for `tools/list`. Their order is always the same for the same caller. */
  listed(groups: ReadonlySet<string>, principal: Principal): ToolEntry[]
  /** Returns the result of `list_tools`. Throws `invalid` for an unknown group and `notFound` for an unknown tool. */
  described(args: unknown, principal: Principal): object
  /** Returns which tool the arguments of `call_tool` name, and the arguments for that tool. Throws `invalid`. */
  called(args: unknown): { name: string; arguments: Record<string, unknown> }
}

export function toolGroups(tools: readonly Tool[]): ToolGroups {
  const groups = [...new Set(tools.map(groupOf))].sort()
  const visible = (principal: Principal) => tools.filter(({ route }) => mayCall(principal, route))
  const checkGroup = (group: string, known: readonly string[], field: string) => {
    if (known.includes(group)) return
    throw new AppError('invalid', `${field}: unknown group ${group.slice(0, 100)}; use ${known.join(', ')}`)
  }
  return {
    read(text) {
      const asked = text === null ? [CORE_GROUP] : text.split(',').map((group) => group.trim())
      for (const group of asked) checkGroup(group, [CORE_GROUP, ALL, ...groups], 'groups')
      return new Set(asked)
    },
    listed(asked, principal) {
      const seen = visible(principal)
      const entries = seen.flatMap((tool) => {
        if (asked.has(ALL) || asked.has(groupOf(tool))) return [tool.entry]
        return asked.has(CORE_GROUP) && isCore(tool) ? [withoutAnswer(tool)] : []
      })
      return asked.has(CORE_GROUP) ? [...entries, ...metaEntries(seen, groups)] : entries
    },
    described(args, principal) {
      const { group, name } = checkListInput(args)
      const seen = visible(principal)
      if (name !== undefined) {
        const tool = seen.find(({ entry, route }) => entry.name === name || route.id === name)
        if (!tool) throw unknownTool(name)
        return { group: groupOf(tool), tools: [tool.entry] }
      }
      if (group !== undefined) {
        checkGroup(group, groups, 'group')
        return { group, tools: seen.filter((tool) => groupOf(tool) === group).map(withoutAnswer) }
      }
      const inGroup = (one: string) => seen.filter((tool) => groupOf(tool) === one)
      return {
        groups: groups
          .map((one) => ({ group: one, tools: inGroup(one).map(({ entry: { name, title } }) => ({ name, title })) }))
          .filter(({ tools }) => tools.length > 0),
      }
    },
    called(args) {
      const { name, arguments: own = {} } = checkCall(args)
      return { name, arguments: own as Record<string, unknown> }
    },
  }
}

/** Returns the error for a tool that does not exist or that the caller may not see. */
export function unknownTool(name: string): AppError {
  return new AppError('notFound', `unknown tool: ${name.slice(0, 100)}`)
}
