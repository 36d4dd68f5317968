import type { Tool as ToolEntry } from '@modelcontextprotocol/sdk/types.js'
import { AppError } from '../core/error.ts'
import { Closed, parser, type TSchema, Type } from '../core/schema.ts'
import { type JsonSchema, plain } from '../http/json-schema.ts'
import { PERMISSIONS } from '../http/permission.ts'
import { listed } from '../http/query-text.ts'
import type { Call, Route } from '../http/route.ts'

/** A route as a tool for assistants. */
export interface Tool {
  route: Route
  /** Its entry in `tools/list`. */
  entry: ToolEntry
  /**
   * Splits arguments, which are one flat object, into the parts of a call; a list of the query may come as one text, as in
   * an address. The route checks the body. Fails with `invalid`, naming the argument.
   */
  read(args: Record<string, unknown>): CallParts
}

export interface CallParts extends Pick<Call, 'params' | 'query' | 'body'> {
  dryRun: boolean
}

const PLACES = ['params', 'query', 'body', 'options'] as const
type Place = (typeof PLACES)[number]

/** Arguments of tools beside the route's own fields. */
const OPTIONS = {
  dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Say what would happen, and change nothing' })),
}

/** The keywords of JSON Schema for an object's fields. */
interface Fields {
  properties: Record<string, object>
  required?: string[]
}

/** Named schemas that are described in the tools that write them, so the schemas of answers have only their names. */
const WRITTEN = ['Channel', 'Condition', 'JourneySpec']
/** Named schemas that are so long that answers say only where they are described. */
const DESCRIBED_ELSEWHERE: Readonly<Record<string, string>> = {
  AlertInput: 'What create_alert takes',
  Audit: 'What create_audit takes, and id, status, times, region, error and summary',
  AuditDetail: 'What create_audit takes, and id, status, times, region, error, summary, pages and differences',
  RunExpectations: 'expectations, as a flow test takes them; see /docs',
  FlowTest: 'A recording with its settings, as in /docs: name, expectations, schedule, status, healing and more',
  RunDetail: 'As a run of list_runs, and its attempts, steps, findings, events and errors',
  EvidenceRun: 'The run that found it: its path, headline, steps, and the events that were sent',
  Alert: 'What create_alert takes, and id, orgId, createdAt and updatedAt',
  WeeklyReport: 'As in /docs: week, from, to, scores, issues, value, volume, worst, changes, signals',
}

/** The same for what tools that write answer: a tool that reads describes it. */
const READ_ELSEWHERE: Readonly<Record<string, string>> = {
  ...DESCRIBED_ELSEWHERE,
  IssueDetail: 'What get_issue answers',
  Change: 'One of what list_changes answers',
  Delivery: 'One of what list_deliveries answers',
}

/** The same for what is taken inside of something. */
const TAKEN_ELSEWHERE: Readonly<Record<string, string>> = { AlertInput: 'What create_alert takes' }

/**
 * Returns a function that inlines all references, because validators refuse duplicate names and assistants handle
 * references badly. Examples are left out, and a named schema is described only where it first occurs, because every
 * conversation pays for the length. `described`: names of schemas that are described already. `elsewhere`: names of
 * schemas that are not described here at all, with what is said instead.
 */
function inliner(
  described: Set<string>,
  elsewhere: Readonly<Record<string, string>> = {},
): (schema: TSchema) => JsonSchema {
  const shortOf = ({ $id = '' }: TSchema) => {
    const description = elsewhere[$id]
    return description === undefined ? null : { type: 'object', description }
  }
  const terse = ({ examples: _, description: __, ...schema }: TSchema): JsonSchema =>
    shortOf(schema as TSchema) ?? plain(schema as TSchema, terse)
  const inlined = ({ examples: _, ...schema }: TSchema): JsonSchema => {
    const { $id: name } = schema
    const short = shortOf(schema as TSchema)
    if (short) return short
    if (name !== undefined && described.has(name)) return terse(schema as TSchema)
    if (name !== undefined) described.add(name)
    return plain(schema as TSchema, inlined)
  }
  return inlined
}

