import type { ValueType } from '../core/value-type.ts'
import type { Mask } from './masked.ts'
import type { ValueList } from './value-lists.ts'

/** A value as it is shown, and how often it occurs. */
interface MaskedValue {
  value: string
  weight: number
}

/** What is shown of the parameters of one masked name. Weights are not rounded. */
export interface MaskedList {
  weight: number
  lastAt: number
  numbers: number
  booleans: number
  /** Most frequent first; equal ones in the order of their text. */
  values: MaskedValue[]
  /** Different masked values. */
  different: number
}

/** A list, and an estimate of its different values where they were not counted. */
export interface Counted {
  list: ValueList
  estimate: number | null
}

/** Puts lists together whose names are equal when masked; values that are equal when masked are one. */
export function maskedList(counted: readonly Counted[], mask: Mask): MaskedList {
  const weights = new Map<string, number>()
  const add = (value: string, weight: number) => weights.set(value, (weights.get(value) ?? 0) + weight)
  const masked = new Set<string>()
  const all: MaskedList = { weight: 0, lastAt: 0, numbers: 0, booleans: 0, values: [], different: 0 }
  for (const { list, estimate } of counted) {
    all.weight += list.weight
    all.lastAt = Math.max(all.lastAt, list.lastAt)
    all.numbers += list.numbers
    all.booleans += list.booleans
    let changed = 0
    for (const [at, value] of list.values.entries()) {
      const shown = list.areSuspect[at] ? mask(value, list.key) : value
      add(shown, list.weights[at] ?? 0)
      if (list.areSuspect[at]) masked.add(shown)
      if (shown !== value) changed++
    }
    all.different += differentBeside(list, changed, estimate)
  }
  all.different += masked.size
  all.values = [...weights].map(([value, weight]) => ({ value, weight })).sort(mostFrequentFirst)
  return all
}

/**
 * Different values beside those that were masked, of which so many changed. Where not all that may be personal were masked,
 * the rest is taken to be like those.
 */
function differentBeside(
  { different, suspects, areSuspect }: ValueList,
  changed: number,
  estimate: number | null,
): number {
  const all = estimate ?? different
  const suspected = all * (suspects / different)
  const masked = areSuspect.filter(Boolean).length
  const isAll = estimate === null && suspects === masked
  const others = isAll || masked === 0 ? 0 : suspected * (1 - changed / masked) - (masked - changed)
  return Math.max(0, Math.round(all - suspected + others))
}

/** Sums that differ in their last digits only, by the order of addition, are equal. */
function mostFrequentFirst(a: MaskedValue, b: MaskedValue): number {
  return rounded(b.weight) - rounded(a.weight) || compareTexts(a.value, b.value)
}

const rounded = (weight: number) => Number(weight.toFixed(6))

/** As engines sort texts: by their bytes in UTF-8. */
export const compareTexts = (a: string, b: string) => (a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b)))

/** The text cut to so many characters. */
export function cutCharacters(text: string, length: number): string {
  return text.length <= length ? text : [...text].slice(0, length).join('')
}

/** The share of its values from which a key has a type. */
const TYPE_SHARE = 0.99

/** The type of 99 % of the values, by how often they occur; else `mixed`. */
export function typeOfList({ weight, numbers, booleans }: Pick<MaskedList, 'weight' | 'numbers' | 'booleans'>) {
  const weights: Record<ValueType, number> = { number: numbers, boolean: booleans, text: weight - numbers - booleans }
  const types = ['number', 'boolean', 'text'] as const
  return types.find((type) => weights[type] >= weight * TYPE_SHARE) ?? 'mixed'
}
