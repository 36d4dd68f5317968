import type { Tool as ToolEntry } from '@modelcontextprotocol/sdk/types.js'
import { Kind } from '@sinclair/typebox'
import { AppError, checkAll } from '../core/error.ts'
import { Closed, InstantSchema, isInstant, parser, type TSchema, Type } from '../core/schema.ts'
import { PERMISSIONS } from '../http/permission.ts'
import { listed } from '../http/query-string.ts'
import type { Call, Route } from '../http/route.ts'
import { type JsonSchema, plain } from '../openapi/json-schema.ts'

/** A route offered to assistants as a tool. */
export interface Tool {
  route: Route
  /** The tool's entry in `tools/list`. */
  entry: ToolEntry
  /**
   * Splits the arguments, a flat object, into the parts of a call. A list in the query may be a single string, as in a
   * URL, and an instant may be an ISO 8601 string. Throws `invalid` with all invalid arguments in `faults`, except for
   * a body that its handler checks.
   */
  read(args: Record<string, unknown>): CallParts
}

interface CallParts extends Pick<Call, 'params' | 'query' | 'body'> {
  dryRun: boolean
  /** Cursor for the next page of a response from a route without paging; undefined for the first page. */
  cursor: string | undefined
}

const PLACES = ['params', 'query', 'body', 'options'] as const
type Place = (typeof PLACES)[number]

/**
 * Arguments of tools in addition to the route's fields: the options of tools that write, and of tools that return
 * pages.
 */
const WRITE_OPTIONS = {
  dryRun: Type.Optional(
    Type.Boolean({ default: false, description: 'Describe what would happen without changing anything' }),
  ),
}
const PAGE_OPTIONS = {
  cursor: Type.Optional(Type.String({ maxLength: 500, description: 'nextCursor of a long response' })),
}

/** True when the route itself supports paging. */
export const knowsPages = ({ query }: Route): boolean => query?.properties.cursor !== undefined

/** Lists with at most this many items are never split. */
const SHORT_LIST = 10

/** True when values of the schema can contain a list that is long enough to be split. */
const hasLists = ({
  type,
  maxItems = Number.POSITIVE_INFINITY,
  properties = {},
  patternProperties = {},
  anyOf = [],
}: TSchema): boolean =>
  (type === 'array' && maxItems > SHORT_LIST) ||
  [...Object.values({ ...properties, ...patternProperties }), ...anyOf].some(hasLists)

/** True when the tool splits long responses into pages, because its route does not. */
export const makesPages = (route: Route): boolean =>
  !PERMISSIONS[route.access].writes && !knowsPages(route) && route.answer.type === 'object' && hasLists(route.answer)

function optionsOf(route: Route) {
  if (PERMISSIONS[route.access].writes) return WRITE_OPTIONS
  return makesPages(route) ? PAGE_OPTIONS : {}
}

/** The JSON Schema keywords that describe an object's fields. */
interface Fields {
  properties: Record<string, object>
  required?: string[]
}

/** Schemas that are described in full by the tools that write these objects. Response schemas refer to them by name. */
const WRITTEN = ['Channel', 'Condition', 'JourneySpec']
/** Schemas that are too long to repeat in response schemas, with the text that replaces each of them. */
const DESCRIBED_ELSEWHERE: Readonly<Record<string, string>> = {
  AlertInput: 'The input of create_alert',
  Audit: 'The input of create_audit, plus id, status, times, region, error and summary',
  AuditDetail: 'The input of create_audit, plus id, status, times, region, error, summary, pages and differences',
  RunExpectations: 'Expectations, as in a flow test; see /docs',
  FlowTest: 'A recording with its settings, as in /docs: name, expectations, schedule, status, healing and more',
  RunDetail: 'As a run in list_runs, plus its attempts, steps, findings, events and errors',
  EvidenceRun: 'The run that found it: its path, headline, steps, and the events that were sent',
  Alert: 'The input of create_alert, plus id, orgId, createdAt and updatedAt',
  ManagedBy: 'Key and name of the configuration file that manages the item',
  WeeklyReport: 'As in /docs: week, from, to, scores, issues, value, volume, worst, changes, signals',
}

