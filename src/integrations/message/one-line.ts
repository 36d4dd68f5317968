import { cutText } from '../../core/text.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters looked for
const BREAKS = /[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g
/** They change the order in which a line is read: https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters */
const DIRECTIONS = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g

/**
 * Text of others made fit for a subject, a header or one line of a message: no control character, no line break, no
 * change of direction, at most `maxLength` UTF-16 units (the last is `…` when it was longer).
 */
export function oneLine(text: string, maxLength: number): string {
  return cutText(text.toWellFormed().replace(DIRECTIONS, '').replace(BREAKS, ' ').trim(), maxLength, '…')
}
