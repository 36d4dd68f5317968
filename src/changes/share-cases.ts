import type { EffectKind } from './change.ts'
import type { ConsentRow, KeyRow, SessionRow, Side, Tables } from './comparison-tables.ts'
import { nameKey } from './suspected-effect.ts'

/** A share and the number of independent events it is based on. */
export interface Share {
  share: number
  trials: number
}

/** A share to compare with the same share before the change or in the old version. */
export interface ShareCase {
  kind: EffectKind
  vendor: string
  event: string
  key: string | null
  former: Share
  present: Share
  /**
   * With concurrent versions: the share before the change. The present share must also differ from this one. Otherwise
   * null.
   */
  earlier: Share | null
  /** Sums of the weights of events that count towards each share. */
  counts: { former: number; present: number }
  /** For `key_type`: the type of the values before the change. */
  type?: ValueType
}

/** Minimum number of independent events on each side. With fewer, a share is not significant. */
export const MIN_TRIALS = 5
/** Minimum number of independent events for each version. With fewer, versions are not compared. */
const MIN_CONCURRENT = 20
/** Minimum share of events with a key. Rarer keys are ignored. */
export const MIN_SHARE = 0.05
/** Minimum share of a key's values with one type for the key to have that type. */
const MIN_TYPE = 0.9

/** Sums for the events with one name on one side. */
type NameSums = Pick<SessionRow, 'weight' | 'weightSquares' | 'known' | 'failed' | 'violated'>

function sumOf(rows: readonly NameSums[]): NameSums {
  const sum = { weight: 0, weightSquares: 0, known: 0, failed: 0, violated: 0 }
  for (const row of rows) for (const field of Object.keys(sum) as (keyof NameSums)[]) sum[field] += row[field]
  return sum
}

/**
 * Returns the number of independent events. Events in a session are correlated; this assumes that they all have the
 * same outcome.
 */
export const trialsOf = ({ weight, weightSquares }: Pick<NameSums, 'weight' | 'weightSquares'>): number =>
  weightSquares > 0 ? weight ** 2 / weightSquares : 0

/** The compared values, each the sum over the rows of one side. `earlier` is null unless versions are compared. */
interface Compared<T> {
  former: T
  present: T
  earlier: T | null
}

function comparedSides(isConcurrent: boolean): Compared<readonly Side[]> {
  if (isConcurrent) return { former: ['old'], present: ['new'], earlier: ['before'] }
  return { former: ['before'], present: ['after', 'new'], earlier: null }
}

const mapped = <T, U>({ former, present, earlier }: Compared<T>, of: (one: T) => U): Compared<U> => ({
  former: of(former),
  present: of(present),
  earlier: earlier && of(earlier),
})

/** Returns every share to compare: keys and their types, failures, violations and consent. */
export function shareCases({ sessions, keys, consent }: Pick<Tables, 'sessions' | 'keys' | 'consent'>): ShareCase[] {
  const keysOf = Map.groupBy(keys, nameKey)
  const ofNames = [...Map.groupBy(sessions, nameKey)].flatMap(([name, rows]) =>
    casesOfName(rows, keysOf.get(name) ?? []),
  )
  return [...ofNames, ...consentCases(consent)]
}

function casesOfName(rows: readonly SessionRow[], keys: readonly KeyRow[]): ShareCase[] {
  const [first] = rows
  if (!first) return []
  const on = (sides: readonly Side[]) => sumOf(rows.filter(({ side }) => sides.includes(side)))
  const isConcurrent = Math.min(trialsOf(on(['old'])), trialsOf(on(['new']))) >= MIN_CONCURRENT
  const sides = comparedSides(isConcurrent)
  const all = mapped(sides, on)
  if (Math.min(trialsOf(all.former), trialsOf(all.present)) < MIN_TRIALS) return []
  const { vendor, event } = first
  const rate = (kind: EffectKind, hits: 'failed' | 'violated', of: 'known' | 'weight'): ShareCase => ({
    kind,
    vendor,
    event,
    key: null,
    ...mapped(all, (sum) => ({
      share: sum[of] > 0 ? sum[hits] / sum[of] : 0,
      trials: sum.weight > 0 ? (trialsOf(sum) * sum[of]) / sum.weight : 0,
    })),
    counts: { former: all.former[hits], present: all.present[hits] },
  })
  const ofKeys = [...Map.groupBy(keys, ({ key }) => key)].flatMap(([key, own]) => {
    const sums = mapped(sides, (some) => ({
      all: on(some),
      own: keySum(own.filter(({ side }) => some.includes(side))),
    }))
    return keyCases({ key, vendor, event }, sums)
  })
  return [rate('failures_rose', 'failed', 'known'), rate('violations_rose', 'violated', 'weight'), ...ofKeys]
}

