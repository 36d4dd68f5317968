import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Instant } from '../core/clock.ts'
import { EVENT_STATUSES, type StoredEvent } from '../core/event.ts'
import { Closed, describeError, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { IMPLAUSIBLE_TIME, isPlausible, toTimestamp } from '../core/timestamp.ts'
import { cleanText, flattenParams, objectOf } from '../decoders/params.ts'
import { normalizeHostname } from '../domains/domain.ts'
import type { ImportDomain } from '../domains/domain-directory.ts'
import { MAX_URL_LENGTH } from './batch.ts'
import { hashCustomer } from './customer-hash.ts'
import { importedSegments, type StoredSegments, segmentFields } from './import-segments.ts'

export const MAX_WEIGHT = 1_000_000
/** Minimum and maximum lengths of strings in UTF-16 units. */
export const TEXT_LENGTHS = {
  id: [1, 100],
  vendor: [1, 200],
  event: [0, 200],
  account: [0, 200],
  path: [0, MAX_URL_LENGTH],
  title: [0, 4000],
  sessionId: [1, 200],
  customerId: [1, 500],
} as const
export const KINDS = ['event', 'hit', 'tag', 'library'] as const
export const ENVIRONMENTS = ['prod', 'dev'] as const
/** Fields that the server assigns. They are ignored in imported files. */
export const SYSTEM_FIELDS = ['orgId', 'seq', 'violations'] as const

function text(name: keyof typeof TEXT_LENGTHS) {
  const [min, max] = TEXT_LENGTHS[name]
  return Text(min, max)
}

const ignored = Type.Optional(Type.Unknown())
const duration = Type.Optional(Type.Number({ minimum: 0 }))

/** A past event as a line of JSON, without null values. */
const LineSchema = Closed({
  receivedAt: Type.Number({ minimum: 0 }),
  vendor: text('vendor'),
  domainId: Type.Optional(Type.String()),
  id: Type.Optional(text('id')),
  ts: Type.Optional(Type.Number({ minimum: 0 })),
  env: Type.Optional(OneOf(ENVIRONMENTS)),
  event: Type.Optional(text('event')),
  account: Type.Optional(text('account')),
  kind: Type.Optional(OneOf(KINDS)),
  host: Type.Optional(Type.String()),
  path: Type.Optional(text('path')),
  title: Type.Optional(text('title')),
  sessionId: Type.Optional(text('sessionId')),
  customerId: Type.Optional(text('customerId')),
  status: Type.Optional(OneOf(EVENT_STATUSES)),
  execMs: duration,
  durMs: duration,
  bytes: duration,
  version: Type.Optional(Type.Number()),
  ...segmentFields,
  weight: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: MAX_WEIGHT })),
  params: Type.Optional(Type.Object({})),
  orgId: ignored,
  seq: ignored,
  violations: ignored,
})
type Line = Static<typeof LineSchema>

const check = TypeCompiler.Compile(LineSchema)

/** Rules that determine which imported events are accepted. */
export interface ImportRules {
  /** Domains of all organizations, by id. */
  domains: ReadonlyMap<string, ImportDomain>
  /** Domain for all events, overriding the domains in the file; null if each event specifies its domain. */
  domainId: string | null
  /** Only events with `from <= receivedAt <= to` are accepted. */
  from: Instant
  to: Instant
}

/** An imported event without its sequence number. */
export interface ImportedEvent extends Omit<StoredEvent, 'seq' | 'id' | 'violations' | 'segments'>, StoredSegments {
  /** Line or row number in the file, starting at 1. */
  row: number
  /** Null if the server assigns the id. */
  id: string | null
}

/** Result of parsing a line. */
export type ReadLine =
  | { event: ImportedEvent; changes: readonly string[]; error: null }
  | { event: null; error: string }

const refused = (error: string): ReadLine => ({ event: null, error })

/**
 * Parses one line of a file: validates it, fills in defaults, and cleans strings and parameters in the same way as the
 * collector. `changes` lists the values that were shortened, and contains `IMPLAUSIBLE_TIME` if `ts` was replaced.
 */
