import { escapeHtml, numberText } from '../../core/text.ts'
import { hasChart } from './chart-png.ts'
import { chartMax, chartSpan, chartTitle } from './chart-text.ts'
import { buttonOf, heading, LABEL, pill, toneOf, WRAP } from './mail-elements.ts'
import { LAYOUT, mailPage, type ThemeClass, themed } from './mail-theme.ts'
import type { Message } from './message.ts'
import { KIND_TITLES, type MessageRow, rowsOf, subjectOf } from './message-text.ts'
import { samplesOf } from './sample-html.ts'

interface MailHtmlOptions {
  /** Content-ID of the chart image. Null omits the chart. */
  chartId: string | null
}

/** Labels of rows that are rendered outside the table of facts. */
const NUMBERS = ['Expected', 'Observed']
const WHY = ['Probable cause', 'Change']
const FOOT = ['Open now', 'Held back']
const SEVERITY = ['Severity']

/** Renders the message as an HTML page without external resources. The chart is attached to the e-mail. */
export function htmlOf(message: Message, { chartId }: MailHtmlOptions = { chartId: null }): string {
  const { issue, sentence, url } = message
  const rows = rowsOf(message)
  const among = (labels: readonly string[]) => rows.filter(([label]) => labels.includes(label))
  const facts = rows.filter(([label]) => ![...NUMBERS, ...WHY, ...FOOT, ...SEVERITY].includes(label))
  const preview = among([...NUMBERS, 'Since']).map(([label, text]) => `${label} ${text}`)
  return mailPage({
    title: subjectOf(message),
    preview: preview.length > 0 ? preview.join(' · ') : sentence,
    above: headOf(message),
    body: [
      titleOf(message),
      numbersOf(message, among(NUMBERS)),
      whyOf(among(WHY)),
      chartId !== null && hasChart(message) ? chartPart(message, chartId) : '',
      factsOf(facts),
      samplesOf(message),
      buttonOf(url, issue ? 'View issue' : 'Open Tagwarden'),
    ].join(''),
    below: footOf(message, among(FOOT)),
  })
}

/** Renders the product name and the severity. */
function headOf(message: Message): string {
  const { issue, kind } = message
  const word = kind === 'resolved' ? kind : (issue?.severity ?? '')
  return `<table ${LAYOUT}><tr>
<td ${themed('ink', 'font-weight:700;letter-spacing:.01em')}>Tagwarden</td>
<td align="right">${word === '' ? '' : pill(message, word)}</td>
</tr></table>`
}

const INK: Partial<Record<ThemeClass, ThemeClass>> = { good: 'goodInk', warn: 'warnInk', bad: 'badInk' }

function titleOf(message: Message): string {
  const { kind, sentence } = message
  const ink = INK[toneOf(message)] ?? 'muted'
  return `<p ${themed(ink, 'margin:0;font-size:14px;font-weight:700')}>${KIND_TITLES[kind]}</p>
<h1 ${themed('ink', 'margin:4px 0 0;font-size:20px;line-height:1.4;font-weight:700;overflow-wrap:anywhere;word-break:break-word')}>${escapeHtml(sentence)}</h1>
`
}

function numbersOf({ kind }: Message, rows: readonly MessageRow[]): string {
  if (rows.length === 0) return ''
  const cells = rows.map(([label, text]) => {
    const ink = label === 'Observed' && kind !== 'resolved' ? 'badInk' : 'ink'
    return `<td valign="top" width="${100 / rows.length}%" style="padding:12px 16px">
<p ${themed('muted', LABEL)}>${label}</p><p ${themed(ink, `margin:0;font-size:18px;line-height:1.4;font-weight:700;${WRAP}`)}>${escapeHtml(text)}</p></td>`
  })
  return `<table ${LAYOUT} ${themed('soft', 'margin-top:20px;border-radius:8px;table-layout:fixed')}><tr>
${cells.join('\n')}
</tr></table>
`
}

function whyOf(rows: readonly MessageRow[]): string {
  if (rows.length === 0) return ''
  const parts = rows.map(
    ([label, text], index) =>
      `<p ${themed('muted', `${LABEL}${index > 0 ? ';padding-top:8px' : ''}`)}>${label}</p><p ${themed('ink', `margin:0;${WRAP}`)}>${escapeHtml(text)}</p>`,
  )
  return `<table ${LAYOUT} style="margin-top:16px"><tr><td ${themed('warnInk', 'padding:2px 0 2px 14px;border-left:3px solid')}>
${parts.join('\n')}
</td></tr></table>
`
}

function chartPart(message: Message, chartId: string): string {
  const most = numberText(chartMax(message))
  const isExpected = message.series?.some(({ expected }) => (expected ?? 0) > 0)
  const text = `${chartTitle(message)}, ${chartSpan(message)}. Highest: ${most}.`
  const legend = `Red: since the issue began. ${isExpected ? 'Grey: expected. ' : ''}Highest: ${most}.`
  return `${heading(chartTitle(message))}<img src="cid:${escapeHtml(chartId)}" width="592" height="128" alt="${escapeHtml(text)}" style="display:block;width:100%;height:auto;border:0">
<p ${themed('muted', 'margin:6px 0 0;font-size:13px')}>${chartSpan(message)}. ${legend}</p>
`
}

function factsOf(rows: readonly MessageRow[]): string {
  if (rows.length === 0) return ''
  const cell =
    'padding:7px 0;border-top:1px solid;border-color:#e2e5e9;text-align:left;vertical-align:top;font-weight:400'
  const cells = rows.map(
    ([label, text]) =>
      `<tr><th ${themed('line', `${cell};width:30%`)}><span ${themed('muted', 'padding-right:12px')}>${label}</span></th><td dir="auto" ${themed('line', `${cell};${WRAP}`)}>${escapeHtml(text)}</td></tr>`,
  )
  return `<table width="100%" cellpadding="0" cellspacing="0" style="margin-top:24px;table-layout:fixed">
${cells.join('\n')}
</table>
`
}

function footOf({ kind, alert }: Message, rows: readonly MessageRow[]): string {
  const said = rows.map(([label, text]) => `${label}: ${text}.`)
  if (kind === 'delivery_failed')
    said.push('Undelivered notifications are reported to the owners and to another channel of the alert.')
  else if (alert)
    said.push(`You are receiving this because the alert “${alert.name}” sends notifications to this address.`)
  return escapeHtml(said.join(' '))
}
