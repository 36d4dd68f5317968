import type { History } from '../warehouse/warehouse.ts'
import {
  changeSides,
  consentQuery,
  earlierPeriodsQuery,
  keyNamesQuery,
  keysQuery,
  type ReadOptions,
  type SidedEvents,
  sessionsQuery,
  versionsQuery,
  volumesQuery,
} from './change-queries.ts'
import { type ChangeWindow, isLikeDay } from './change-window.ts'
import type { ConsentRow, EarlierPeriodRow, KeyRow, SessionRow, Side, Tables, VolumeRow } from './comparison-tables.ts'
import type { ShareCase } from './share-cases.ts'

/** Approximate number of events to read. More events would not make the result any more certain. */
export const MOST_EVENTS = 120_000
const MOST_KEYS = 600
/**
 * Minimum number of events with a name for the keys of these events to be read. Rarer events can't be compared, and the
 * number of rare names is unlimited.
 */
const MIN_EVENTS = 5
/** Maximum number of suspicious names and keys for which the history is read. */
const MOST_SUSPICIOUS = 60
const MOST_NEW_VERSIONS = 20
/**
 * Minimum share and number of events after the change for each version. Versions count as concurrent when both reach
 * these minimums.
 */
const SHARE_OF_BOTH = 0.05
const EVENTS_OF_BOTH = 50
/** A version is new when at most this share of its events was received before the change. */
const SHARE_BEFORE = 0.01

const CONSENT_KEYS = ['consent.ad_storage', 'consent.analytics_storage']

/** The data needed for one evaluation. */
export interface ChangeData {
  tables: Tables
  /** Rounded, weighted number of events before and after the change. */
  compared: { before: number; after: number }
  /** Returns rows from earlier periods for suspicious names and keys. */
  past(suspicious: readonly ShareCase[]): Promise<EarlierPeriodRow[]>
}

interface VersionRow {
  version: number | null
  side: 'before' | 'after'
  events: number
  weight: number
}

/** Reads the data to compare: up to several hundred thousand events, and counts from earlier days. */
export async function readChangeData(
  window: ChangeWindow,
  { version, youngAlerts }: { version: number | null; youngAlerts: readonly string[] },
  history: History,
): Promise<ChangeData> {
  const versions = await history.query<VersionRow>(versionsQuery(window))
  const total = versions.reduce((sum, { events }) => sum + events, 0)
  const oneIn = Math.max(1, Math.ceil(total / MOST_EVENTS))
  const reading: ReadOptions = { ...window, oneIn, newVersions: newVersionsOf(versions, version), youngAlerts }
  const sides = changeSides(reading)
  const weightOf = (side: Side) =>
    Math.round(versions.reduce((sum, row) => sum + (row.side === side ? row.weight : 0), 0))
  const compared = { before: weightOf('before'), after: weightOf('after') }
  const sessions = await history.query<SessionRow>(sessionsQuery(sides))
  const isBoth = compared.before > 0 && compared.after > 0
  const names = isBoth ? await keyNames(sides, history) : []
  const scope = { keys: names, events: frequentNames(sessions) }
  const keys = names.length * scope.events.length > 0 ? await history.query<KeyRow>(keysQuery(sides, scope)) : []
  const consent = await readConsent(sides, names, history)
  const earlier = await history.query<VolumeRow>(volumesQuery(window))
  const tables = {
    volumes: [...today(sessions, oneIn), ...earlier],
    sessions,
    keys,
    consent,
    isLikeDay: isLikeDay(window),
  }
  return { tables, compared, past: (suspicious) => readPast(reading, suspicious, history) }
}

