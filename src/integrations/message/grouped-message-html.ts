import { escapeHtml } from '../../core/text.ts'
import type { GroupSummary } from './grouped-message-text.ts'
import { buttonOf, pill, WRAP } from './mail-elements.ts'
import { LAYOUT, mailPage, themed } from './mail-theme.ts'
import type { Message } from './message.ts'

/** Renders a group of openings as one HTML page without external resources, with one row per listed issue. */
export function groupHtml({ subject, sentence, named, rest }: GroupSummary): string {
  const all = listUrl(named)
  return mailPage({
    title: subject,
    preview: named
      .slice(0, 3)
      .map(({ issue, sentence }) => issue?.title ?? sentence)
      .join(' · '),
    above: `<span ${themed('ink', 'font-weight:700;letter-spacing:.01em')}>Tagwarden</span>`,
    body: [
      `<h1 ${themed('ink', 'margin:0 0 16px;font-size:20px;line-height:1.4;font-weight:700')}>${escapeHtml(sentence)}</h1>\n`,
      `<table ${LAYOUT} style="table-layout:fixed">\n${named.map(rowOf).join('\n')}\n</table>\n`,
      rest ? `<p ${themed('muted', 'margin:12px 0 0;font-weight:600')}>… ${escapeHtml(rest)}.</p>\n` : '',
      all ? buttonOf(all, 'View issues') : '',
    ].join(''),
    below: 'Issues that open within 30 seconds of each other are sent as one e-mail.',
  })
}

function rowOf(message: Message): string {
  const { issue, domain, vendor, event, sentence, url } = message
  const place = [domain?.name, vendor, event].filter((part) => part).join(' · ')
  const link = `<a href="${escapeHtml(url)}" ${themed('ink', 'font-weight:600;text-decoration:none')}>${escapeHtml(sentence)}</a>`
  const below = place ? `<p ${themed('muted', `margin:2px 0 0;font-size:13px;${WRAP}`)}>${escapeHtml(place)}</p>` : ''
  return `<tr><td ${themed('line', `padding:12px 0;border-top:1px solid;border-color:#e2e5e9;${WRAP}`)}>
<p style="margin:0 0 4px">${issue ? pill(message, issue.severity) : ''}</p>${link}${below}</td></tr>`
}

/** URL of the issue list. Null if the first message has no issue URL. */
function listUrl([first]: readonly Message[]): string | null {
  const at = first?.url.lastIndexOf('/issues/') ?? -1
  return first && at >= 0 ? first.url.slice(0, at + 1) : null
}
