import { escapeHtml, type ThemeClass, themed } from './mail-theme.ts'
import type { Message } from './message.ts'

/** Styles of what stands over a value, and of text of others, which may have no place to break. */
export const LABEL = 'margin:0;font-size:13px;font-weight:600'
export const WRAP = 'overflow-wrap:anywhere;word-break:break-word'

/** Over a part of a mail. */
export const heading = (text: string): string =>
  `<h2 ${themed('ink', 'margin:28px 0 8px;font-size:14px;line-height:1.4;font-weight:700')}>${escapeHtml(text)}</h2>\n`

/** A link that looks like a button, and the same address to be read. */
export function buttonOf(url: string, text: string): string {
  const address = escapeHtml(url)
  return `<p style="margin:28px 0 0"><a href="${address}" ${themed('button', 'display:inline-block;padding:11px 22px;border-radius:8px;font-weight:700;text-decoration:none')}>${text}</a></p>
<p ${themed('muted', `margin:12px 0 0;font-size:13px;${WRAP}`)}>${address}</p>
`
}

/** A word on the colour of how grave a message is. */
export function pill(message: Message, word: string): string {
  const style =
    'display:inline-block;padding:2px 10px;border-radius:999px;font-size:12px;line-height:1.5;font-weight:700;white-space:nowrap'
  return `<span ${themed(toneOf(message), style)}>${word}</span>`
}

/** The colour of how grave a message is. */
export function toneOf({ kind, issue }: Message): ThemeClass {
  if (kind === 'resolved') return 'good'
  if (!issue || issue.severity === 'low') return 'soft'
  return issue.severity === 'medium' ? 'warn' : 'bad'
}
