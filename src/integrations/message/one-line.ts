import { cutText } from '../../core/text.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters looked for
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
