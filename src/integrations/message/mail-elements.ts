import { escapeHtml } from '../../core/text.ts'
import { type ThemeClass, themed } from './mail-theme.ts'
import type { Message } from './message.ts'

/** Styles for a label above a value, and for external text, which may contain no break opportunities. */
export const LABEL = 'margin:0;font-size:13px;font-weight:600'
export const WRAP = 'overflow-wrap:anywhere;word-break:break-word'

/** Heading of a section. */
export const heading = (text: string): string =>
  `<h2 ${themed('ink', 'margin:28px 0 8px;font-size:14px;line-height:1.4;font-weight:700')}>${escapeHtml(text)}</h2>\n`

/** Button link, followed by its URL in plain text. */
export function buttonOf(url: string, text: string): string {
  const address = escapeHtml(url)
  return `<p style="margin:28px 0 0"><a href="${address}" ${themed('button', 'display:inline-block;padding:11px 22px;border-radius:8px;font-weight:700;text-decoration:none')}>${text}</a></p>
<p ${themed('muted', `margin:12px 0 0;font-size:13px;${WRAP}`)}>${address}</p>
`
}

/** Label on a background in the colour of the message's severity. */
export function pill(message: Message, word: string): string {
  const style =
    'display:inline-block;padding:2px 10px;border-radius:999px;font-size:12px;line-height:1.5;font-weight:700;white-space:nowrap'
  return `<span ${themed(toneOf(message), style)}>${word}</span>`
}

/** Colour class for the severity of a message. */
export function toneOf({ kind, issue }: Message): ThemeClass {
  if (kind === 'resolved') return 'good'
  if (!issue || issue.severity === 'low') return 'soft'
  return issue.severity === 'medium' ? 'warn' : 'bad'
}
