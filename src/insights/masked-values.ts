import type { ValueType } from '../core/value-type.ts'
import type { Mask } from './response-mask.ts'
import { addSums, type SampledSum } from './sample-estimates.ts'
import type { ValueList } from './value-lists.ts'

/** A displayed value and its frequency. */
interface MaskedValue extends SampledSum {
  value: string
}

/** The displayed values of one masked parameter name. Weights are not rounded. */
export interface MaskedList {
  weight: number
  lastAt: number
  numbers: number
  booleans: number
  /** Most frequent first. Equally frequent values are sorted alphabetically. */
  values: MaskedValue[]
  /** Number of distinct masked values. */
  different: number
}

/** A list of values. When its distinct values were not counted, it includes an estimate of their number. */
export interface Counted {
  list: ValueList
  estimate: number | null
}

/** Merges lists with the same masked name, and values that are equal after masking. */
export function maskedList(counted: readonly Counted[], mask: Mask): MaskedList {
  const sums = new Map<string, SampledSum>()
  const add = (value: string, sum: SampledSum) => {
    const earlier = sums.get(value)
    sums.set(value, earlier ? addSums([earlier, sum]) : sum)
  }
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
      add(shown, { weight: list.weights[at] ?? 0, squares: list.valueSquares?.[at] ?? 0 })
      if (list.areSuspect[at]) masked.add(shown)
      if (shown !== value) changed++
    }
    all.different += distinctAmong(list, changed, estimate)
  }
  all.different += masked.size
  all.values = [...sums].map(([value, sum]) => ({ value, ...sum })).sort(mostFrequentFirst)
  return all
}

/**
 * Returns the estimated number of distinct values that masking did not change. When only some of the possibly personal
 * values were masked, the remaining ones are assumed to change in the same proportion.
 */
function distinctAmong(
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

/**
 * Compares values by frequency, most frequent first. Sums that differ only in their last digits, because of the order
 * of addition, are treated as equal.
 */
function mostFrequentFirst(a: MaskedValue, b: MaskedValue): number {
  return rounded(b.weight) - rounded(a.weight) || compareTexts(a.value, b.value)
}

const rounded = (weight: number) => Number(weight.toFixed(6))

/** Compares strings by their UTF-8 bytes, like the query engines. */
export const compareTexts = (a: string, b: string) => (a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b)))

/** Returns the string truncated to this number of characters. */
export function cutCharacters(text: string, length: number): string {
  return text.length <= length ? text : [...text].slice(0, length).join('')
}

/** Minimum share of a key's values with one type for the key to have that type. */
const TYPE_SHARE = 0.99

/** Returns the type of at least 99 % of the values, weighted by frequency; otherwise `mixed`. */
export function typeOfList({ weight, numbers, booleans }: Pick<MaskedList, 'weight' | 'numbers' | 'booleans'>) {
  const weights: Record<ValueType, number> = { number: numbers, boolean: booleans, text: weight - numbers - booleans }
  const types = ['number', 'boolean', 'text'] as const
  return types.find((type) => weights[type] >= weight * TYPE_SHARE) ?? 'mixed'
}
