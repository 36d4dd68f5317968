import { type SidedEvents, sampleTests } from '../changes/change-queries.ts'
import { MAX_HOURS } from '../contract/limits.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantInput, Int, OneOf, type Static, Type } from '../core/schema.ts'
import type { Binder, Query } from '../warehouse/query.ts'
import { textField } from './query-params.ts'

const MAX_MS = MAX_HOURS.comparison * HOUR_MS
const DEFAULT_HOURS = 168

const instant = (description: string) => Type.Optional(InstantInput({ minimum: 0, description }))
const version = (side: string) => Type.Optional(Type.Number({ description: `Release of side ${side}` }))
const environment = (side: string) =>
  Type.Optional(OneOf(['prod', 'dev'], { description: `Environment of side ${side}` }))

/** Query of a comparison: one pair of fields, and for all pairs except periods a common period. */
export const ComparisonQuery = Closed({
  domainId: textField(100, 'The compared domain. Required, except with `aDomainId` and `bDomainId`'),
  aFrom: instant('Start of the period of side A, by time of receipt'),
  aTo: instant('End of the period of side A, exclusive'),
  bFrom: instant('Start of the period of side B'),
  bTo: instant('End of the period of side B, exclusive. The periods must not overlap; each is at most 31 days long'),
  aVersion: version('A'),
  bVersion: version('B'),
  aEnv: environment('A'),
  bEnv: environment('B'),
  aDomainId: textField(100, 'Domain of side A'),
  bDomainId: textField(100, 'Domain of side B'),
  from: instant('Start of the common period of versions, environments or domains; default: `hours` before `to`'),
  to: instant('End of the common period, exclusive; default: now'),
  hours: Type.Optional(
    Int({
      minimum: 1,
      maximum: MAX_HOURS.comparison,
      default: DEFAULT_HOURS,
      description: 'Length of the common period up to `to`. Cannot be combined with `from`',
    }),
  ),
})
export type ComparisonQuery = Static<typeof ComparisonQuery>

/** Fields of each pair, in order. */
const PAIRS = {
  periods: ['aFrom', 'aTo', 'bFrom', 'bTo'],
  versions: ['aVersion', 'bVersion'],
  environments: ['aEnv', 'bEnv'],
  domains: ['aDomainId', 'bDomainId'],
} as const satisfies Record<string, readonly (keyof ComparisonQuery)[]>
type ComparedPair = keyof typeof PAIRS

const COMMON = ['from', 'to', 'hours'] as const

/** A valid comparison. Each test is SQL on columns of `events`. */
export interface Comparison {
  pair: ComparedPair
  /** Domains of both sides. */
  domainIds: readonly string[]
  window: Query['window']
  a(binder: Binder): string
  b(binder: Binder): string
}

/**
 * Returns the requested comparison. Throws `invalid`, naming the field, if no pair or several are given, a pair is not
 * complete, or a period is empty, too long or overlaps the other one.
 */
export function requestedComparison(query: ComparisonQuery, now: Instant): Comparison {
  const pair = pairOf(query)
  const domainIds = pair === 'domains' ? [query.aDomainId, query.bDomainId] : [query.domainId]
  if (domainIds.some((id) => id === undefined)) throw invalid('domainId', 'is required')
  const named = domainIds as string[]
  if (pair === 'periods') return { pair, domainIds: named, ...periodsOf(query) }
  const test = (column: string, field: keyof ComparisonQuery) => (binder: Binder) =>
    `${column} = ${binder.bind(query[field] as string | number)}`
  const [column, a, b] = COLUMNS[pair]
  if (query[a] === query[b]) throw invalid(b, `must differ from ${a}`)
  return { pair, domainIds: named, window: commonPeriod(query, now), a: test(column, a), b: test(column, b) }
}

const COLUMNS = {
  versions: ['version', 'aVersion', 'bVersion'],
  environments: ['env', 'aEnv', 'bEnv'],
  domains: ['domainId', 'aDomainId', 'bDomainId'],
} as const

const invalid = (field: string, text: string) => new AppError('invalid', `query.${field}: ${text}`)

function pairOf(query: ComparisonQuery): ComparedPair {
  const given = (fields: readonly (keyof ComparisonQuery)[]) => fields.filter((field) => query[field] !== undefined)
  const pairs = (Object.keys(PAIRS) as ComparedPair[]).filter((pair) => given(PAIRS[pair]).length > 0)
  const [pair, other] = pairs
  if (pair === undefined)
    throw invalid('aFrom', 'a comparison needs aFrom, aTo, bFrom and bTo, or a pair such as aVersion and bVersion')
  const [first = ''] = given(PAIRS[pair])
  if (other !== undefined) throw invalid(given(PAIRS[other])[0] ?? '', `cannot be combined with ${first}`)
  const missing = PAIRS[pair].find((field) => query[field] === undefined)
  if (missing !== undefined) throw invalid(missing, `is required with ${first}`)
  const [common] = given(COMMON)
  if (pair === 'periods' && common !== undefined) throw invalid(common, `cannot be combined with ${first}`)
  return pair
}

function periodsOf({
  aFrom = 0,
  aTo = 0,
  bFrom = 0,
  bTo = 0,
}: ComparisonQuery): Pick<Comparison, 'window' | 'a' | 'b'> {
  checkPeriod({ from: aFrom, to: aTo }, ['aFrom', 'aTo'])
  checkPeriod({ from: bFrom, to: bTo }, ['bFrom', 'bTo'])
  if (aFrom < bTo && bFrom < aTo) throw invalid('bFrom', 'the period must not overlap the one from aFrom to aTo')
  const within = (from: Instant, to: Instant) => () => `(receivedAt >= ${from} AND receivedAt < ${to})`
  return {
    window: { from: Math.min(aFrom, bFrom), to: Math.max(aTo, bTo) },
    a: within(aFrom, aTo),
    b: within(bFrom, bTo),
  }
}

function commonPeriod({ from, to, hours }: ComparisonQuery, now: Instant): Query['window'] {
  if (from !== undefined && hours !== undefined) throw invalid('hours', 'cannot be combined with from')
  // Includes the current millisecond, so that events acknowledged just now are compared.
  const end = to ?? now + 1
  const window = { from: from ?? end - (hours ?? DEFAULT_HOURS) * HOUR_MS, to: end }
  checkPeriod(window, ['from', 'to'])
  return window
}

function checkPeriod({ from, to }: Query['window'], [start, end]: readonly [string, string]): void {
  if (from >= to) throw invalid(start, `must be before ${end}`)
  if (to - from > MAX_MS) throw invalid(start, `must be at most ${MAX_HOURS.comparison / 24} days before ${end}`)
}

/** Returns the events of both sides, in one of `oneIn` sessions. Only production is compared, unless environments are. */
export function sidesOf(
  { pair, domainIds, window, a, b }: Comparison,
  orgId: string,
  { oneIn, youngAlerts }: { oneIn: number; youngAlerts: readonly string[] },
): SidedEvents {
  return {
    orgId,
    window,
    where: (binder) =>
      [
        `kind <> 'library'`,
        ...(pair === 'environments' ? [] : [`env = 'prod'`]),
        ...binder.among('domainId', domainIds),
        `(${a(binder)} OR ${b(binder)})`,
        ...sampleTests(oneIn, binder),
      ].join(' AND '),
    side: (binder) => `CASE WHEN ${a(binder)} THEN 'before' ELSE 'after' END`,
    block: () => '0',
    youngAlerts,
  }
}