function isObject({ type, anyOf, allOf }: TSchema): boolean {
  return type === 'object' || (anyOf ?? allOf)?.every(isObject) === true
}

function bug(route: Route, why: string): Error {
  return new Error(`${route.id} can't be a tool: ${why}`)
}

/** `listAlerts` → `list_alerts`. */
export function toolName(id: string): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Returns the part of a call that each argument belongs to, and the schema of all arguments. */
function inputOf(route: Route) {
  const inlined = inliner(new Set(), TAKEN_ELSEWHERE)
  const { params, query, body, access } = route
  const options = PERMISSIONS[access].writes ? Closed(OPTIONS) : null
  const parts: Record<Place, TSchema | null> = { params, query, body, options }
  const places = new Map<string, Place>()
  const properties: Record<string, object> = {}
  const required: string[] = []
  for (const place of PLACES) {
    const schema = parts[place]
    if (!schema) continue
    // The body itself is what is described.
    const { $id: _, ...own } = schema
    const fields: Partial<Fields> = inlined(own as TSchema)
    if (!fields.properties) throw bug(route, `its ${place} is not an object with named fields`)
    for (const [name, field] of Object.entries(fields.properties)) {
      if (places.has(name)) throw bug(route, `${name} is in its ${places.get(name)} and in its ${place}`)
      places.set(name, place)
      properties[name] = field
    }
    required.push(...(fields.required ?? []))
  }
  return { places, schema: { type: 'object' as const, properties, required, additionalProperties: false } }
}

/** Splits arguments by part. Fails with `invalid`, naming unknown arguments and the known ones. */
function split(args: Record<string, unknown>, places: ReadonlyMap<string, Place>) {
  const parts: Record<Place, Record<string, unknown>> = { params: {}, query: {}, body: {}, options: {} }
  const unknown: string[] = []
  for (const [name, value] of Object.entries(args)) {
    const place = places.get(name)
    if (place) parts[place][name] = value
    else unknown.push(name.slice(0, 100))
  }
  if (unknown.length > 0) {
    const names = unknown.slice(0, 10).join(', ')
    const known = [...places.keys()].join(', ')
    throw new AppError('invalid', `${names}: unknown; ${known ? `known are ${known}` : 'this tool takes no arguments'}`)
  }
  return parts
}

function entryOf(route: Route, inputSchema: ToolEntry['inputSchema']): ToolEntry {
  const { id, method, access, summary, description, answer } = route
  const elsewhere = PERMISSIONS[access].writes ? READ_ELSEWHERE : DESCRIBED_ELSEWHERE
  return {
    name: toolName(id),
    title: summary,
    description: [summary, ...(description === undefined ? [] : [description])].join('. '),
    inputSchema,
    outputSchema: { ...inliner(new Set(WRITTEN), elsewhere)(answer), type: 'object' },
    annotations: {
      readOnlyHint: !PERMISSIONS[access].writes,
      destructiveHint: method === 'DELETE',
      idempotentHint: method === 'PUT' || method === 'DELETE',
      openWorldHint: false,
    },
  }
}

const mapped = (fields: Record<string, unknown>, of: (value: unknown, name: string) => unknown) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, of(value, name)]))

/** Makes the tool of a route. Throws a plain `Error` for a route that can't be a tool, whatever the call. */
export function toolOf(route: Route): Tool {
  const { answer, params, query: fields, access, asynchronous, produces } = route
  if (produces || !isObject(answer)) throw bug(route, 'its answer is not an object')
  if (PERMISSIONS[access].writes && asynchronous) throw bug(route, "it can't be tried without effect")
  const { places, schema } = inputOf(route)
  const check = parser(Closed({ ...params?.properties, ...fields?.properties, ...OPTIONS }))
  return {
    route,
    entry: entryOf(route, schema),
    read(args) {
      const { params, query: asked, body, options } = split(args, places)
      const query = mapped(asked, (value, name) => listed(fields?.properties[name], value))
      check({ ...params, ...query, ...options })
      return { params, query, body: route.body ? body : undefined, dryRun: options.dryRun === true }
    },
  }
}
