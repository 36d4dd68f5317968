import { escapedLine } from '../../../core/text.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import { assignmentText, MAX_NAMED, summarizeGroup } from '../../message/grouped-message-text.ts'
import type { Message } from '../../message/message.ts'
import { type MessageRow, rowsOf, type TextBlock, textBlocksOf, titleOf } from '../../message/message-text.ts'
import { type Block, type ButtonTarget, buttonsFor } from './message-buttons.ts'

/**
 * A message as blocks and as text. Slack shows the text in notifications. Slack-compatible products without blocks show
 * only the text. Both together have at most 13,200 characters, in at most 50 blocks of at most 3,000 characters each.
 * Sources: https://docs.slack.dev/reference/block-kit/blocks and https://github.com/slackapi/bolt-js/issues/2509
 */
export interface Rendered {
  text: string
  blocks: Block[]
}

/** The issue status shown in an opening. */
interface ShownStatus {
  status: IssueStatus
  /** Display name of the user who set the status. Null if it was set automatically. */
  by: string | null
}

/** Limits in characters after JSON encoding. */
const MAX = { sentence: 900, fields: 4200, field: 300, part: 1100, line: 400, text: 3000 }
const FIELDS_PER_BLOCK = 10
const FIELD_OVERHEAD = 60

const STATUS_LABELS: Record<IssueStatus, string> = {
  open: '🔴 Open',
  acknowledged: '🟠 Acknowledged',
  resolved: '🟢 Resolved',
  muted: '⚪ Muted',
}

const section = (text: string): Block => ({ type: 'section', text: { type: 'mrkdwn', text } })
const header = (text: string): Block => ({ type: 'header', text: { type: 'plain_text', text, emoji: false } })
const context = (text: string): Block => ({ type: 'context', elements: [{ type: 'mrkdwn', text }] })

const statusText = ({ status, by }: ShownStatus) =>
  `${STATUS_LABELS[status]}${by === null ? '' : ` by ${plain(by, 200)}`}`

const headline = (message: Message) => `${titleOf(message)}${message.issue ? ` · ${message.issue.severity}` : ''}`

/**
 * Renders a message about one issue, or a test message.
 * @param shown Status shown in an opening, which is edited when the status changes. Null for other messages.
 * @param target Target of the buttons. Null: no buttons.
 */
export function renderOne(message: Message, shown: ShownStatus | null, target: ButtonTarget | null = null): Rendered {
  const parts = message.kind === 'resolved' ? [] : verbatimBlocks(message)
  return {
    text: textOfOne(message, shown, parts),
    blocks: [
      header(headline(message)),
      section(`*${link(message.url, plain(message.sentence, MAX.sentence))}*`),
      ...(shown ? [context(statusText(shown))] : []),
      ...fieldBlocks(rowsOf(message)),
      ...parts.map(({ title, lines }) => section(`*${title}*\n\`\`\`${firstLines(lines, MAX.part).join('\n')}\`\`\``)),
      ...(shown && target ? buttonsFor([shown.status], target) : []),
    ],
  }
}

/** The chart and the events, with mark-up escaped. */
const verbatimBlocks = (message: Message): TextBlock[] =>
  textBlocksOf(message).map(({ title, lines }) => ({
    title: plain(title, MAX.line),
    lines: lines.map((line) => plain(line, MAX.line)),
  }))

function fieldBlocks(rows: readonly MessageRow[]): Block[] {
  const max = Math.min(MAX.field, Math.floor(MAX.fields / Math.max(1, rows.length)) - FIELD_OVERHEAD)
  const fields = rows.map(([label, value]) => ({
    type: 'mrkdwn',
    text: `*${plain(label, 40)}*\n${plain(value, max)}`,
  }))
  const blocks: Block[] = []
  for (let from = 0; from < fields.length; from += FIELDS_PER_BLOCK) {
    blocks.push({ type: 'section', fields: fields.slice(from, from + FIELDS_PER_BLOCK) })
  }
  return blocks
}

function textOfOne(message: Message, shown: ShownStatus | null, parts: readonly TextBlock[]): string {
  const lines = [
    `${headline(message)}: ${plain(message.sentence, MAX.sentence)}`,
    `<${message.url}>`,
    ...(shown ? [statusText(shown)] : []),
    ...rowsOf(message).map(([label, value]) => plain(`${label}: ${value}`, MAX.line)),
    ...parts.flatMap(({ title, lines }) => [title, ...lines]),
  ]
  return firstLines(lines, MAX.text).join('\n')
}

/** One of the issues listed in a group message. */
interface ListedIssue {
  readonly message: Message
  status: IssueStatus
}

