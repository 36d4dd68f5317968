import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { escapeHtml } from '../../core/text.ts'

/** Trusted HTML, inserted without escaping. */
export class Html {
  constructor(readonly text: string) {}
}

/** Value in a template. Strings are escaped, lists are joined, null and false are omitted. */
export type Part = Html | string | number | null | false | readonly Part[]

/** Template tag for HTML. Strings are escaped for content and quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((text, at) => text + textOf(parts[at] ?? null)).join(''))
}

/** Renders text, with the parts between backticks as code. */
export function prose(text: string): Part {
  return text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))
}

function textOf(part: Part): string {
  if (part === null || part === false) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(textOf).join('')
  return escapeHtml(String(part))
}

/** Formats a duration: `1 min 5 s`, `0.4 s`. */
export function durationText(ms: number): string {
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(1)} s`
  const seconds = Math.round(ms / SECOND_MS)
  const minutes = Math.floor((seconds * SECOND_MS) / MINUTE_MS)
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`
}
