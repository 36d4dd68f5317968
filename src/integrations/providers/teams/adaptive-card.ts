import { capitalized, cutText } from '../../../core/text.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import { hasChart } from '../../message/chart-png.ts'
import { chartSpan, chartTitle, sparkline } from '../../message/chart-text.ts'
import { assignmentText, type GroupSummary } from '../../message/grouped-message-text.ts'
import type { Message } from '../../message/message.ts'
import {
  COMPARED_TITLE,
  type ComparedRow,
  comparedRowsOf,
  GOOD_TITLE,
  type MessageRow,
  rowsOf,
  SAMPLE_TITLE,
  sampleRowsOf,
  shownValue,
  subjectOf,
} from '../../message/message-text.ts'

/**
 * Maximum size of a Teams message in bytes:
 * https://learn.microsoft.com/microsoftteams/platform/bots/how-to/format-your-bot-messages
 */
export const MAX_BYTES = 28_672

/** A message with a card, for bots and workflows. */
export interface CardMessage {
  type: 'message'
  /** Text shown in notifications. */
  summary: string
  attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive'; contentUrl: null; content: object }]
}

/** Maximum lengths of texts in UTF-16 code units, and maximum numbers of rows in lists. */
export interface SizeLimits {
  text: number
  sample: number
  rows: number
}

/** Limits that are tried in order until a message fits. Every message fits with the last limits. */
const SIZE_LIMITS: readonly SizeLimits[] = [
  { text: 1000, sample: 300, rows: 30 },
  { text: 500, sample: 120, rows: 30 },
  { text: 300, sample: 80, rows: 15 },
  { text: 120, sample: 50, rows: 8 },
  { text: 50, sample: 0, rows: 0 },
]

/** Returns the JSON of the largest card that fits into a message. */
export function fitCard(make: (cut: SizeLimits) => object): string {
  let text = ''
  for (const cut of SIZE_LIMITS) {
    text = JSON.stringify(make(cut))
    if (Buffer.byteLength(text) <= MAX_BYTES) break
  }
  return text
}

/**
 * Escapes untrusted text so that a card shows it literally. Markdown, dates (`{{DATE(…)}}`), entities and mentions are
 * not interpreted. https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features
 */
