import { countText } from '../core/text.ts'
import { type Effect, isHarmful, MAX_EFFECTS } from './change.ts'
import type { EarlierPeriodRow, Tables } from './comparison-tables.ts'
import { concurrentExpectations } from './concurrent-versions.ts'
import { doubleSuspects } from './doubled-events.ts'
import { type ShareCase, shareCases } from './share-cases.ts'
import { nameKey, type Suspect } from './suspected-effect.ts'
import { suspectOf, suspiciousCases } from './suspected-share-effects.ts'
import { type Expectation, expectationsOf, volumeSuspects } from './suspected-volume-effects.ts'

/**
 * Maximum probability that any effect is reported for a change without effects, over all its comparisons and
 * evaluations.
 */
export const ERROR = 0.01

/** The comparisons in an evaluation, before the suspicious cases are compared with the history. */
export interface ChangeComparison {
  cases: readonly ShareCase[]
  /** The cases to compare with the history. */
  suspicious: readonly ShareCase[]
  expectations: readonly Expectation[]
  tables: Tables
}

/** Returns the comparisons, including the cases to compare with the history. */
export function compareSides(tables: Tables): ChangeComparison {
  const cases = shareCases(tables)
  return { cases, suspicious: suspiciousCases(cases), expectations: allExpectations(tables), tables }
}

/** Returns the expectations for all names. When versions are concurrent, they are based on the old version. */
function allExpectations(tables: Tables): Expectation[] {
  const concurrent = concurrentExpectations(tables.sessions)
  const known = new Set(concurrent.map(nameKey))
  return [...concurrent, ...expectationsOf(tables).filter((one) => !known.has(nameKey(one)))]
}

/**
 * Returns the differences that are certain and large enough to matter, largest effect first. `error` is the probability
 * with which this evaluation may report a false effect. `past` is the history of suspicious names and keys.
 */
export function effectsOf(
  { cases, expectations, tables }: ChangeComparison,
  past: readonly EarlierPeriodRow[],
  error: number,
): Effect[] {
  const shares = cases.map((one) => suspectOf(one, past))
  const isOfKey = ({ kind }: Suspect) => kind.startsWith('key_')
  // Each family is tested separately, so that hundreds of tested keys do not hide a difference in event counts.
  const families = [
    [...expectations.flatMap(volumeSuspects), ...doubleSuspects(tables.sessions, expectations)],
    shares.filter(isOfKey),
    shares.filter((one) => !isOfKey(one)),
  ]
  const sure = families.flatMap((family) => {
    const [harmful, others] = [true, false].map((harm) => family.filter(({ kind }) => isHarmful(kind) === harm))
    return [...sureOf(harmful ?? [], error / families.length), ...sureOf(others ?? [], error / families.length)]
  })
  return withoutEchoes(sure)
    .map(effectFrom)
    .sort((a, b) => b.effect - a.effect || Number(b.harmful) - Number(a.harmful) || (nameKey(a) < nameKey(b) ? -1 : 1))
    .slice(0, MAX_EFFECTS)
}

/**
 * Returns the significant tests by Holm's method (1979, https://www.jstor.org/stable/4615733), most significant first.
 * The probability of any false result among all tests is at most `error`.
 */
export function significantTests<T extends Pick<Suspect, 'chance'>>(tests: readonly T[], error: number): T[] {
  const sorted = tests.toSorted((a, b) => a.chance - b.chance)
  const end = sorted.findIndex(({ chance }, at) => chance > error / (sorted.length - at))
  return sorted.slice(0, end < 0 ? sorted.length : end)
}

const sureOf = (suspects: readonly Suspect[], error: number): Suspect[] =>
  significantTests(suspects, error).filter(({ matters }) => matters)

/**
 * Removes effects that only repeat another effect: a doubled event also rises, and the keys of a lost event are also
 * lost.
 */
function withoutEchoes(sure: readonly Suspect[]): Suspect[] {
  const of = (kind: Suspect['kind']) => new Set(sure.filter((one) => one.kind === kind).map(nameKey))
  const [doubled, lost, fresh] = [of('event_doubled'), of('event_lost'), of('event_new')]
  const vendorsOf = (key: string | null) =>
    new Set(sure.flatMap((one) => (one.kind === 'key_lost' && one.key === key ? [one.vendor] : []))).size
  return sure.filter((one) => {
    // When several vendors lose a key without a history, the key may only ever have been sent from time to time. The
    // change is then not the cause.
    if (one.isUnknownKey && vendorsOf(one.key) > 1) return false
    if (one.kind === 'event_rose') return !doubled.has(nameKey(one))
    if (one.kind === 'key_new') return !fresh.has(nameKey(one))
    return one.key === null || !lost.has(nameKey(one))
  })
}

function effectFrom(suspect: Suspect): Effect {
  const { kind, vendor, event, key, before, after, effect } = suspect
  const isCount = kind.startsWith('event_')
  const rounded = (value: number) => (isCount ? Math.round(value) : Number(value.toFixed(4)))
  return {
    kind,
    harmful: isHarmful(kind),
    vendor,
    event,
    key,
    before: rounded(before),
    after: rounded(after),
    effect: Number(Math.min(1, effect).toFixed(4)),
    detail: sentenceOf(suspect),
  }
}

const percent = (share: number) => `${Number((share * 100).toFixed(1))} %`

function sentenceOf({ kind, vendor, event, key, before, after }: Suspect): string {
  const name = [vendor, event].filter((part) => part !== '').join(' ') || 'An event without a name'
  const [expected, seen] = [countText(Math.round(before)), countText(Math.round(after))]
  switch (kind) {
    case 'event_lost':
      return `${name} is no longer sent: ${seen} events instead of the expected ${expected}.`
    case 'event_fell':
      return `${name} was sent ${seen} times instead of the expected ${expected}.`
    case 'event_doubled':
      return `${name} is sent more often per session: ${seen} events instead of the expected ${expected}.`
    case 'event_rose':
      return `${name} was sent ${seen} times instead of at most ${expected}.`
    case 'event_new':
      return `${name} is new: ${seen} events.`
    case 'key_lost':
      return `${name} has ${key} in ${percent(after)} of its events, compared with ${percent(before)} before.`
    case 'key_new':
      return `${name} has ${key} in ${percent(after)} of its events, which is new.`
    case 'key_type':
      return `${name}: ${percent(after)} of the values of ${key} have their former type, compared with ${percent(before)} before.`
    case 'failures_rose':
      return `${name} failed in ${percent(after)} of the events with a known outcome, compared with ${percent(before)} before.`
    case 'violations_rose':
      return `${name} violated rules in ${percent(after)} of its events, compared with ${percent(before)} before.`
    case 'consent_fell':
      return `${name}: ${key} was granted in ${percent(after)} of the sessions that report it, compared with ${percent(before)} before.`
  }
}
