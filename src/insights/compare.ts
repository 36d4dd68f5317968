import { alertsChangedSince } from '../alerts/alert-store.ts'
import { keysQuery, sessionsQuery } from '../changes/change-queries.ts'
import type { KeyRow, SessionRow } from '../changes/comparison-tables.ts'
import { frequentNames, keyNames, MOST_EVENTS, readConsent } from '../changes/read-change-data.ts'
import { RHO_ALONE, RHO_LEAST } from '../changes/suspected-share-effects.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, Nullable, OneOf, Type } from '../core/schema.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import {
  frequentValuesQuery,
  type HostRow,
  hostsQuery,
  type SideRow,
  sidesQuery,
  type ValueRow,
} from './compare-queries.ts'
import { type Comparison, ComparisonQuery, requestedComparison, sidesOf } from './compare-sides.ts'
import { insight, type Sources } from './insight.ts'
import { type Mask, maskFor } from './response-mask.ts'
import { type ComparedTables, DIFFERENCE_KINDS, differencesOf, type TestedDifference } from './side-differences.ts'

const MAX_ROWS = 500
/** Approximate number of events whose values are read. Values take far longer to read than names of parameters. */
const MAX_VALUE_EVENTS = 60_000
/** Minimum part of the shorter side's time in which both sides were active for them to be concurrent. */
const CONCURRENT_SHARE = 0.5

const SideSchema = Closed({
  events: Int({ description: 'Weighted number of events' }),
  sessions: Int({ description: 'Events without a session or customer count as one session each' }),
})

const percentage = (description: string) => Type.Number({ description })
const perSession = (side: string) =>
  Nullable(Type.Number({ description: `For \`event\`: weighted number of events per session of side ${side}` }))

const RowSchema = Closed({
  kind: OneOf(DIFFERENCE_KINDS, {
    description:
      'What is compared. `event`: sessions with the event; `key`: events that have the parameter; `value`: events with this value, ' +
      'among those with the parameter; `consent`: sessions that granted consent, among those that state it; `violation`: events that ' +
      'violated a rule when they were received; `host`: sessions with events on this host',
  }),
  vendor: Nullable(Type.String({ description: 'Null for `host`' })),
  event: Nullable(Type.String({ description: 'Null for `consent` and `host`' })),
  key: Nullable(Type.String({ description: 'Parameter; for `key`, `value` and `consent`' })),
  value: Nullable(Type.String({ description: 'Value of the parameter, `granted` for `consent`, or the host' })),
  aPct: percentage('Share on side A, 0 to 100'),
  bPct: percentage('Share on side B, 0 to 100'),
  differencePp: percentage('`bPct` minus `aPct`, in percentage points'),
  sure: Type.Boolean({
    description: 'True if the difference is significant. The probability that any row is sure by chance is at most 1 %',
  }),
  aPerSession: perSession('A'),
  bPerSession: perSession('B'),
})

const ComparisonSchema = Closed(
  {
    a: SideSchema,
    b: SideSchema,
    rows: Type.Array(RowSchema, { maxItems: MAX_ROWS, description: 'Significant differences first, surest first' }),
  },
  {
    $id: 'Comparison',
    examples: [
      {
        a: { events: 41_200, sessions: 9800 },
        b: { events: 39_800, sessions: 9500 },
        rows: [
          {
            kind: 'key',
            vendor: 'Google Analytics 4',
            event: 'purchase',
            key: 'ep.transaction_id',
            value: null,
            aPct: 100,
            bPct: 61.5,
            differencePp: -38.5,
            sure: true,
            aPerSession: null,
            bPerSession: null,
          },
        ],
      },
    ],
  },
)

/** Differences between two releases, periods, environments or domains. */
export const compare = insight({
  id: 'compareTraffic',
  summary: 'Compare two releases, periods, environments or domains, surest differences first',
  description:
    'Give one pair: `aFrom`, `aTo`, `bFrom` and `bTo`; `aVersion` and `bVersion`; `aEnv` and `bEnv`; or `aDomainId` and `bDomainId`. ' +
    'Only production events are compared, unless environments are. `/docs/use/compare` describes the calculation.',
  path: '/insights/compare',
  refusals: ['notFound', 'unavailable', 'invalid'],
  input: ComparisonQuery,
  output: ComparisonSchema,
  exports: 'rows',
  async answer(sources, input, { principal: { orgId }, now }) {
    const comparison = requestedComparison(input, now)
    requireDomains(sources, comparison)
    const { sizes, tables, rho } = await readTables(sources, orgId, comparison)
    const differences = await differencesOf(tables, rho)
    const sizeOf = (side: SideRow['side']) => {
      const { weight = 0, sessions = 0 } = sizes.find((row) => row.side === side) ?? {}
      return { events: Math.round(weight), sessions }
    }
    return { a: sizeOf('before'), b: sizeOf('after'), rows: differences.slice(0, MAX_ROWS).map(rowOf) }
  },
})