export function escapeCardText(text: string): string {
  return text
    .replace(/[\\`*_~[\]<>&{]/g, String.raw`\$&`)
    .replace(/^([-+]|#+)(?=\s|$)/, String.raw`\$1`)
    .replace(/^(\d+)([.)])(?=\s|$)/, String.raw`$1\$2`)
}

/** Removes characters that may be mark-up, because notifications do not support escapes. */
const withoutMarkup = (text: string) => text.replaceAll(/[<>&{}]/g, ' ')

type Block = Record<string, unknown>

const textBlock = (text: string, more: Block = {}): Block => ({ type: 'TextBlock', text, wrap: true, ...more })

function facts(rows: readonly MessageRow[], most: number): Block[] {
  if (rows.length === 0) return []
  const shown = rows.map(([title, value]) => ({
    title: escapeCardText(cutText(title, most, '…')),
    value: escapeCardText(cutText(value, most, '…')),
  }))
  return [{ type: 'FactSet', facts: shown }]
}

/** The violating event. If a valid event is known as well, both are compared and differences are marked. */
function sampleBlocks(message: Message, cut: SizeLimits): Block[] {
  const compared = comparedRowsOf(message)
  const [title, sample] = message.sample ? [SAMPLE_TITLE, message.sample] : [GOOD_TITLE, message.goodSample]
  const rows = compared.length > 0 ? compared.map(comparedRow) : sampleRowsOf({ ...message, sample })
  const shown = rows.slice(0, cut.rows)
  if (shown.length === 0) return []
  const left = rows.length - shown.length
  const more = left > 0 ? [textBlock(`and ${left} more`, { isSubtle: true, spacing: 'None' })] : []
  const heading = textBlock(compared.length > 0 ? COMPARED_TITLE : title, { weight: 'Bolder', separator: true })
  return [heading, ...facts(shown, cut.sample), ...more]
}

const comparedRow = ({ key, bad, good, isMarked }: ComparedRow): MessageRow => [
  isMarked ? `! ${key}` : key,
  bad === good ? shownValue(bad) : `${shownValue(bad)} (valid: ${shownValue(good)})`,
]

function chartBlocks(message: Message, cut: SizeLimits): Block[] {
  if (cut.rows === 0 || !hasChart(message)) return []
  return [
    textBlock(`${chartTitle(message)}, ${chartSpan(message)}`, { isSubtle: true, separator: true }),
    textBlock(sparkline(message), { fontType: 'Monospace', spacing: 'None' }),
  ]
}

const COLORS: Record<IssueStatus, string> = {
  open: 'Attention',
  acknowledged: 'Warning',
  resolved: 'Good',
  muted: 'Default',
}

/** Text for the current status: `Acknowledged by Ann`. */
function statusText(status: IssueStatus, by: string | null): string {
  const word = capitalized(status)
  return escapeCardText(by === null ? word : `${word} by ${by}`)
}

function envelope(subject: string, body: Block[], link: { title: string; url: string } | null): CardMessage {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body,
    actions: link ? [{ type: 'Action.OpenUrl', ...link }] : [],
  }
  return {
    type: 'message',
    summary: withoutMarkup(subject),
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  }
}

const TITLE: Block = { size: 'Medium', weight: 'Bolder' }

/** @param by Display name of the user who set the current status. Null if it was set automatically. */
export function cardOf(message: Message, cut: SizeLimits, by: string | null = null): CardMessage {
  const { issue, sentence, url } = message
  const subject = cutText(subjectOf(message), cut.text, '…')
  const body = [
    textBlock(escapeCardText(subject), { ...TITLE, ...(issue ? { color: COLORS[issue.status] } : {}) }),
    ...(issue && issue.status !== 'open' ? [textBlock(statusText(issue.status, by), { weight: 'Bolder' })] : []),
    textBlock(escapeCardText(cutText(sentence, cut.text, '…'))),
    ...facts(rowsOf(message), cut.text),
    ...chartBlocks(message, cut),
    ...sampleBlocks(message, cut),
  ]
  return envelope(subject, body, { title: issue ? 'View issue' : 'Open Tagwarden', url })
}

/** A card about issues that opened together. Each listed issue has a line with its current status. */
export function groupCardOf({ subject, sentence, named, rest }: GroupSummary, cut: SizeLimits): CardMessage {
  const lines = named.map((message) => {
    const { issue, sentence, url } = message
    const assignment = assignmentText(message)
    const state = issue && issue.status !== 'open' ? `**${statusText(issue.status, issue.resolvedBy)}** ` : ''
    const text = escapeCardText(
      cutText(`${issue ? `[${issue.severity}] ` : ''}${sentence}`, Math.min(cut.text, 300), '…'),
    )
    return textBlock(`${state}${text} ${assignment ? `(${escapeCardText(assignment)}) ` : ''}[Open](${url})`, {
      spacing: 'Small',
    })
  })
  const title = cutText(subject, cut.text, '…')
  const body = [textBlock(escapeCardText(title), TITLE), textBlock(sentence), ...lines]
  if (rest !== null) body.push(textBlock(rest, { isSubtle: true }))
  const [first] = named
  return envelope(title, body, first ? { title: 'View issues', url: first.url.replace(/\/[^/]*$/, '') } : null)
}

/** A short card with a title and a text. */
export function noteCard(title: string, text: string, url: string | null): CardMessage {
  const link = url === null ? null : { title: 'View issue', url }
  return envelope(title, [textBlock(escapeCardText(title), TITLE), textBlock(escapeCardText(text))], link)
}
