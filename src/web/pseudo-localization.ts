import type { Messages } from './messages.ts'

/** Added length: about 40 %, as in translations. */
const LONGER = 0.4
const ACCENTS: Readonly<Record<string, string>> = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú', A: 'Á', E: 'É', O: 'Ó' }

/** Converts `Save` to `[Sávé~~]`, which reveals untranslated texts and layouts that cut off longer ones. */
export function pseudoText(text: string): string {
  if (text.trim() === '') return text
  const accented = text.replace(/[aeiouAEO]/g, (letter) => ACCENTS[letter] ?? letter)
  return `[${accented}${'~'.repeat(Math.ceil(text.length * LONGER))}]`
}

/** Returns the messages in the pseudo-language. */
export const pseudo = (words: Messages): Messages => translate(words) as Messages

function translate(value: unknown): unknown {
  if (typeof value === 'string') return pseudoText(value)
  if (typeof value === 'function') return (...given: unknown[]) => translate(value(...given))
  if (Array.isArray(value)) return value.map(translate)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, translate(inner)]))
  }
  return value
}