/** The same for the output of tools that write. The tools that read describe these schemas in full. */
const READ_ELSEWHERE: Readonly<Record<string, string>> = {
  ...DESCRIBED_ELSEWHERE,
  IssueDetail: 'The response of get_issue',
  Change: 'An item from list_changes',
  Delivery: 'An item from list_deliveries',
}

/** The same for schemas nested in the arguments of other tools. */
const TAKEN_ELSEWHERE: Readonly<Record<string, string>> = { AlertInput: 'The input of create_alert' }

/**
 * Returns a function that inlines all references, because validators reject duplicate names and assistants handle
 * references poorly. To save context in every conversation, it omits examples and describes a named schema only at its
 * first occurrence. `described` contains the names of schemas that are already described. `elsewhere` maps the names of
 * schemas described by another tool to a replacement text.
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
    if (isInstant(schema as TSchema)) return instantOrText(schema as TSchema)
    const { $id: name } = schema
    const short = shortOf(schema as TSchema)
    if (short) return short
    // The instructions say how times are given.
    if (schema.description === InstantSchema.description) return terse(schema as TSchema)
    if (name !== undefined && described.has(name)) return terse(schema as TSchema)
    if (name !== undefined) described.add(name)
    return plain(schema as TSchema, inlined)
  }
  return inlined
}

/** A date, optionally with a time of day. Times without a time zone are UTC. */
const ISO_TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i

/** Returns the instant of an ISO 8601 string; null for other strings and for dates that do not exist. */
function instantOfIso(text: string): number | null {
  const [matched, zone] = ISO_TIME.exec(text) ?? []
  if (matched === undefined) return null
  const day = text.slice(0, 10)
  const at = Date.parse(text.length > day.length && !zone ? `${text}Z` : text)
  // `Date` interprets February 30 as a day in March.
  return !Number.isNaN(at) && new Date(Date.parse(day)).toISOString().startsWith(day) ? at : null
}

/** Replaces the ISO 8601 strings in arguments with instants, and records the invalid ones. */
class IsoTimes {
  private readonly faults: string[] = []

  /**
   * Returns the value with instants in milliseconds. Strings that are not times remain, so that `refuse` rejects them.
   */
  read(schema: TSchema | undefined, value: unknown, path: string): unknown {
    if (!schema || !holdsInstant(schema)) return value
    if (isInstant(schema)) return typeof value === 'string' ? this.instantOf(value, path) : value
    const alternative = (schema.anyOf as TSchema[] | undefined)?.find(holdsInstant)
    if (alternative) return this.read(alternative, value, path)
    if (Array.isArray(value)) return value.map((item, index) => this.read(schema.items, item, `${path}[${index}]`))
    if (typeof value !== 'object' || value === null) return value
    return mapped(value as Record<string, unknown>, (item, name) =>
      this.read(schema.properties?.[name], item, `${path}.${name}`),
    )
  }

  refuse(): void {
    checkAll(
      this.faults.map((fault) => () => {
        throw new AppError('invalid', fault)
      }),
    )
  }

  private instantOf(text: string, path: string): unknown {
    const at = instantOfIso(text)
    if (at !== null) return at
    this.faults.push(
      `${path}: must be an ISO 8601 time such as 2026-01-05T12:00:00Z, or milliseconds since the Unix epoch`,
    )
    return text
  }
}

const instantHolders = new WeakMap<TSchema, boolean>()

/** True when the schema describes an instant or values that can contain one. */
function holdsInstant(schema: TSchema): boolean {
  const known = instantHolders.get(schema)
  if (known !== undefined) return known
  const { anyOf = [], items, properties = {} } = schema
  const parts: TSchema[] = [...anyOf, ...(items ? [items] : []), ...Object.values(properties as object)]
  const holds = isInstant(schema) || parts.some(holdsInstant)
  instantHolders.set(schema, holds)
  return holds
}

/** Returns the schema of an instant in arguments: a number or an ISO 8601 string. */
function instantOrText({ description, ...schema }: TSchema): JsonSchema {
  const number = plain(schema as TSchema, (inner) => plain(inner, () => ({})))
  return { description, anyOf: [number, { type: 'string', format: 'date-time' }] }
}

function isObject({ type, anyOf, allOf }: TSchema): boolean {
  return type === 'object' || (anyOf ?? allOf)?.every(isObject) === true
}

function bug(route: Route, why: string): Error {
  return new Error(`${route.id} can't be a tool: ${why}`)
}

