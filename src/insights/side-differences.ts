import { significantTests } from '../changes/change-verdict.ts'
import type { ConsentRow, KeyRow, SessionRow } from '../changes/comparison-tables.ts'
import { MIN_SESSIONS, rateOf, SPREAD } from '../changes/doubled-events.ts'
import { MIN_TRIALS, type Share, type ShareCase, shareCases, trialsOf } from '../changes/share-cases.ts'
import { nameKey } from '../changes/suspected-effect.ts'
import { shareChance } from '../changes/suspected-share-effects.ts'
import { normalTail } from '../changes/tail-probability.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import type { ComparedSide, HostRow, ValueRow } from './compare-queries.ts'

/** Maximum probability that any difference is reported between two sides that do not differ. */
export const ERROR = 0.01

export const DIFFERENCE_KINDS = ['event', 'key', 'value', 'consent', 'violation', 'host'] as const
type DifferenceKind = (typeof DIFFERENCE_KINDS)[number]

/** Counts of both sides: `before` is side A, and `after` side B. */
export interface ComparedTables {
  sessions: readonly SessionRow[]
  keys: readonly KeyRow[]
  values: readonly ValueRow[]
  consent: readonly ConsentRow[]
  hosts: readonly HostRow[]
}

/** A share on both sides. Fields that don't apply to the kind are null. */
interface Difference {
  kind: DifferenceKind
  vendor: string | null
  event: string | null
  key: string | null
  value: string | null
  a: Share
  b: Share
  /** For events: weighted number per session, over all sessions. */
  perSession: { a: number; b: number } | null
  /** Probability of a difference of this size by chance. */
  chance: number
}

export type TestedDifference = Difference & { sure: boolean }

/** More sessions than this don't make a share more certain, but take long to compute. */
const MAX_TRIALS = 4000

/**
 * Returns all compared shares, surest first. `rho`: correlation of shares within a side. Events of a session are
 * correlated, so trials are independent events as in the comparison of a change.
 */
export async function differencesOf(tables: ComparedTables, rho: number): Promise<TestedDifference[]> {
  const untested = [
    [...eventCases(tables), ...hostCases(tables)],
    tableCases(tables, 'key'),
    valueCases(tables),
    [...tableCases(tables, 'consent'), ...tableCases(tables, 'violation')],
  ]
  const yielder = new Yielder()
  const families: Difference[][] = []
  for (const cases of untested) {
    const family: Difference[] = []
    for (const { rateChance, ...one } of cases) {
      const chance = shareDifferenceChance(one.a, one.b, rho)
      family.push({ ...one, chance: rateChance === null ? chance : Math.min(1, 2 * Math.min(chance, rateChance)) })
      if (yielder.isDue) await yielder.yieldNow()
    }
    families.push(family)
  }
  const all = families.flatMap((family) => {
    // Each family is tested separately, so that hundreds of tested values do not hide a difference in events.
    const sure = new Set(significantTests(family, ERROR / families.length))
    return family.map((one) => ({ ...one, sure: sure.has(one) }))
  })
  return all.sort(surestFirst)
}

/** A comparison whose probability is not computed yet. `rateChance`: that of the number of events per session. */
type Case = Omit<Difference, 'chance'> & { rateChance: number | null }

const NO_NAMES = { vendor: null, event: null, key: null, value: null, perSession: null, rateChance: null }

/** Returns the probability that two shares differ this much, in either direction, if they are the same. */
export function shareDifferenceChance(one: Share, other: Share, rho: number): number {
  const [a, b] = [one, other].map(({ share, trials }) => ({ share, trials: Math.min(MAX_TRIALS, trials) })) as [
    Share,
    Share,
  ]
  if (Math.min(a.trials, b.trials) < MIN_TRIALS || a.share === b.share) return 1
  const pooled = (a.share * a.trials + b.share * b.trials) / (a.trials + b.trials)
  const variance = pooled * (1 - pooled) * (1 / a.trials + 1 / b.trials + 2 * rho)
  const z = Math.abs(a.share - b.share) / Math.sqrt(variance)
  // Most shares hardly differ. The exact probability takes long to compute and is only needed for the others.
  if (z < 1) return 2 * normalTail(z)
  const chance = Math.max(shareChance([a], b, b.share > a.share, rho), shareChance([b], a, a.share > b.share, rho))
  return Math.min(1, 2 * chance)
}

/** Returns the share of sessions in which each event was sent, and the number of events per session. */
function eventCases({ sessions }: ComparedTables): Case[] {
  const all = bySide((side) => sumOf(sessions, side, ({ firsts }) => firsts))
  return [...Map.groupBy(sessions, nameKey).values()].map((rows) => {
    const { vendor = '', event = '' } = rows[0] ?? {}
    const rates = bySide((side) => rateOf(rows.filter((row) => row.side === side)))
    return {
      ...NO_NAMES,
      kind: 'event',
      vendor,
      event,
      ...shareOfEach(all, (side) => sumOf(rows, side, (row) => row.sessions)),
      perSession: {
        a: all.before > 0 ? sumOf(rows, 'before', ({ weight }) => weight) / all.before : 0,
        b: all.after > 0 ? sumOf(rows, 'after', ({ weight }) => weight) / all.after : 0,
      },
      rateChance: rateChance(rates.before, rates.after),
    }
  })
}

