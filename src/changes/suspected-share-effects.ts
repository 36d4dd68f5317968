import type { EffectKind } from './change.ts'
import type { EarlierPeriodRow } from './comparison-tables.ts'
import { MIN_SHARE, MIN_TRIALS, type Share, type ShareCase, trialsOf, typeShare } from './share-cases.ts'
import type { Suspect } from './suspected-effect.ts'
import { shareTail } from './tail-probability.ts'

/** Assumed correlation of shares within one period, used when the history is too short to estimate it. */
export const RHO_ALONE = 0.01
/** Minimum correlation, also between groups of sessions at the same time. */
export const RHO_LEAST = 0.002
const RHO_MOST = 0.5
/** Number of earlier periods from which smaller differences are significant. */
const ENOUGH_PAST = 6
/** Minimum number of earlier periods required to estimate how much a share varies. */
const SOME_PAST = 3

const RISES: ReadonlySet<EffectKind> = new Set(['failures_rose', 'violations_rose', 'key_new'])

/** Returns the log odds of a share. Half an event is added to each side, so that the result is finite. */
function logOdds({ share, trials }: Share): number {
  const hits = share * trials
  return Math.log((hits + 0.5) / (trials - hits + 0.5))
}

/**
 * Returns whether a difference is large enough to matter, regardless of its certainty. `times` is the number of known
 * earlier periods.
 */
function matters({ kind, former, present, counts, earlier }: ShareCase, times: number): boolean {
  const [p, q] = [former.share, present.share]
  switch (kind) {
    case 'failures_rose':
    case 'violations_rose':
      return q - p >= 0.05 && q >= 2 * p
    case 'consent_fell':
      return p - q >= 0.1 && q <= 0.8 * p
    case 'key_type':
      return p - q >= 0.2
    case 'key_new':
      return p < 0.01 && q >= MIN_SHARE
    default: {
      const isLarge = p - q >= 0.1 || (p >= 0.95 && p - q >= 0.03) || q <= 0.2 * p
      const isKnown = times >= ENOUGH_PAST || earlier !== null
      const isClear = logOdds(former) - logOdds(present) >= (isKnown ? 1 : 2)
      // A smaller share with a stable count may be due to a different mix of visitors, some of whom never sent an
      // optional key.
      const isMixture = p < 0.9 && earlier === null && counts.present >= 0.8 * counts.former
      return isLarge && isClear && !isMixture && (p >= 0.9 || !isKnown || q <= 0.7 * p)
    }
  }
}

/**
 * Returns the probability that the present share differs this much from earlier shares by chance. With three or more
 * earlier periods, the correlation is estimated by the method of moments; with fewer, it is `rhoAlone`.
 */
export function shareChance(past: readonly Share[], now: Share, rises: boolean, rhoAlone = RHO_ALONE): number {
  const times = past.filter(({ trials }) => trials >= MIN_TRIALS).map((one) => (rises ? turned(one) : one))
  const { share, trials } = rises ? turned(now) : now
  const all = times.reduce((sum, one) => sum + one.trials, 0)
  if (all === 0 || trials < 1) return 1
  const hits = times.reduce((sum, one) => sum + one.share * one.trials, 0)
  const usual = (hits + 0.5) / (all + 1)
  if (share >= usual) return 1
  const rho = times.length < SOME_PAST ? rhoAlone : rhoOf(times, usual, all)
  return shareTail(share * trials, trials, usual, Math.min(RHO_MOST, rho + 1 / (all + 1)))
}

const turned = ({ share, trials }: Share): Share => ({ share: 1 - share, trials })

function rhoOf(times: readonly Share[], usual: number, all: number): number {
  const variance = usual * (1 - usual)
  const distance = times.reduce((sum, { share, trials }) => sum + trials * (share - usual) ** 2, 0) / variance
  const per = times.reduce((sum, { trials }) => sum + (1 - trials / all) * (trials - 1), 0)
  const estimate = per > 0 ? (distance - (times.length - 1)) / per : 0
  // The correlation has a minimum, because a few earlier periods may be similar by chance.
  return Math.max(RHO_LEAST, RHO_ALONE / times.length, estimate * (1 + 2 / times.length))
}

