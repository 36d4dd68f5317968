import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { html, type Part } from '../../core/html.ts'

/** Renders text, with the parts between backticks as code. */
export function prose(text: string): Part {
  return text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))
}

/** Formats a duration: `1 min 5 s`, `0.4 s`. */
export function durationText(ms: number): string {
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(1)} s`
  const seconds = Math.round(ms / SECOND_MS)
  const minutes = Math.floor((seconds * SECOND_MS) / MINUTE_MS)
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`
}
