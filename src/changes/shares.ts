import type { EffectKind } from './change.ts'
import type { Suspect } from './suspect.ts'
import type { ConsentRow, KeyRow, PastRow, SessionRow, Side, Tables } from './tables.ts'
import { shareTail } from './tail.ts'

/** A share, and of how many independent events it is one. */
export interface Share {
  share: number
  trials: number
}

/** A share that is held against an earlier one. */
export interface ShareCase extends Pick<Suspect, 'vendor' | 'event' | 'key'> {
  kind: EffectKind
  former: Share
  present: Share
  /** Sums of weights of the events that have it. */
  counts: { former: number; present: number }
  /** Of `key_type` the former type. */
  type?: ValueType
  /** True when versions that send at once are compared: then the past says nothing more. */
  isConcurrent: boolean
}

/** Fewer independent events than this on a side say nothing of a share. */
const MIN_TRIALS = 5
/** Versions are held against each other where both have so many independent events. */
const MIN_CONCURRENT = 20
/** A key is usual from this share on. */
const MIN_SHARE = 0.05
/** A type is a key's own when this share of its values has it. */
const MIN_TYPE = 0.9
/** How much shares of one time hang together, where the past does not say it. */
const RHO_ALONE = 0.01
const RHO_LEAST = 0.002
const RHO_MOST = 0.5
/** With so many earlier times smaller differences matter. */
const ENOUGH_PAST = 6

const nameKey = ({ vendor, event }: { vendor: string; event: string }) => JSON.stringify([vendor, event])

/** Sums of one name's events on one side. */
interface NameSums {
  events: number
  squares: number
  weight: number
  known: number
  failed: number
  violated: number
}

const NONE: NameSums = { events: 0, squares: 0, weight: 0, known: 0, failed: 0, violated: 0 }

function sumOf(rows: readonly NameSums[]): NameSums {
  const sum = { ...NONE }
  for (const row of rows) for (const field of Object.keys(NONE) as (keyof NameSums)[]) sum[field] += row[field]
  return sum
}

/** Events of a session hang together: as many independent ones as there were if all of a session say the same. */
const trialsOf = ({ events, squares }: Pick<NameSums, 'events' | 'squares'>) =>
  squares > 0 ? (events * events) / squares : 0

const FORMER: readonly Side[] = ['before']
const PRESENT: readonly Side[] = ['after', 'new']

/** The sides that are compared for one name. */
function sidesOf(rows: readonly SessionRow[]): { former: readonly Side[]; present: readonly Side[] } {
  const trials = (side: Side) => trialsOf(sumOf(rows.filter((row) => row.side === side)))
  const isConcurrent = trials('old') >= MIN_CONCURRENT && trials('new') >= MIN_CONCURRENT
  return isConcurrent ? { former: ['old'], present: ['new'] } : { former: FORMER, present: PRESENT }
}

/** Returns every share that is compared: keys, their types, failures, violations and consent. */
export function shareCases({ sessions, keys, consent }: Tables): ShareCase[] {
  const keysOf = Map.groupBy(keys, nameKey)
  const ofNames = [...Map.groupBy(sessions, nameKey)].flatMap(([name, rows]) =>
    casesOfName(rows, keysOf.get(name) ?? []),
  )
  return [...ofNames, ...consentCases(consent)]
}

function casesOfName(rows: readonly SessionRow[], keys: readonly KeyRow[]): ShareCase[] {
  const [first] = rows
  if (!first) return []
  const sides = sidesOf(rows)
  const isConcurrent = sides.former !== FORMER
  const of = (some: readonly Side[]) => sumOf(rows.filter(({ side }) => some.includes(side)))
  const [former, present] = [of(sides.former), of(sides.present)]
  if (trialsOf(former) < MIN_TRIALS || trialsOf(present) < MIN_TRIALS) return []
  const { vendor, event } = first
  const rate = (kind: EffectKind, hits: 'failed' | 'violated', all: 'known' | 'weight'): ShareCase[] => {
    const share = (sum: NameSums): Share => ({
      share: sum[all] > 0 ? sum[hits] / sum[all] : 0,
      trials: sum.weight > 0 ? (trialsOf(sum) * sum[all]) / sum.weight : 0,
    })
    const counts = { former: former[hits], present: present[hits] }
    return [{ kind, vendor, event, key: null, former: share(former), present: share(present), counts, isConcurrent }]
  }
  const byKey = Map.groupBy(keys, ({ key }) => key)
  const ofKeys = [...byKey].flatMap(([key, own]) => {
    const sum = (some: readonly Side[]) => keySum(own.filter(({ side }) => some.includes(side)))
    const parts = { key, vendor, event, isConcurrent }
    return keyCases(parts, { all: former, own: sum(sides.former) }, { all: present, own: sum(sides.present) })
  })
  return [...rate('failures_rose', 'failed', 'known'), ...rate('violations_rose', 'violated', 'weight'), ...ofKeys]
}

