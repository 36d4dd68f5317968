import { capitalized, cutText } from '../../../core/text.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import { hasChart } from '../../message/chart.ts'
import { chartSpan, chartTitle, sparkline } from '../../message/chart-text.ts'
import type { GroupSummary } from '../../message/group-text.ts'
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

/** Teams takes no more of a message: https://learn.microsoft.com/microsoftteams/platform/bots/how-to/format-your-bot-messages */
export const MAX_BYTES = 28_672

/** A message with a card, as bots and workflows send it. */
export interface CardMessage {
  type: 'message'
  /** What notifications show. */
  summary: string
  attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive'; contentUrl: null; content: object }]
}

/** How much of each text and list is shown, in UTF-16 units and rows. */
export interface Cut {
  text: number
  sample: number
  rows: number
}

/** The next one is taken where a message would be too long; the last fits whatever there is. */
const CUTS: readonly Cut[] = [
  { text: 1000, sample: 300, rows: 30 },
  { text: 500, sample: 120, rows: 30 },
  { text: 300, sample: 80, rows: 15 },
  { text: 120, sample: 50, rows: 8 },
  { text: 50, sample: 0, rows: 0 },
]

/** The longest JSON that fits. `make` gets what to cut. */
export function fitting(make: (cut: Cut) => object): string {
  let text = ''
  for (const cut of CUTS) {
    text = JSON.stringify(make(cut))
    if (Buffer.byteLength(text) <= MAX_BYTES) break
  }
  return text
}

/**
 * Text of others so that a card shows it letter by letter: without Markdown, dates (`{{DATE(…)}}`), entities and mentions.
 * https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features
 */
export function plain(text: string): string {
  return text
    .replace(/[\\`*_~[\]<>&{]/g, String.raw`\$&`)
    .replace(/^([-+]|#+)(?=\s|$)/, String.raw`\$1`)
    .replace(/^(\d+)([.)])(?=\s|$)/, String.raw`$1\$2`)
}

/** In one line and without what could be markup: notifications know no escapes. */
const bare = (text: string) => text.replaceAll(/[<>&{}]/g, ' ')

type Block = Record<string, unknown>

const textBlock = (text: string, more: Block = {}): Block => ({ type: 'TextBlock', text, wrap: true, ...more })

function facts(rows: readonly MessageRow[], most: number): Block[] {
  if (rows.length === 0) return []
  const shown = rows.map(([title, value]) => ({
    title: plain(cutText(title, most, '…')),
    value: plain(cutText(value, most, '…')),
  }))
  return [{ type: 'FactSet', facts: shown }]
}

/** The bad event beside a good one where both are known; what matters is marked. */
function sampleBlocks(message: Message, cut: Cut): Block[] {
  const compared = comparedRowsOf(message)
  const [title, sample] = message.sample ? [SAMPLE_TITLE, message.sample] : [GOOD_TITLE, message.goodSample]
  const rows = compared.length > 0 ? compared.map(comparedRow) : sampleRowsOf({ sample })
  const shown = rows.slice(0, cut.rows)
  if (shown.length === 0) return []
  const left = rows.length - shown.length
  const more = left > 0 ? [textBlock(`and ${left} more`, { isSubtle: true, spacing: 'None' })] : []
  const heading = textBlock(compared.length > 0 ? COMPARED_TITLE : title, { weight: 'Bolder', separator: true })
  return [heading, ...facts(shown, cut.sample), ...more]
}

const comparedRow = ({ key, bad, good, isMarked }: ComparedRow): MessageRow => [
  isMarked ? `! ${key}` : key,
  bad === good ? shownValue(bad) : `${shownValue(bad)} (good: ${shownValue(good)})`,
]

function chartBlocks(message: Message, cut: Cut): Block[] {
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

/** `Acknowledged by Ann` */
function stateText(status: IssueStatus, by: string | null): string {
  const word = capitalized(status)
  return plain(by === null ? word : `${word} by ${by}`)
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
    summary: bare(subject),
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  }
}

const TITLE: Block = { size: 'Medium', weight: 'Bolder' }

/** @param by who gave the issue its present state by hand; null when nobody did. */
export function cardOf(message: Message, cut: Cut, by: string | null = null): CardMessage {
  const { issue, sentence, url } = message
  const subject = cutText(subjectOf(message), cut.text, '…')
  const body = [
    textBlock(plain(subject), { ...TITLE, ...(issue ? { color: COLORS[issue.status] } : {}) }),
    ...(issue && issue.status !== 'open' ? [textBlock(stateText(issue.status, by), { weight: 'Bolder' })] : []),
    textBlock(plain(cutText(sentence, cut.text, '…'))),
    ...facts(rowsOf(message), cut.text),
    ...chartBlocks(message, cut),
    ...sampleBlocks(message, cut),
  ]
  return envelope(subject, body, { title: issue ? 'Open the issue' : 'Open Tagwarden', url })
}

/** Issues that opened together, as they stand now: each that is named in a line. */
export function groupCardOf({ subject, sentence, named, rest }: GroupSummary, cut: Cut): CardMessage {
  const lines = named.map(({ issue, sentence, url }) => {
    const state = issue && issue.status !== 'open' ? `**${stateText(issue.status, issue.resolvedBy)}** ` : ''
    const text = plain(cutText(`${issue ? `[${issue.severity}] ` : ''}${sentence}`, Math.min(cut.text, 300), '…'))
    return textBlock(`${state}${text} [Open](${url})`, { spacing: 'Small' })
  })
  const title = cutText(subject, cut.text, '…')
  const body = [textBlock(plain(title), TITLE), textBlock(sentence), ...lines]
  if (rest !== null) body.push(textBlock(rest, { isSubtle: true }))
  const [first] = named
  return envelope(title, body, first ? { title: 'Open the issues', url: first.url.replace(/\/[^/]*$/, '') } : null)
}

/** A line or two that are ours. */
export function noteCard(title: string, text: string, url: string | null): CardMessage {
  const link = url === null ? null : { title: 'Open the issue', url }
  return envelope(title, [textBlock(plain(title), TITLE), textBlock(plain(text))], link)
}
