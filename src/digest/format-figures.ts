import type { Severity } from '../contract/severities.ts'
import { countText, cutText } from '../core/text.ts'
import type { Cell, Tone } from '../mail/mail-document.ts'
import { isNotable, moveOf } from './event-traffic.ts'
import type { Subject } from './reader-focus.ts'

/** Formats a sum of event weights as an integer. */
export const eventCount = (weight: number): string => countText(Math.round(weight))

/** Formats a sum of event weights: `1 event`, `2,000 events`. */
export const eventsOf = (weight: number): string =>
  `${eventCount(weight)} ${Math.round(weight) === 1 ? 'event' : 'events'}`

/** Formats a count with its noun: `2 issues`. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`

/** Relative change: `+12 %`, `−80 %`, `±0 %`, `new`, `stopped`; `–` if the earlier count is unknown. */
export function moveText(now: number, before: number | null): string {
  const { kind, share } = moveOf(now, before)
  if (kind === 'unknown') return '–'
  if (kind === 'new' || kind === 'stopped') return kind
  if (kind === 'same' || share === null) return '±0 %'
  const percent = Math.abs(share * 100)
  const rounded = percent >= 10 ? Math.round(percent) : Number(percent.toFixed(1))
  return `${share > 0 ? '+' : '−'}${countText(rounded)} %`
}

/** Comparison of a count: `−5 % compared with a week earlier`, `900 a week earlier` if either count is zero. */
export function comparisonText(now: number, before: number | null, earlier = 'a week earlier'): string {
  if (before === null) return 'first week of data'
  if (now === 0 || before === 0) return `${before === 0 ? 'none' : eventCount(before)} ${earlier}`
  return `${moveText(now, before)} compared with ${earlier}`
}

/** Change as a predicate: `fell by 80 %`, `rose by 12 %`, `stopped`, `is new`, `is unchanged from a week ago`. */
export function movePhrase(now: number, before: number | null): string {
  const { kind } = moveOf(now, before)
  const percent = moveText(now, before).replace(/^[+−]/, '')
  const words = {
    rise: `rose by ${percent}`,
    fall: `fell by ${percent}`,
    new: 'is new',
    stopped: 'stopped',
    same: 'is unchanged from a week ago',
    unknown: 'has its first week of data',
  }
  return words[kind]
}

/** Tone of a change: bad for notable falls, warning for notable rises, plain for other changes. */
export function moveTone(now: number, before: number | null): Tone {
  if (!isNotable(now, before)) return 'plain'
  const { kind } = moveOf(now, before)
  return kind === 'fall' || kind === 'stopped' ? 'bad' : 'warn'
}

export const moveCell = (now: number, before: number | null): Cell => ({
  text: moveText(now, before),
  tone: moveTone(now, before),
})

export const SEVERITY_TONE: Readonly<Record<Severity, Tone>> = {
  critical: 'bad',
  high: 'bad',
  medium: 'warn',
  low: 'plain',
} as Readonly<Record<Severity, Tone>>

/** Name of an event: `Google Analytics 4 purchase`; only the vendor if the event has no name. At most 80 characters. */
export const nameOf = ({ vendor, event }: Pick<Subject, 'vendor' | 'event'>): string =>
  shortened([vendor, event].filter((part) => part).join(' ')) || '(no name)'

/** Truncates external names to 80 characters. */
export const shortened = (text: string): string => cutText(text, 80, '…')

/** Phrase for the number of omitted items: `and 12 more`; empty if there are none. */
export const moreText = (all: number, shown: number, what = ''): string =>
  all > shown ? `and ${countText(all - shown)} more${what === '' ? '' : ` ${what}`}` : ''