const MAX_LINES_LENGTH = 6500
const LINES_PER_BLOCK = 5

/** Renders one message about at least two issues. Up to 20 issues are listed, and the remaining ones are counted. */
export function renderGroup(issues: readonly ListedIssue[], target: ButtonTarget | null = null): Rendered {
  const { sentence: title } = summarizeGroup(issues)
  const all = issues.slice(0, MAX_NAMED).map(lineOf)
  const named = fitting(all, MAX_LINES_LENGTH)
  const [first] = issues
  const more = issues.length - named.length
  const rest = more > 0 && first ? [link(listUrl(first.message), `and ${more} more`)] : []
  const sections: Block[] = []
  for (let from = 0; from < named.length; from += LINES_PER_BLOCK) {
    sections.push(section(named.slice(from, from + LINES_PER_BLOCK).join('\n')))
  }
  const shown = statusCounts(issues)
  return {
    text: [`${title}: ${shown}`, ...textLines(issues, MAX.text)].join('\n'),
    blocks: [
      header(title),
      context(shown),
      ...sections,
      ...rest.map(section),
      ...(target
        ? buttonsFor(
            issues.map(({ status }) => status),
            target,
          )
        : []),
    ],
  }
}

/** Returns the URL of the issue list: `https://watch.example/issues/iss_1` → `https://watch.example/issues`. */
const listUrl = ({ url }: Message) => url.slice(0, url.lastIndexOf('/'))

function lineOf({ message, status }: ListedIssue): string {
  const { issue, url, sentence } = message
  return `• ${STATUS_LABELS[status]} · ${issue?.severity ?? ''} · ${link(url, plain(sentence, 240))}${assignmentOf(message)}`
}

/** ` · assigned to Ann`; empty for an unassigned issue. */
function assignmentOf(message: Message): string {
  const text = assignmentText(message)
  return text === null ? '' : ` · ${plain(text, 120)}`
}

function statusCounts(issues: readonly ListedIssue[]): string {
  const counts = (Object.keys(STATUS_LABELS) as IssueStatus[]).flatMap((status) => {
    const count = issues.filter((one) => one.status === status).length
    return count === 0 ? [] : [`${STATUS_LABELS[status]} ${count}`]
  })
  return counts.join(' · ')
}

function textLines(issues: readonly ListedIssue[], max: number): string[] {
  const lines = issues
    .slice(0, MAX_NAMED)
    .map(
      ({ message, status }) =>
        `- ${STATUS_LABELS[status]}: ${plain(message.sentence, 240)}${assignmentOf(message)} <${message.url}>`,
    )
  const named = fitting(lines, max)
  const more = issues.length - named.length
  return more > 0 ? [...named, `and ${more} more`] : named
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Zero-width space, which breaks up mark-up and is invisible. */
const ZERO_WIDTH_SPACE = '\u200b'

/**
 * Escapes untrusted text for Slack's mrkdwn and for the Markdown of Slack-compatible products, so that it can't mention anyone
 * or create links and images. Source: https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
export function escapeMrkdwn(text: string): string {
  return text
    .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)
    .replace(/(?<![\p{L}\p{N}])@(?=[\p{L}\p{N}_])/gu, `@${ZERO_WIDTH_SPACE}`)
    .replaceAll('](', `]${ZERO_WIDTH_SPACE}(`)
    .replaceAll('`', 'ˋ')
}

/** Length of a string in JSON, without its quotes. */
export const jsonLength = (text: string) => JSON.stringify(text).length - 2

/**
 * Returns untrusted text as one escaped line of at most `max` characters in JSON. Longer text is truncated with `…`.
 */
export const plain = (text: string, max: number): string =>
  escapedLine(text, max, { escape: escapeMrkdwn, lengthOf: jsonLength })

const NEW_LINE_LENGTH = 2

/** Returns as many leading lines as fit into `max` characters in JSON. */
function fitting(lines: readonly string[], max: number): string[] {
  let left = max
  const end = lines.findIndex((line) => {
    left -= jsonLength(line) + NEW_LINE_LENGTH
    return left < 0
  })
  return end === -1 ? [...lines] : lines.slice(0, end)
}

/** Like `fitting`, but with `…` in place of omitted lines. */
function firstLines(lines: readonly string[], max: number): string[] {
  const kept = fitting(lines, max - NEW_LINE_LENGTH - 1)
  return kept.length < lines.length ? [...kept, '…'] : kept
}

/** A link. Use it for Tagwarden's own URLs only. `text` must be escaped. */
const link = (url: string, text: string) => `<${url.replace(/[<>|]/g, encodeURIComponent)}|${text}>`