type KeySums = Pick<KeyRow, 'weight' | 'numbers' | 'booleans'>

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

function keyCases(
  parts: Pick<ShareCase, 'vendor' | 'event' | 'key' | 'isConcurrent'>,
  before: KeySide,
  after: KeySide,
): ShareCase[] {
  const share = ({ all, own }: KeySide): Share => ({
    share: Math.min(1, own.weight / all.weight),
    trials: trialsOf(all),
  })
  const [former, present] = [share(before), share(after)]
  const counts = { former: before.own.weight, present: after.own.weight }
  const cases: ShareCase[] = []
  if (former.share >= MIN_SHARE) cases.push({ ...parts, kind: 'key_lost', former, present, counts })
  else if (present.share >= MIN_SHARE) cases.push({ ...parts, kind: 'key_new', former, present, counts })
  const type = typeOf(before.own)
  if (type === null) return cases
  const typed = (side: KeySide): Share => ({
    share: typeShare(side.own, type),
    trials: trialsOf(side.all) * share(side).share,
  })
  return [...cases, { ...parts, kind: 'key_type', type, former: typed(before), present: typed(after), counts }]
}

const TYPES = ['numbers', 'booleans', 'texts'] as const
export type ValueType = (typeof TYPES)[number]

function typeShare({ weight, numbers, booleans }: KeySums, type: ValueType): number {
  if (weight <= 0) return 0
  return (type === 'texts' ? weight - numbers - booleans : { numbers, booleans }[type]) / weight
}

/** The type of a key's values; null when they are of several. */
const typeOf = (sums: KeySums): ValueType | null => TYPES.find((type) => typeShare(sums, type) >= MIN_TYPE) ?? null

/** Of sessions that say whether they consent, the share that does. */
function consentCases(rows: readonly ConsentRow[]): ShareCase[] {
  return [...Map.groupBy(rows, ({ vendor, key }) => JSON.stringify([vendor, key])).values()].flatMap((own) => {
    const of = (some: readonly Side[]) => {
      const sides = own.filter(({ side }) => some.includes(side))
      const granted = sides.reduce((sum, row) => sum + row.granted, 0)
      const denied = sides.reduce((sum, row) => sum + row.denied, 0)
      const trials = granted + denied
      return { share: trials > 0 ? granted / trials : 0, trials }
    }
    const isConcurrent = of(['old']).trials >= MIN_CONCURRENT && of(['new']).trials >= MIN_CONCURRENT
    const [former, present] = isConcurrent ? [of(['old']), of(['new'])] : [of(FORMER), of(PRESENT)]
    const { vendor = '', key = '' } = own[0] ?? {}
    if (Math.min(former.trials, present.trials) < MIN_TRIALS) return []
    const counts = { former: former.share * former.trials, present: present.share * present.trials }
    return [{ kind: 'consent_fell', vendor, event: '', key, former, present, counts, isConcurrent } as const]
  })
}

const RISES: ReadonlySet<EffectKind> = new Set(['failures_rose', 'violations_rose', 'key_new'])

/** Log odds, kept finite by half an event. */
function logOdds({ share, trials }: Share): number {
  const hits = share * trials
  return Math.log((hits + 0.5) / (trials - hits + 0.5))
}

/** Whether a difference is large enough to matter, however sure it is. `times`: how many earlier times are known. */
function matters({ kind, former, present, counts, isConcurrent }: ShareCase, times: number): boolean {
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
      const isKnown = times >= ENOUGH_PAST || isConcurrent
      const isClear = logOdds(former) - logOdds(present) >= (isKnown ? 1 : 2)
      // Visitors of another kind have an optional key less often; the others still send it.
      const isMixture = p < 0.9 && !isConcurrent && counts.present >= 0.8 * counts.former
      return isLarge && isClear && !isMixture && (isKnown ? q <= 0.7 * p || p >= 0.9 : true)
    }
  }
}

/**
 * The chance that the present share is this far from those of earlier times. How much they vary from time to time is
 * estimated from them: `rho`, by the method of moments.
 */