type Rate = ReturnType<typeof rateOf>

/** Returns the probability that the events per session, in sessions that have any, differ this much by chance. */
function rateChance(a: Rate, b: Rate): number {
  if (Math.min(a.sessions, b.sessions) < MIN_SESSIONS) return 1
  return Math.min(1, 2 * normalTail(Math.abs(Math.log(b.mean / a.mean)) / Math.hypot(a.error, b.error, SPREAD)))
}

/** Returns the share of sessions on each host. */
function hostCases({ sessions, hosts }: ComparedTables): Case[] {
  const all = bySide((side) => sumOf(sessions, side, ({ firsts }) => firsts))
  return [...Map.groupBy(hosts, ({ host }) => host)].map(([host, rows]) => ({
    ...NO_NAMES,
    kind: 'host',
    value: host,
    ...shareOfEach(all, (side) => sumOf(rows, side, (row) => row.sessions)),
  }))
}

/** Kinds of cases in the comparison of a change, by the kind of their difference. */
const CASES: Partial<Record<DifferenceKind, readonly ShareCase['kind'][]>> = {
  key: ['key_lost', 'key_new'],
  consent: ['consent_fell'],
  violation: ['violations_rose'],
}

/** Returns the shares that the comparison of a change also tests. */
function tableCases({ sessions, keys, consent }: ComparedTables, kind: DifferenceKind): Case[] {
  return shareCases({ sessions, keys, consent })
    .filter((one) => CASES[kind]?.includes(one.kind))
    .map(({ vendor, event, key, former, present }) => ({
      ...NO_NAMES,
      kind,
      vendor,
      event: kind === 'consent' ? null : event,
      key,
      value: kind === 'consent' ? 'granted' : null,
      a: former,
      b: present,
    }))
}

/** Returns the share of each frequent value among the events that have the parameter. */
function valueCases({ sessions, keys, values }: ComparedTables): Case[] {
  const ofNames = Map.groupBy(sessions, nameKey)
  const keyOf = (row: { vendor: string; event: string; key: string }) => JSON.stringify([nameKey(row), row.key])
  const ofKeys = Map.groupBy(keys, keyOf)
  return [...Map.groupBy(values, (row) => JSON.stringify([keyOf(row), row.value])).values()].flatMap((rows): Case[] => {
    const [first] = rows
    if (!first) return []
    const { vendor, event, key, value } = first
    const shares = bySide((side): Share => {
      const own = (ofNames.get(nameKey(first)) ?? []).filter((row) => row.side === side)
      const all = { weight: sumOf(own, side, weightOf), weightSquares: sumOf(own, side, (row) => row.weightSquares) }
      const withKey = sumOf(ofKeys.get(keyOf(first)) ?? [], side, weightOf)
      if (withKey === 0 || all.weight === 0) return { share: 0, trials: 0 }
      return {
        share: Math.min(1, sumOf(rows, side, weightOf) / withKey),
        trials: trialsOf(all) * Math.min(1, withKey / all.weight),
      }
    })
    if (Math.min(shares.before.trials, shares.after.trials) < MIN_TRIALS) return []
    return [{ ...NO_NAMES, kind: 'value', vendor, event, key, value, a: shares.before, b: shares.after }]
  })
}

const weightOf = ({ weight }: { weight: number }) => weight

const bySide = <T>(of: (side: ComparedSide) => T): Record<ComparedSide, T> => ({
  before: of('before'),
  after: of('after'),
})

function sumOf<T extends { side: string }>(rows: readonly T[], side: ComparedSide, of: (row: T) => number): number {
  return rows.reduce((sum, row) => (row.side === side ? sum + of(row) : sum), 0)
}

function shareOfEach(all: Record<ComparedSide, number>, of: (side: ComparedSide) => number): { a: Share; b: Share } {
  const share = (side: ComparedSide): Share => ({
    share: all[side] > 0 ? Math.min(1, of(side) / all[side]) : 0,
    trials: all[side],
  })
  return { a: share('before'), b: share('after') }
}

function surestFirst(one: TestedDifference, other: TestedDifference): number {
  const size = ({ a, b }: Difference) => Math.abs(b.share - a.share)
  return (
    Number(other.sure) - Number(one.sure) ||
    one.chance - other.chance ||
    size(other) - size(one) ||
    (namesOf(one) < namesOf(other) ? -1 : 1)
  )
}

const namesOf = ({ kind, vendor, event, key, value }: Difference) => JSON.stringify([kind, vendor, event, key, value])
