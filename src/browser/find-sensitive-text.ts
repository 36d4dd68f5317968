import type { Span } from '../conditions/find-email-addresses.ts'
import { exactSpans, personalSpans } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { secretPattern } from './secret-mask.ts'

/** The displayed text of a text node or a field. */
export interface Piece {
  text: string
  /** Name of the field, which determines whether its digits may be a phone number. Empty for other texts. */
  key: string
  /** True for the first text of a line or block, and for a field. */
  startsLine: boolean
  isField: boolean
}

/** A part of a piece. `start` is inclusive, and `end` is exclusive. */
export interface HiddenPart extends Span {
  /** Index of the piece. */
  piece: number
}

/** Returns the parts of a page's texts that must be covered. */
export type FindHidden = (pieces: readonly Piece[]) => HiddenPart[]

/**
 * Maximum number of characters that are searched. Texts beyond that are covered completely, because searching them
 * would take too long.
 */
const MAX_CHARACTERS = 300_000
/** Maximum number of texts with cached results. */
const MAX_KNOWN = 20_000

/**
 * Returns a function that finds secrets and personal data in a page. It also finds data that is split across
 * consecutive texts or fields, such as a card number in groups.
 */
export function hiddenIn({ secrets, privacy }: { secrets: readonly string[]; privacy: Privacy }): FindHidden {
  const pattern = secretPattern(secrets)
  const secretSpans = (text: string): Span[] =>
    pattern
      ? [...text.matchAll(pattern)].map(({ 0: found, index }) => ({ start: index, end: index + found.length }))
      : []
  const known = new Map<string, readonly Span[]>()
  // Cached because the same texts are searched before and after each screenshot, and searching for phone numbers is
  // slow.
  const personal = (text: string, key = ''): readonly Span[] => {
    const place = `${key}\n${text}`
    const spans = known.get(place) ?? personalSpans(text, key, privacy)
    if (known.size > MAX_KNOWN) known.clear()
    known.set(place, spans)
    return spans
  }
  const whole = (text: string) => [...secretSpans(text), ...personal(text)]
  // Only secrets and exact formats are searched for, because adjacent digits in unrelated texts would look like phone
  // numbers.
  const exact = (text: string) => [...secretSpans(text), ...exactSpans(text, privacy)]
  return (pieces) => {
    const { short, long } = withinLimit(pieces)
    const lines = linesOf(short).filter((line) => line.length > 1)
    const fields = short.filter(({ isField }) => isField)
    const parts = [
      ...long.map(({ text, piece }) => ({ piece, start: 0, end: text.length })),
      ...short.flatMap((one) => partsIn([one], '', (text) => [...secretSpans(text), ...personal(text, one.key)])),
      ...lines.flatMap((line) => partsIn(line, '', whole)),
      ...[short, fields].flatMap((row) => partsIn(row, '', exact)),
      // Groups that are separated only visually.
      ...partsIn(short, ' ', exact),
    ]
    return [...new Map(parts.map((part) => [`${part.piece} ${part.start} ${part.end}`, part])).values()]
  }
}

type Numbered = Piece & { piece: number }

function withinLimit(pieces: readonly Piece[]): { short: Numbered[]; long: Numbered[] } {
  const [short, long]: [Numbered[], Numbered[]] = [[], []]
  let characters = 0
  for (const [piece, one] of pieces.entries()) {
    characters += one.text.length
    ;(characters > MAX_CHARACTERS ? long : short).push({ ...one, piece })
  }
  return { short, long }
}

function linesOf(pieces: readonly Numbered[]): Numbered[][] {
  const lines: Numbered[][] = []
  for (const one of pieces) {
    const line = lines.at(-1)
    if (line && !one.startsLine) line.push(one)
    else lines.push([one])
  }
  return lines
}

/** Returns the matches of `find` in the texts joined by `gap`, mapped to parts of the pieces. */
function partsIn(pieces: readonly Numbered[], gap: string, find: (text: string) => readonly Span[]): HiddenPart[] {
  const starts: number[] = []
  let all = ''
  for (const { text } of pieces) {
    starts.push(all.length)
    all += text + gap
  }
  return find(all).flatMap((span) => {
    const parts: HiddenPart[] = []
    for (let at = lastAtOrBefore(starts, span.start); at < pieces.length && (starts[at] ?? 0) < span.end; at++) {
      const [{ piece, text }, from] = [pieces[at] as Numbered, starts[at] ?? 0]
      const [start, end] = [Math.max(0, span.start - from), Math.min(text.length, span.end - from)]
      if (start < end) parts.push({ piece, start, end })
    }
    return parts
  })
}

/** Returns the index of the last number that is less than or equal to `value`. */
function lastAtOrBefore(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) <= value) low = middle
    else high = middle
  }
  return low
}
