import type { Instant } from './clock.ts'

/**
 * Returns the text cut to at most `length` UTF-16 units, `mark` at its end included; unchanged when it is not longer.
 * One unit less where the cut would split a surrogate pair.
 */
export function cutText(text: string, length: number, mark: '' | '…' = ''): string {
  if (text.length <= length) return text
  const end = length - mark.length
  const last = text.charCodeAt(end - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end) + mark
}

/** `2026-01-05 12:07`, in UTC. */
export function minuteText(instant: Instant): string {
  return new Date(instant).toISOString().slice(0, 16).replace('T', ' ')
}

/** `2026-01-05 12:07 UTC` */
export const timeText = (instant: Instant): string => `${minuteText(instant)} UTC`

/** Returns the names that a text does not contain as whole words (case-sensitive); null and empty ones are skipped. */
export function namesMissingIn(text: string, names: readonly (string | null | undefined)[]): string[] {
  return names.flatMap((name) => {
    if (!name) return []
    // `on Shop.` contains `Shop`; `shop.example`, `Shopping` and `Shop.example` do not.
    const before = String.raw`(?<![\p{L}\p{N}_.-])`
    const behind = String.raw`(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])`
    return new RegExp(`${before}${RegExp.escape(name)}${behind}`, 'u').test(text) ? [] : [name]
  })
}

/** `2,000` */
export const countText = (count: number): string => count.toLocaleString('en-US')

/** `1 event`, `2,000 events`. */
export const eventsText = (count: number): string => `${countText(count)} ${count === 1 ? 'event' : 'events'}`

const NAMED = 3

/** `a, b, c and 2 more`: the first three paths, and the number of the others. */
export function firstFew(paths: readonly string[]): string {
  const more = paths.length - NAMED
  return `${paths.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** A share, 0 to 1, with two significant digits: `0.0625` → `6.3 %`. */
export const shareText = (share: number): string => `${Number((share * 100).toPrecision(2))} %`
