import type { Instant } from './clock.ts'

/**
 * Truncates the string to at most `length` UTF-16 units, including a `mark` at the end. The result is one unit shorter
 * if the cut would split a surrogate pair.
 */
export function cutText(text: string, length: number, mark: '' | '…' = ''): string {
  if (text.length <= length) return text
  const end = length - mark.length
  const last = text.charCodeAt(end - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end) + mark
}

/** Converts `office_chat` to `OfficeChat`. */
export function pascalCase(snake: string): string {
  return snake.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/**
 * Returns a time as `2026-01-05 12:07 UTC`, for operators and error messages. Texts for the members of an organization
 * use `momentText`.
 */
export const timeText = (instant: Instant): string =>
  `${new Date(instant).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/**
 * Returns a pattern that matches `text` as a whole word, case-sensitively. `Shop` matches in `on Shop.`, but not in
 * `shop.example`, `Shopping` or `Shop.example`.
 * @param flags additional flags of the `RegExp`, besides `u`
 */
export function wholeWord(text: string, flags: '' | 'g' = ''): RegExp {
  const before = String.raw`(?<![\p{L}\p{N}_.-])`
  const after = String.raw`(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])`
  return new RegExp(`${before}${RegExp.escape(text)}${after}`, `${flags}u`)
}

/** Returns the names that do not occur in the string as whole words (case-sensitive). Skips null and empty names. */
export function namesMissingIn(text: string, names: readonly (string | null | undefined)[]): string[] {
  return names.flatMap((name) => (!name || wholeWord(name).test(text) ? [] : [name]))
}

/** Returns a number as `2,000`. */
export const countText = (count: number): string => count.toLocaleString('en-US')

/** 1,234,567 → `1.2 MB`. */
export function sizeText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(SIZE_UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${numberText(Number((bytes / 1000 ** power).toPrecision(power === 0 ? 3 : 2)))} ${SIZE_UNITS[power]}`
}

const SIZE_UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** Returns a number of events as `1 event` or `2,000 events`. */
export const eventsText = (count: number): string => `${countText(count)} ${count === 1 ? 'event' : 'events'}`

/** Returns a number as `2,000.5`, with at most two decimals. */
export const numberText = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 2 })

/** Returns an amount as `2,000.5 EUR`, or only the number if the currency is null. */
export const amountText = (value: number, currency: string | null): string =>
  currency === null ? numberText(value) : `${numberText(value)} ${currency}`

/** Capitalizes the first letter. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/**
 * Returns a sparkline with one bar character per value, in order; empty if there are no values.
 * @param max value of the highest bar, above 0. Values are clamped to the range from 0 to `max`.
 */
export function barsText(values: readonly number[], max: number): string {
  const levelOf = (value: number) => Math.round((Math.min(Math.max(0, value), max) / max) * (BARS.length - 1))
  return values.map((value) => BARS[levelOf(value)] ?? BARS[0]).join('')
}

const NAMED = 3

/** Returns `a, b, c and 2 more`: the first three paths and the number of remaining paths. */
export function firstFew(paths: readonly string[]): string {
  const more = paths.length - NAMED
  return `${paths.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Formats a fraction between 0 and 1 as a percentage with two significant digits: `0.0625` → `6.3 %`. */
export const shareText = (share: number): string => `${Number((share * 100).toPrecision(2))} %`

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match these characters
const BREAKS = /[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g
/**
 * Characters that change the reading direction: https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters
 */
const DIRECTIONS = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g

/**
 * Sanitizes external text for a subject, a header or one line of a message. Removes control characters, line breaks and
 * direction marks, and truncates the text to `maxLength` UTF-16 code units. Truncated text ends with `…`.
 */
export function oneLine(text: string, maxLength: number): string {
  return cutText(text.toWellFormed().replace(DIRECTIONS, '').replace(BREAKS, ' ').trim(), maxLength, '…')
}

/**
 * Returns external text as one escaped line of at most `max`, in the unit of `lengthOf`. Truncated text ends with `…`.
 */
export function escapedLine(
  text: string,
  max: number,
  markup: { escape(text: string): string; lengthOf(text: string): number },
): string {
  for (let length = max; length > 0; ) {
    const escaped = markup.escape(oneLine(text, length))
    const over = markup.lengthOf(escaped) - max
    if (over <= 0) return escaped
    // One character becomes at most six after escaping.
    length -= Math.ceil(over / 6)
  }
  return ''
}