/**
 * Returns the probability that a case occurs by chance, given the history and, for concurrent versions, the old
 * version.
 */
function chanceOf({ kind, former, present, earlier }: ShareCase, times: readonly Share[]): number {
  const isRise = RISES.has(kind)
  if (earlier === null) return shareChance([former, ...times], present, isRise)
  const concurrent = shareChance([former], present, isRise, RHO_LEAST)
  if (earlier.trials < MIN_TRIALS) return concurrent
  // The share of a key that is not always sent may change while a new version replaces the old one.
  return Math.max(concurrent, shareChance([earlier, ...times], present, isRise))
}

/** Maximum p-value for a difference to be compared with the history. */
const SUSPICIOUS = 1e-3

/** Returns the cases to compare with the history. */
export function suspiciousCases(cases: readonly ShareCase[]): ShareCase[] {
  return cases.filter((one) => one.kind !== 'key_new' && matters(one, ENOUGH_PAST) && chanceOf(one, []) <= SUSPICIOUS)
}

/** Returns the suspect for one case. `past`: rows from earlier periods; empty when unknown. */
export function suspectOf(one: ShareCase, past: readonly EarlierPeriodRow[]): Suspect {
  const { kind, vendor, event, key, former, present } = one
  const times = pastShares(one, past)
  const isLarge = matters(one, times.length)
  return {
    kind,
    vendor,
    event,
    key,
    before: former.share,
    after: present.share,
    effect: effectOf(one),
    chance: isLarge ? chanceOf(one, times) : 1,
    matters: isLarge,
    isUnknownKey: kind === 'key_lost' && former.share < ALWAYS && times.length < SOME_PAST,
  }
}

function effectOf({ kind, former: { share: p }, present: { share: q } }: ShareCase): number {
  if (kind === 'key_lost' || kind === 'consent_fell') return p > 0 ? Math.max(0, (p - q) / p) : 0
  return Math.min(1, Math.abs(q - p))
}

function pastShares(one: ShareCase, past: readonly EarlierPeriodRow[]): Share[] {
  const own = past.filter(({ vendor, event, lag }) => vendor === one.vendor && event === one.event && lag > 0)
  const times = own
    .toSorted((a, b) => a.lag - b.lag)
    .map((row) => pastShare(one, row))
    .filter(({ trials }) => trials >= MIN_TRIALS)
  return one.kind === 'key_lost' ? sinceItCame(one.former, times) : times
}

function pastShare({ kind, key, type = 'texts' }: ShareCase, row: EarlierPeriodRow): Share {
  const trials = trialsOf(row)
  const all = row.weight > 0 ? row.weight : 1
  if (kind === 'failures_rose')
    return { share: row.known > 0 ? row.failed / row.known : 0, trials: (trials * row.known) / all }
  if (kind === 'violations_rose') return { share: row.violated / all, trials }
  const own = row.keys[key ?? ''] ?? { weight: 0, numbers: 0, booleans: 0 }
  const share = Math.min(1, own.weight / all)
  return kind === 'key_type' ? { share: typeShare(own, type), trials: trials * share } : { share, trials }
}

const ALWAYS = 0.9
const HARDLY = 0.1
const STAYED = 2

/**
 * Returns the earlier periods. When nearly all events have had the key since it was introduced, the periods before its
 * introduction are omitted.
 */
function sinceItCame(former: Share, times: readonly Share[]): Share[] {
  const absent = times.findIndex(({ share }) => share < ALWAYS)
  if (former.share < ALWAYS || absent < STAYED) return [...times]
  return times.slice(absent).every(({ share }) => share < HARDLY) ? times.slice(0, absent) : [...times]
}
