import { numberText } from '../../core/text.ts'
import { type Block, type Field, NO_EXTRAS, type Section, type Tone } from '../../mail/mail-document.ts'
import { renderMailHtml } from '../../mail/render-mail-html.ts'
import { hasChart } from './chart-png.ts'
import { chartMax, chartSpan, chartTitle } from './chart-text.ts'
import { assignmentText, type GroupSummary } from './grouped-message-text.ts'
import type { Message } from './message.ts'
import {
  COMPARED_TITLE,
  type ComparedRow,
  comparedRowsOf,
  ESCALATION,
  GOOD_TITLE,
  rowsOf,
  SAMPLE_TITLE,
  sampleRowsOf,
  shownValue,
  subjectOf,
  titleOf,
} from './message-text.ts'

interface MailHtmlOptions {
  /** Content-ID of the chart image. Null omits the chart. */
  chartId: string | null
}

/** Labels of rows that are rendered outside the table of facts. */
const NUMBERS = ['Expected', 'Observed']
const WHY = [ESCALATION, 'Probable cause', 'Change']
const FOOT = ['Open now', 'Held back']
const SEVERITY = ['Severity']

/** Renders the message as an HTML page without external resources. The chart is attached to the e-mail. */
export function htmlOf(message: Message, { chartId }: MailHtmlOptions = { chartId: null }): string {
  const { kind, issue, sentence, url } = message
  const tone = toneOf(message)
  const word = kind === 'resolved' ? kind : (issue?.severity ?? '')
  const rows = rowsOf(message)
  const among = (labels: readonly string[]) => rows.filter(([label]) => labels.includes(label))
  const preview = among([...NUMBERS, 'Since']).map(([label, text]) => `${label} ${text}`)
  const figures = among(NUMBERS).map(([label, value]) => {
    const isWrong = label === 'Observed' && kind !== 'resolved'
    return { label, value, note: '', tone: isWrong ? ('bad' as const) : ('plain' as const) }
  })
  const why = among(WHY)
  const facts = rows.filter(([label]) => ![...NUMBERS, ...WHY, ...FOOT, ...SEVERITY].includes(label))
  const untitled = (...blocks: Block[]) => ({ title: '', blocks })
  return renderMailHtml({
    ...NO_EXTRAS,
    subject: subjectOf(message),
    preview: preview.length > 0 ? preview.join(' · ') : sentence,
    badge: word === '' ? null : { text: word, tone },
    kicker: titleOf(message),
    headline: sentence,
    tone,
    sections: [
      ...(figures.length > 0 ? [untitled({ kind: 'figures', figures })] : []),
      ...(why.length > 0 ? [untitled({ kind: 'callout', facts: why })] : []),
      ...(chartId !== null && hasChart(message) ? [chartSection(message, chartId)] : []),
      ...(facts.length > 0 ? [untitled({ kind: 'facts', facts })] : []),
      ...eventSections(message),
    ],
    button: { text: issue ? 'View issue' : 'Open Tagwarden', url },
    notes: notesOf(message, among(FOOT)),
  })
}

/** Colour for the severity of a message. */
function toneOf({ kind, issue }: Message): Tone {
  if (kind === 'resolved') return 'good'
  if (!issue || issue.severity === 'low') return 'plain'
  return issue.severity === 'medium' ? 'warn' : 'bad'
}

function chartSection(message: Message, imageId: string): Section<Block> {
  const [title, span, most] = [chartTitle(message), chartSpan(message), numberText(chartMax(message))]
  const isExpected = message.series?.some(({ expected }) => (expected ?? 0) > 0)
  const legend = `Red: since the issue began. ${isExpected ? 'Grey: expected. ' : ''}Highest: ${most}.`
  const text = `${title}, ${span}. Highest: ${most}.`
  return { title, blocks: [{ kind: 'chart', imageId, text, caption: `${span}. ${legend}` }] }
}

/** The violating and the valid event side by side, or the one of them that is known. Empty without events. */
function eventSections(message: Message): Section<Block>[] {
  const compared = comparedRowsOf(message)
  if (compared.length > 0) {
    const fields = compared.map(comparedField)
    return [{ title: COMPARED_TITLE, blocks: [{ kind: 'event', head: ['Violating', 'Valid'], fields }] }]
  }
  const [title, sample] = message.sample ? [SAMPLE_TITLE, message.sample] : [GOOD_TITLE, message.goodSample]
  const fields = sampleRowsOf({ ...message, sample }).map(([key, value]) => fieldOf(key, [value]))
  return fields.length > 0 ? [{ title, blocks: [{ kind: 'event', head: null, fields }] }] : []
}

const comparedField = ({ key, bad, good, isMarked }: ComparedRow): Field => ({
  ...fieldOf(key, bad === good ? [bad] : [bad, good]),
  isMarked,
})

/** Shows the key without its `params.` prefix, as in rules. */
function fieldOf(key: string, values: readonly (string | null)[]): Field {
  const shown = values.map((value) => ({ text: shownValue(value), isPlaceholder: value === null || value === '' }))
  return { name: key.replace(/^params\./, ''), isMarked: false, values: shown }
}

function notesOf({ kind, alert, escalation }: Message, rows: readonly (readonly [string, string])[]): string[] {
  const facts = rows.map(([label, text]) => `${label}: ${text}.`)
  if (kind === 'delivery_failed')
    facts.push('Undelivered notifications are reported to the owners and to another channel of the alert.')
  else if (escalation) facts.push('You are receiving this because nobody acknowledged the issue in time.')
  else if (kind === 'assigned') facts.push('You are receiving this because the issue was assigned to you.')
  else if (kind === 'mentioned') facts.push('You are receiving this because you were mentioned in a comment.')
  else if (alert)
    facts.push(`You are receiving this because the alert “${alert.name}” sends notifications to this address.`)
  return facts.length > 0 ? [facts.join(' ')] : []
}

/** Renders a group of openings as one HTML page without external resources, with one item per listed issue. */
export function groupHtml({ subject, sentence, named, rest }: GroupSummary): string {
  const items = named.map((message) => {
    const { issue, domain, vendor, event, sentence: title, url } = message
    const badge = issue && { text: issue.severity, tone: toneOf(message) }
    const note = [domain?.name, vendor, event, assignmentText(message)].filter((part) => part).join(' · ')
    return { title, badge, note, lines: [], rows: [], url }
  })
  const all = listUrl(named)
  return renderMailHtml({
    ...NO_EXTRAS,
    subject,
    preview: named
      .slice(0, 3)
      .map(({ issue, sentence }) => issue?.title ?? sentence)
      .join(' · '),
    headline: sentence,
    sections: [{ title: '', blocks: [{ kind: 'items', items, more: rest ? `… ${rest}.` : '' }] }],
    button: all === null ? null : { text: 'View issues', url: all },
    notes: ['Issues that open within 30 seconds of each other are sent as one e-mail.'],
  })
}

/** URL of the issue list. Null if the first message has no issue URL. */
function listUrl([first]: readonly Message[]): string | null {
  const at = first?.url.lastIndexOf('/issues/') ?? -1
  return first && at >= 0 ? first.url.slice(0, at + 1) : null
}