export type KeySums = Pick<KeyRow, 'weight' | 'numbers' | 'booleans'>

function keySum(rows: readonly KeySums[]): KeySums {
  const sum = { weight: 0, numbers: 0, booleans: 0 }
  for (const { weight, numbers, booleans } of rows) {
    sum.weight += weight
    sum.numbers += numbers
    sum.booleans += booleans
  }
  return sum
}

interface KeySide {
  all: NameSums
  own: KeySums
}

const keyShare = ({ all, own }: KeySide): Share => ({
  share: all.weight > 0 ? Math.min(1, own.weight / all.weight) : 0,
  trials: trialsOf(all),
})

function keyCases(name: Pick<ShareCase, 'vendor' | 'event' | 'key'>, sums: Compared<KeySide>): ShareCase[] {
  const shares = mapped(sums, keyShare)
  const counts = { former: sums.former.own.weight, present: sums.present.own.weight }
  const cases: ShareCase[] = []
  if (shares.former.share >= MIN_SHARE) cases.push({ ...name, kind: 'key_lost', ...shares, counts })
  else if (shares.present.share >= MIN_SHARE) cases.push({ ...name, kind: 'key_new', ...shares, counts })
  const type = VALUE_TYPES.find((one) => typeShare(sums.former.own, one) >= MIN_TYPE)
  if (type === undefined) return cases
  const typed = mapped(sums, (side) => ({
    share: typeShare(side.own, type),
    trials: trialsOf(side.all) * keyShare(side).share,
  }))
  return [...cases, { ...name, kind: 'key_type', type, ...typed, counts }]
}

const VALUE_TYPES = ['numbers', 'booleans', 'texts'] as const
type ValueType = (typeof VALUE_TYPES)[number]

/** Returns the share of a key's values with this type. */
export function typeShare({ weight, numbers, booleans }: KeySums, type: ValueType): number {
  if (weight <= 0) return 0
  return (type === 'texts' ? weight - numbers - booleans : { numbers, booleans }[type]) / weight
}

/** Returns the cases for the share of sessions in which consent is granted, among sessions with a consent signal. */
function consentCases(rows: readonly ConsentRow[]): ShareCase[] {
  const groups = Map.groupBy(rows, ({ vendor, key }) => JSON.stringify([vendor, key]))
  return [...groups.values()].flatMap((own): ShareCase[] => {
    const on = (sides: readonly Side[]): Share => {
      const some = own.filter(({ side }) => sides.includes(side))
      const granted = some.reduce((sum, row) => sum + row.granted, 0)
      const trials = granted + some.reduce((sum, row) => sum + row.denied, 0)
      return { share: trials > 0 ? granted / trials : 0, trials }
    }
    const isConcurrent = Math.min(on(['old']).trials, on(['new']).trials) >= MIN_CONCURRENT
    const shares = mapped(comparedSides(isConcurrent), on)
    const { former, present } = shares
    if (Math.min(former.trials, present.trials) < MIN_TRIALS) return []
    const { vendor = '', key = '' } = own[0] ?? {}
    const counts = { former: former.share * former.trials, present: present.share * present.trials }
    return [{ kind: 'consent_fell', vendor, event: '', key, ...shares, counts }]
  })
}