function requireDomains({ domains }: Sources, { pair, domainIds: [a, b] }: Comparison): void {
  const own = new Set(domains().map(({ id }) => id))
  const fields = pair === 'domains' ? { aDomainId: a, bDomainId: b } : { domainId: a }
  for (const [field, id = ''] of Object.entries(fields)) {
    if (!own.has(id)) throw new AppError('notFound', `query.${field}: no such domain`)
  }
}

/** Reads what is compared, with personal data masked. */
async function readTables(sources: Sources, orgId: string, comparison: Comparison) {
  const { db, history } = sources
  const all = sidesOf(comparison, orgId, { oneIn: 1, youngAlerts: [] })
  const sizes = await history.query<SideRow>(sidesQuery(all))
  const events = sizes.reduce((sum, row) => sum + row.events, 0)
  const isConcurrent = areConcurrent(sizes)
  const firstAt = Math.min(...sizes.map((row) => row.firstAt))
  const sides = sidesOf(comparison, orgId, {
    oneIn: Math.max(1, Math.ceil(events / MOST_EVENTS)),
    // A rule that is younger than one of the sides could not be violated there.
    youngAlerts: isConcurrent || sizes.length === 0 ? [] : alertsChangedSince(db, orgId, firstAt),
  })
  const sessions = await history.query<SessionRow>(sessionsQuery(sides))
  const scope = { keys: sizes.length === 2 ? await keyNames(all, history) : [], events: frequentNames(sessions) }
  const isAny = scope.keys.length > 0 && scope.events.length > 0
  const oneIn = Math.max(1, Math.ceil(events / MAX_VALUE_EVENTS))
  const tables: ComparedTables = {
    sessions,
    keys: isAny ? await history.query<KeyRow>(keysQuery(sides, scope)) : [],
    values: isAny ? await history.query<ValueRow>(frequentValuesQuery(all, { ...scope, oneIn })) : [],
    consent: await readConsent(sides, scope.keys, history),
    hosts: await history.query<HostRow>(hostsQuery(sides)),
  }
  return {
    sizes,
    tables: await maskedTables(tables, maskFor(sources)),
    // Shares of different times vary more than shares of different sessions at the same time.
    rho: isConcurrent ? RHO_LEAST : RHO_ALONE,
  }
}

function areConcurrent(sizes: readonly SideRow[]): boolean {
  const [one, other] = sizes
  if (!one || !other) return false
  const both = Math.min(one.lastAt, other.lastAt) - Math.max(one.firstAt, other.firstAt)
  return both > 0 && both >= CONCURRENT_SHARE * Math.min(one.lastAt - one.firstAt, other.lastAt - other.firstAt)
}

/** Names that are the same after masking are compared together. */
async function maskedTables(tables: ComparedTables, plainMask: Mask): Promise<ComparedTables> {
  const mask = remembered(plainMask)
  const yielder = new Yielder()
  async function each<T>(rows: readonly T[], masked: (row: T) => Partial<T>): Promise<T[]> {
    const shown: T[] = []
    for (const row of rows) {
      shown.push({ ...row, ...masked(row) })
      if (yielder.isDue) await yielder.yieldNow()
    }
    return shown
  }
  const vendorOf = ({ vendor }: { vendor: string }) => ({ vendor: mask(vendor, '$vendor') })
  const namesOf = (row: { vendor: string; event: string }) => ({ ...vendorOf(row), event: mask(row.event, '$event') })
  return {
    sessions: await each(tables.sessions, namesOf),
    keys: await each(tables.keys, (row) => ({ ...namesOf(row), key: mask(row.key) })),
    values: await each(tables.values, (row) => ({
      ...namesOf(row),
      key: mask(row.key),
      value: mask(row.value, row.key),
    })),
    consent: await each(tables.consent, vendorOf),
    hosts: await each(tables.hosts, ({ host }) => ({ host: mask(host, '$host') })),
  }
}

/** Returns the mask with its results remembered, because most names occur in many rows. */
function remembered(mask: Mask): Mask {
  const byKey = new Map<string, Map<string, string>>()
  return (text, key = '') => {
    const known = byKey.get(key) ?? new Map<string, string>()
    byKey.set(key, known)
    const shown = known.get(text) ?? mask(text, key)
    known.set(text, shown)
    return shown
  }
}

function rowOf({ kind, vendor, event, key, value, a, b, perSession, sure }: TestedDifference) {
  const [aPct, bPct] = [percentOf(a.share), percentOf(b.share)] as const
  return {
    kind,
    vendor,
    event,
    key,
    value,
    aPct,
    bPct,
    differencePp: rounded(bPct - aPct),
    sure,
    aPerSession: perSession && rounded(perSession.a),
    bPerSession: perSession && rounded(perSession.b),
  }
}

const rounded = (value: number) => Math.round(value * 100) / 100
const percentOf = (share: number) => rounded(share * 100)