export function shareChance(past: readonly Share[], present: Share, rises: boolean, rhoAlone = RHO_ALONE): number {
  const times = past.filter(({ trials }) => trials >= MIN_TRIALS).map((one) => (rises ? turned(one) : one))
  const { share, trials } = rises ? turned(present) : present
  const all = times.reduce((sum, one) => sum + one.trials, 0)
  if (all === 0 || trials < 1) return 1
  const hits = times.reduce((sum, one) => sum + one.share * one.trials, 0)
  const usual = (hits + 0.5) / (all + 1)
  if (share >= usual) return 1
  const rho = times.length < 3 ? rhoAlone : rhoOf(times, usual, all)
  return shareTail(share * trials, trials, usual, Math.min(RHO_MOST, rho + 1 / (all + 1)))
}

const turned = ({ share, trials }: Share): Share => ({ share: 1 - share, trials })

function rhoOf(times: readonly Share[], usual: number, all: number): number {
  const variance = usual * (1 - usual)
  const distance = times.reduce((sum, { share, trials }) => sum + trials * (share - usual) ** 2, 0) / variance
  const per = times.reduce((sum, { trials }) => sum + (1 - trials / all) * (trials - 1), 0)
  const estimate = per > 0 ? (distance - (times.length - 1)) / per : 0
  // Few times may by chance have been alike.
  return Math.max(RHO_LEAST, RHO_ALONE / times.length, estimate * (1 + 2 / times.length))
}

/** Differences that would be sure enough to ask the past about. */
const SUSPICIOUS = 1e-3

/** Returns the cases of which the past must be asked. */
export function suspiciousCases(cases: readonly ShareCase[]): ShareCase[] {
  return cases.filter(
    (one) =>
      !one.isConcurrent &&
      one.kind !== 'key_new' &&
      matters(one, ENOUGH_PAST) &&
      shareChance([one.former], one.present, RISES.has(one.kind)) <= SUSPICIOUS,
  )
}

/** Judges one case. `past`: rows of earlier times; empty where nothing is known of them. */
export function suspectOf(one: ShareCase, past: readonly PastRow[]): Suspect {
  const { kind, vendor, event, key, former, present, isConcurrent } = one
  const times = isConcurrent ? [] : pastShares(one, past)
  const isRise = RISES.has(kind)
  const isLarge = matters(one, times.length)
  const rho = isConcurrent ? RHO_LEAST : RHO_ALONE
  const chance = isLarge ? shareChance([former, ...times], present, isRise, rho) : 1
  return {
    ...{ kind, vendor, event, key },
    before: former.share,
    after: present.share,
    effect: effectOf(one),
    chance,
    matters: isLarge,
  }
}

function effectOf({ kind, former: { share: p }, present: { share: q } }: ShareCase): number {
  if (kind === 'key_lost' || kind === 'consent_fell') return p > 0 ? Math.max(0, (p - q) / p) : 0
  return Math.min(1, Math.abs(q - p))
}

function pastShares(one: ShareCase, past: readonly PastRow[]): Share[] {
  const own = past.filter(({ vendor, event, lag }) => vendor === one.vendor && event === one.event && lag > 0)
  const times = own
    .toSorted((a, b) => a.lag - b.lag)
    .map((row) => pastShare(one, row))
    .filter(({ trials }) => trials >= MIN_TRIALS)
  return one.kind === 'key_lost' ? sinceItCame(one.former, times) : times
}

function pastShare({ kind, key, type = 'texts' }: ShareCase, row: PastRow): Share {
  const trials = trialsOf(row)
  const all = row.weight > 0 ? row.weight : 1
  if (kind === 'failures_rose')
    return { share: row.known > 0 ? row.failed / row.known : 0, trials: (trials * row.known) / all }
  if (kind === 'violations_rose') return { share: row.violated / all, trials }
  const own = row.keys[key ?? ''] ?? { weight: 0, numbers: 0, booleans: 0 }
  const share = Math.min(1, own.weight / all)
  if (kind !== 'key_type') return { share, trials }
  return { share: typeShare(own, type), trials: trials * share }
}

const ALWAYS = 0.9
const HARDLY = 0.1

/** Without the times before a key came that nearly all events have had since. */
function sinceItCame(former: Share, times: readonly Share[]): Share[] {
  const isOld = times.findIndex(({ share }) => share < ALWAYS)
  if (former.share < ALWAYS || isOld < 2) return [...times]
  return times.slice(isOld).every(({ share }) => share < HARDLY) ? times.slice(0, isOld) : [...times]
}