/** Returns the new versions when old and new versions run concurrently; otherwise an empty list. */
function newVersionsOf(rows: readonly VersionRow[], named: number | null): number[] {
  const events = (of: (row: VersionRow) => boolean) => rows.reduce((sum, row) => sum + (of(row) ? row.events : 0), 0)
  const after = [
    ...new Set(rows.flatMap(({ version, side }) => (version !== null && side === 'after' ? [version] : []))),
  ]
  const isNew = (version: number) =>
    named === null
      ? events((row) => row.version === version && row.side === 'before') <=
        SHARE_BEFORE * events((row) => row.version === version)
      : version === named
  const fresh = after.filter(isNew)
  const ofNew = events((row) => row.side === 'after' && row.version !== null && fresh.includes(row.version))
  const ofOld = events((row) => row.side === 'after' && row.version !== null && !fresh.includes(row.version))
  const enough = Math.max(EVENTS_OF_BOTH, SHARE_OF_BOTH * (ofNew + ofOld))
  return Math.min(ofNew, ofOld) >= enough && fresh.length <= MOST_NEW_VERSIONS ? fresh : []
}

/**
 * Returns the counts for the day of the change. They are computed from sessions, which are accurate to the millisecond.
 */
function today(sessions: readonly SessionRow[], oneIn: number): VolumeRow[] {
  return sessions.map(({ vendor, event, side, events, weight }) => ({
    vendor,
    event,
    lag: 0,
    events,
    side: side === 'before' ? side : 'after',
    weight: weight * oneIn,
  }))
}

/** Returns the names of events that are frequent enough for their keys to be compared. */
export function frequentNames(sessions: readonly SessionRow[]): string[] {
  const totals = new Map<string, number>()
  for (const { event, events } of sessions) totals.set(event, (totals.get(event) ?? 0) + events)
  return [...totals].flatMap(([event, events]) => (events >= MIN_EVENTS ? [event] : []))
}

/** Returns the names of the parameters to compare. */
export async function keyNames(sides: SidedEvents, history: History): Promise<string[]> {
  const rows = await history.query<{ name: string }>(keyNamesQuery(sides))
  const names = rows.map(({ name }) => name).sort()
  // Above the limit, the shortest names are used, because made-up names are usually long.
  return names.length <= MOST_KEYS ? names : names.toSorted((a, b) => a.length - b.length).slice(0, MOST_KEYS)
}

type Sums = Record<`${'w' | 'n' | 'b'}${number}`, number>

const sumsAt = (row: Sums, place: number) => ({
  weight: row[`w${place}`] ?? 0,
  numbers: row[`n${place}`] ?? 0,
  booleans: row[`b${place}`] ?? 0,
})

/** Reads consent by vendor, for the consent parameters among `names`. */
export async function readConsent(
  sides: SidedEvents,
  names: readonly string[],
  history: History,
): Promise<ConsentRow[]> {
  const found: ConsentRow[] = []
  for (const key of CONSENT_KEYS) {
    if (!names.includes(key)) continue
    const rows = await history.query<Omit<ConsentRow, 'key'>>(consentQuery(sides, key))
    found.push(...rows.map((row) => ({ ...row, key })))
  }
  return found
}

async function readPast(
  reading: ReadOptions,
  suspicious: readonly ShareCase[],
  history: History,
): Promise<EarlierPeriodRow[]> {
  const asked = suspicious.slice(0, MOST_SUSPICIOUS).filter(({ kind }) => kind !== 'consent_fell')
  if (asked.length === 0) return []
  const all = <K extends 'vendor' | 'event'>(field: K) => [...new Set(asked.map((one) => one[field]))]
  const keys = [...new Set(asked.flatMap(({ key }) => (key === null ? [] : [key])))]
  const scope = { vendors: all('vendor'), events: all('event'), keys }
  const rows = await history.query<Sums & Omit<EarlierPeriodRow, 'keys'>>(earlierPeriodsQuery(reading, scope))
  return rows.map((row) => ({
    ...row,
    keys: Object.fromEntries(keys.map((key, place) => [key, sumsAt(row, place)])),
  }))
}

/** Returns the version number in the ref of a change; null when the ref is not a number. */
export function versionIn(ref: string): number | null {
  const version = Number(ref)
  return ref.trim() !== '' && Number.isFinite(version) ? version : null
}