export function readLine(value: unknown, row: number, rules: ImportRules): ReadLine {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refused('is not a JSON object')
  const given = withoutNulls(value)
  const line = check.Check(given) ? given : asExported(given)
  if (!check.Check(line)) {
    const first = check.Errors(line).First()
    return refused(first ? describeError(first) : 'does not match its schema')
  }
  const receivedAt = Math.round(toTimestamp(line.receivedAt))
  if (receivedAt > rules.to) return refused('receivedAt: is in the future')
  if (receivedAt < rules.from) return refused('receivedAt: is older than the retention period')
  const domainId = rules.domainId ?? line.domainId
  if (domainId === undefined) return refused('domainId: is missing')
  const domain = rules.domains.get(domainId)
  if (!domain) return refused('domainId: no such domain')
  const host = line.host ? normalizeHostname(line.host) : null
  if (line.host && host === null) return refused('host: is not a valid hostname')
  if (host !== null && domain.denied.has(host)) return refused('host: is denied')
  const { params, cut } = flattenParams(objectOf(line.params), line.account)
  const at = line.ts === undefined ? receivedAt : Math.round(toTimestamp(line.ts))
  const isTime = isPlausible(at, receivedAt)
  const ts = isTime ? Math.min(at, receivedAt) : receivedAt
  const event = { ...fieldsOf(line), row, ts, receivedAt, ...idsOf(line, domain), host, params }
  return { event, changes: isTime ? cut : [...cut, IMPLAUSIBLE_TIME], error: null }
}

function withoutNulls(value: object): Record<string, unknown> {
  const given = value as Record<string, unknown>
  // Most lines contain no null, and copying a line costs as much as validating it.
  for (const name in given) if (given[name] === null) return copyWithoutNulls(given)
  return given
}

function copyWithoutNulls(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, cell]) => cell !== null))
}

const clean = (text: string | undefined): string | null => (text === undefined ? null : cleanText(text))

function idsOf(line: Line, { id, orgId, customerSalt }: ImportDomain) {
  const customerId = line.customerId === undefined ? null : hashCustomer(customerSalt, line.customerId)
  return { domainId: id, orgId, customerId }
}

const NUMBERS = ['receivedAt', 'ts', 'execMs', 'durMs', 'bytes', 'version', 'weight']
const SEGMENT_TEXTS = ['browser', 'browserVersion', 'os', 'device', 'language', 'country', 'consent', 'visitor']
const OPTIONAL_TEXTS = ['id', 'sessionId', 'customerId', 'domainId', 'env', 'kind', 'status', ...SEGMENT_TEXTS]

/**
 * Converts a line from BigQuery's JSON export (https://cloud.google.com/bigquery/docs/exporting-data). INT64 values,
 * which are exported as strings, become numbers, and empty strings are removed. Parameters may be JSON text, or the
 * list of keys and values in Google Analytics' export (https://support.google.com/analytics/answer/7029846). All other
 * values are left unchanged.
 */
function asExported(line: Record<string, unknown>): Record<string, unknown> {
  const read = { ...line }
  for (const name of NUMBERS) {
    const text = read[name]
    if (typeof text === 'string' && /^-?\d+(?:\.\d+)?$/.test(text)) read[name] = Number(text)
  }
  for (const name of [...NUMBERS, ...OPTIONAL_TEXTS]) if (read[name] === '') delete read[name]
  read.params = exportedParams(line.params)
  if (read.params === undefined) delete read.params
  return read
}

function exportedParams(params: unknown): unknown {
  if (params === '') return undefined
  if (typeof params === 'string') return parsed(params)
  if (!Array.isArray(params) || !params.every(isKeyed)) return params
  return Object.fromEntries(params.map(({ key, value }) => [key, typedValue(value)]))
}

const isKeyed = (item: unknown): item is { key: string; value: unknown } =>
  typeof item === 'object' && item !== null && 'key' in item && typeof item.key === 'string' && 'value' in item

/**
 * Returns the value that is set in `{string_value, int_value, float_value, double_value}`; any other value is returned
 * unchanged.
 */
function typedValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const typed = Object.entries(value).filter(([name]) => /^(?:string|int|float|double|bool(?:ean)?)_value$/.test(name))
  return typed.length === 0 ? value : (typed.find(([, one]) => one !== null && one !== undefined)?.[1] ?? null)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function fieldsOf(line: Line) {
  // The path may be a full URL. Query strings of pages are not stored.
  const path = line.path?.replace(/[?#].*$/s, '')
  return {
    id: clean(line.id),
    env: line.env ?? ('prod' as const),
    vendor: cleanText(line.vendor),
    event: cleanText(line.event ?? ''),
    account: clean(line.account),
    kind: line.kind ?? ('event' as const),
    path: path ? cleanText(path) : null,
    title: clean(line.title),
    sessionId: clean(line.sessionId),
    status: line.status ?? null,
    execMs: line.execMs ?? null,
    durMs: line.durMs ?? null,
    bytes: line.bytes ?? null,
    version: line.version ?? null,
    ...importedSegments(line),
    weight: line.weight ?? 1,
  }
}
