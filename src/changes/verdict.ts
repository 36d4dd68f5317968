import { countText } from '../core/text.ts'
import { type Effect, isHarmful, MAX_EFFECTS } from './change.ts'
import { doubleSuspects } from './doubles.ts'
import { type ShareCase, shareCases } from './share-cases.ts'
import { suspectOf, suspiciousCases } from './shares.ts'
import { nameKey, type Suspect } from './suspect.ts'
import type { PastRow, Tables } from './tables.ts'
import { concurrentExpectations } from './versions.ts'
import { type Expectation, expectationsOf, volumeSuspects } from './volumes.ts'

/** The chance that a change which did nothing is accused: over all that is looked at, and all times it is looked at. */
export const ERROR = 0.01

/** What a look at a change compares, before the past is asked of what is suspicious. */
export interface Look {
  cases: readonly ShareCase[]
  /** Those of which rows of the past are wanted. */
  suspicious: readonly ShareCase[]
  expectations: readonly Expectation[]
  tables: Tables
}

/** Returns what is compared, and what of the past is to be asked. */
export function lookAt(tables: Tables): Look {
  const cases = shareCases(tables)
  return { cases, suspicious: suspiciousCases(cases), expectations: allExpectations(tables), tables }
}

/** Where versions send at once, the old one says what is expected. */
function allExpectations(tables: Tables): Expectation[] {
  const concurrent = concurrentExpectations(tables.sessions)
  const known = new Set(concurrent.map(nameKey))
  return [...concurrent, ...expectationsOf(tables).filter((one) => !known.has(nameKey(one)))]
}

/**
 * Returns the differences that are sure and matter, most effect first. `error`: the chance that this look may accuse
 * where nothing changed. `past`: rows of earlier times of what is suspicious.
 */
export function effectsOf({ cases, expectations, tables }: Look, past: readonly PastRow[], error: number): Effect[] {
  const shares = cases.map((one) => suspectOf(one, past))
  const isOfKey = ({ kind }: Suspect) => kind.startsWith('key_')
  // A few hundred keys must not hide a few events.
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

/** Holm 1979, https://www.jstor.org/stable/4615733: of so many tests none is wrong but with this chance. */
function sureOf(suspects: readonly Suspect[], error: number): Suspect[] {
  const sorted = suspects.toSorted((a, b) => a.chance - b.chance)
  const end = sorted.findIndex(({ chance }, at) => chance > error / (sorted.length - at))
  return sorted.slice(0, end < 0 ? sorted.length : end).filter(({ matters }) => matters)
}

/** Twice as many events are one thing to tell, and so is an event of which nothing comes. */
function withoutEchoes(sure: readonly Suspect[]): Suspect[] {
  const of = (kind: Suspect['kind']) => new Set(sure.filter((one) => one.kind === kind).map(nameKey))
  const [doubled, lost, fresh] = [of('event_doubled'), of('event_lost'), of('event_new')]
  const vendorsOf = (key: string | null) =>
    new Set(sure.flatMap((one) => (one.kind === 'key_lost' && one.key === key ? [one.vendor] : []))).size
  return sure.filter((one) => {
    // What ends with several vendors alike, and perhaps always came and went, is not the change's doing.
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
    ...{ kind, harmful: isHarmful(kind), vendor, event, key },
    ...{ before: rounded(before), after: rounded(after), effect: Number(Math.min(1, effect).toFixed(4)) },
    detail: sentenceOf(suspect),
  }
}

const percent = (share: number) => `${Number((share * 100).toFixed(1))} %`

function sentenceOf({ kind, vendor, event, key, before, after }: Suspect): string {
  const name = [vendor, event].filter((part) => part !== '').join(' ') || 'An event without a name'
  const [expected, seen] = [countText(Math.round(before)), countText(Math.round(after))]
  switch (kind) {
    case 'event_lost':
      return `${name} no longer comes: ${seen} events where ${expected} were expected.`
    case 'event_fell':
      return `${name} came ${seen} times where ${expected} were expected.`
    case 'event_doubled':
      return `${name} is sent more often a session: ${seen} events where ${expected} were expected.`
    case 'event_rose':
      return `${name} came ${seen} times where at most ${expected} were expected.`
    case 'event_new':
      return `${name} is new: ${seen} events.`
    case 'key_lost':
      return `${name} has ${key} in ${percent(after)} of its events, before in ${percent(before)}.`
    case 'key_new':
      return `${name} has ${key} in ${percent(after)} of its events, which is new.`
    case 'key_type':
      return `${name}: ${percent(after)} of the values of ${key} have their former type, before ${percent(before)}.`
    case 'failures_rose':
      return `${name} failed in ${percent(after)} of the events whose outcome is known, before in ${percent(before)}.`
    case 'violations_rose':
      return `${name} broke rules in ${percent(after)} of its events, before in ${percent(before)}.`
    case 'consent_fell':
      return `${name}: ${key} was granted in ${percent(after)} of the sessions that say it, before in ${percent(before)}.`
  }
}