/** Converts `listAlerts` to `list_alerts`. */
export function toolName(id: string): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Returns the schema of all arguments, and the part of the call to which each argument belongs. */
function inputOf(route: Route) {
  const inlined = inliner(new Set(), TAKEN_ELSEWHERE)
  const { params, query, body } = route
  const parts: Record<Place, TSchema | null> = { params, query, body, options: Closed(optionsOf(route)) }
  const places = new Map<string, Place>()
  const properties: Record<string, object> = {}
  const required: string[] = []
  for (const place of PLACES) {
    const schema = parts[place]
    if (!schema) continue
    // The name is omitted, because the schema itself is described here.
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

/** Splits arguments by part of the call. Also returns the names of unknown arguments. */
function split(args: Record<string, unknown>, places: ReadonlyMap<string, Place>) {
  const parts: Record<Place, Record<string, unknown>> = { params: {}, query: {}, body: {}, options: {} }
  const unknown: string[] = []
  for (const [name, value] of Object.entries(args)) {
    const place = places.get(name)
    if (place) parts[place][name] = value
    else unknown.push(name)
  }
  return { parts, unknown }
}

function refuseUnknown(unknown: readonly string[], places: ReadonlyMap<string, Place>): void {
  if (unknown.length === 0) return
  const names = unknown
    .slice(0, 10)
    .map((name) => name.slice(0, 100))
    .join(', ')
  const known = [...places.keys()].join(', ')
  throw new AppError(
    'invalid',
    `${names}: unknown; ${known ? `known arguments: ${known}` : 'this tool takes no arguments'}`,
  )
}

/** Field that is added to long responses from routes without paging. */
const NEXT_CURSOR = { anyOf: [{ type: 'string' }, { type: 'null' }] }

const DRY_RUN_NOTE = 'A dry run also returns its backtest'

function entryOf(route: Route, inputSchema: ToolEntry['inputSchema']): ToolEntry {
  const { id, method, access, summary, description, answer, dryRunShows } = route
  const elsewhere = PERMISSIONS[access].writes ? READ_ELSEWHERE : DESCRIBED_ELSEWHERE
  const described = { ...inliner(new Set(WRITTEN), elsewhere)(answer), type: 'object' as const }
  const { properties } = described as Partial<Fields>
  const paged = properties && makesPages(route)
  const texts = [summary, description, dryRunShows && DRY_RUN_NOTE]
  return {
    name: toolName(id),
    title: summary,
    description: texts.filter((text) => text !== undefined).join('. '),
    inputSchema,
    outputSchema: paged ? { ...described, properties: { ...properties, nextCursor: NEXT_CURSOR } } : described,
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

/** Creates the tool for a route. Throws a plain `Error` for routes that can't be tools. */
export function toolOf(route: Route): Tool {
  const { answer, params, query: fields, access, asynchronous, produces } = route
  if (produces || !isObject(answer)) throw bug(route, 'its response is not an object')
  if (PERMISSIONS[access].writes && asynchronous) throw bug(route, 'it does not support dry runs')
  const { places, schema } = inputOf(route)
  const check = parser(Closed({ ...params?.properties, ...fields?.properties, ...optionsOf(route) }))
  const checkBody = route.body && !route.unparsed ? parser(route.body) : null
  // A body handler reports all errors at once, so it also receives the unknown fields.
  const handlerReads = route.body?.[Kind] === 'ReadByHandler'
  return {
    route,
    entry: entryOf(route, schema),
    read(args) {
      const { parts, unknown } = split(args, places)
      const { params, options } = parts
      const times = new IsoTimes()
      const query = mapped(parts.query, (value, name) => {
        const field = fields?.properties[name]
        return times.read(field, listed(field, value), name)
      })
      const own = mapped(parts.body, (value, name) => times.read(route.body?.properties?.[name], value, name))
      const body = handlerReads ? { ...Object.fromEntries(unknown.map((name) => [name, args[name]])), ...own } : own
      checkAll([
        () => times.refuse(),
        () => refuseUnknown(handlerReads ? [] : unknown, places),
        () => check({ ...params, ...query, ...options }),
        () => checkBody?.(body),
      ])
      const cursor = options.cursor as string | undefined
      return { params, query, body: route.body ? body : undefined, dryRun: options.dryRun === true, cursor }
    },
  }
}
