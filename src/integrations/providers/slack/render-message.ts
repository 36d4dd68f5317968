import type { IssueStatus } from '../../../issues/issue.ts'
import { MAX_NAMED, summarizeGroup } from '../../message/group-text.ts'
import type { Message } from '../../message/message.ts'
import { KIND_TITLES, type MessageRow, rowsOf, type TextBlock, textBlocksOf } from '../../message/message-text.ts'
import { oneLine } from '../../message/one-line.ts'
import { type Block, type ButtonTarget, buttonsFor } from './message-buttons.ts'

/**
 * What is posted: blocks for Slack, and all of it once more as text, which Slack shows in notifications, and products that take
 * its webhooks without knowing blocks show alone. Together at most 13,200 characters, in at most 50 blocks of 3,000.
 * Sources: https://docs.slack.dev/reference/block-kit/blocks and https://github.com/slackapi/bolt-js/issues/2509
 */
export interface Rendered {
  text: string
  blocks: Block[]
}

/** How an issue stands, for an opening. */
export interface Standing {
  status: IssueStatus
  /** Who gave it that by hand; null when nobody did. */
  by: string | null
}

/** In characters of JSON. */
const MAX = { sentence: 900, fields: 4200, field: 300, part: 1100, line: 400, text: 3000 }
const FIELDS_AT_ONCE = 10
const FIELD_OVERHEAD = 60

const STATES: Record<IssueStatus, string> = {
  open: '🔴 Open',
  acknowledged: '🟠 Acknowledged',
  resolved: '🟢 Resolved',
  muted: '⚪ Muted',
}

const section = (text: string): Block => ({ type: 'section', text: { type: 'mrkdwn', text } })
const header = (text: string): Block => ({ type: 'header', text: { type: 'plain_text', text, emoji: false } })
const context = (text: string): Block => ({ type: 'context', elements: [{ type: 'mrkdwn', text }] })

const stateText = ({ status, by }: Standing) => `${STATES[status]}${by === null ? '' : ` by ${plain(by, 200)}`}`

const headline = ({ kind, issue }: Message) => `${KIND_TITLES[kind]}${issue ? ` · ${issue.severity}` : ''}`

/**
 * One message. `standing`: for one that is edited when the issue gets another status; null for the others. `pressed`: what its
 * buttons say; null: it has none.
 */
export function renderOne(message: Message, standing: Standing | null, pressed: ButtonTarget | null = null): Rendered {
  const parts = message.kind === 'resolved' ? [] : partsOf(message)
  return {
    text: textOfOne(message, standing, parts),
    blocks: [
      header(headline(message)),
      section(`*${link(message.url, plain(message.sentence, MAX.sentence))}*`),
      ...(standing ? [context(stateText(standing))] : []),
      ...fieldBlocks(rowsOf(message)),
      ...parts.map(({ title, lines }) => section(`*${title}*\n\`\`\`${firstLines(lines, MAX.part).join('\n')}\`\`\``)),
      ...(standing && pressed ? buttonsFor([standing.status], pressed) : []),
    ],
  }
}

/** The course of what is counted, and the events; escaped. */
const partsOf = (message: Message): TextBlock[] =>
  textBlocksOf(message).map(({ title, lines }) => ({
    title: plain(title, MAX.line),
    lines: lines.map((line) => plain(line, MAX.line)),
  }))

function fieldBlocks(rows: readonly MessageRow[]): Block[] {
  const most = Math.min(MAX.field, Math.floor(MAX.fields / Math.max(1, rows.length)) - FIELD_OVERHEAD)
  const fields = rows.map(([label, value]) => ({
    type: 'mrkdwn',
    text: `*${plain(label, 40)}*\n${plain(value, most)}`,
  }))
  const blocks: Block[] = []
  for (let from = 0; from < fields.length; from += FIELDS_AT_ONCE) {
    blocks.push({ type: 'section', fields: fields.slice(from, from + FIELDS_AT_ONCE) })
  }
  return blocks
}

function textOfOne(message: Message, standing: Standing | null, parts: readonly TextBlock[]): string {
  const lines = [
    `${headline(message)}: ${plain(message.sentence, MAX.sentence)}`,
    `<${message.url}>`,
    ...(standing ? [stateText(standing)] : []),
    ...rowsOf(message).map(([label, value]) => plain(`${label}: ${value}`, MAX.line)),
    ...parts.flatMap(({ title, lines }) => [title, ...lines]),
  ]
  return firstLines(lines, MAX.text).join('\n')
}

/** One issue of several that are told together. */
export interface Named {
  readonly message: Message
  status: IssueStatus
}

const MAX_LINES_LENGTH = 6500
const LINES_AT_ONCE = 5

/** One message about several issues, at least two: up to 20 are named, the others are counted. */
export function renderGroup(issues: readonly Named[], pressed: ButtonTarget | null = null): Rendered {
  const { sentence: title } = summarizeGroup(issues)
  const all = issues.slice(0, MAX_NAMED).map(lineOf)

  const named = fitting(all, MAX_LINES_LENGTH)
  const [first] = issues
  const more = issues.length - named.length
  const rest = more > 0 && first ? [link(listUrl(first.message), `and ${more} more`)] : []
  const sections: Block[] = []
  for (let from = 0; from < named.length; from += LINES_AT_ONCE) {
    sections.push(section(named.slice(from, from + LINES_AT_ONCE).join('\n')))
  }
  const standing = standingText(issues)
  return {
    text: [`${title}: ${standing}`, ...textLines(issues, MAX.text)].join('\n'),
    blocks: [
      header(title),
      context(standing),
      ...sections,
      ...rest.map(section),
      ...(pressed
        ? buttonsFor(
            issues.map(({ status }) => status),
            pressed,
          )
        : []),
    ],
  }
}

/** `https://watch.example/issues/iss_1` → `https://watch.example/issues` */
const listUrl = ({ url }: Message) => url.slice(0, url.lastIndexOf('/'))

function lineOf({ message, status }: Named): string {
  const { issue, url, sentence } = message
  return `• ${STATES[status]} · ${issue?.severity ?? ''} · ${link(url, plain(sentence, 240))}`
}

function standingText(issues: readonly Named[]): string {
  const counts = (Object.keys(STATES) as IssueStatus[]).flatMap((status) => {
    const count = issues.filter((one) => one.status === status).length
    return count === 0 ? [] : [`${STATES[status]} ${count}`]
  })
  return counts.join(' · ')
}

function textLines(issues: readonly Named[], most: number): string[] {
  const lines = issues
    .slice(0, MAX_NAMED)
    .map(({ message, status }) => `- ${STATES[status]}: ${plain(message.sentence, 240)} <${message.url}>`)
  const named = fitting(lines, most)
  const more = issues.length - named.length
  return more > 0 ? [...named, `and ${more} more`] : named
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Shows as nothing, and parts what would be understood together. */
const APART = '\u200b'

/**
 * Text of others as it is, in Slack's mrkdwn and in the Markdown of products that take Slack's webhooks: nobody is mentioned, and
 * nothing becomes a link or an image. Source: https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
export function escapeMrkdwn(text: string): string {
  return text
    .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)
    .replace(/(?<![\p{L}\p{N}])@(?=[\p{L}\p{N}_])/gu, `@${APART}`)
    .replaceAll('](', `]${APART}(`)
    .replaceAll('`', 'ˋ')
}

/** As long as it is in JSON: what is sent is measured by that. */
export const jsonLength = (text: string) => JSON.stringify(text).length - 2

/** One line of others' text, escaped, of at most `most` characters of JSON; cut with `…` where it was longer. */
export function plain(text: string, most: number): string {
  for (let length = most; length > 0; ) {
    const escaped = escapeMrkdwn(oneLine(text, length))
    const over = jsonLength(escaped) - most
    if (over <= 0) return escaped
    // No character becomes more than six.
    length -= Math.ceil(over / 6)
  }
  return ''
}

const NEW_LINE_LENGTH = 2

/** The first lines, as many as have at most `most` characters of JSON together. */
function fitting(lines: readonly string[], most: number): string[] {
  let left = most
  const end = lines.findIndex((line) => {
    left -= jsonLength(line) + NEW_LINE_LENGTH
    return left < 0
  })
  return end === -1 ? [...lines] : lines.slice(0, end)
}

/** The same, with `…` for those that are left out. */
function firstLines(lines: readonly string[], most: number): string[] {
  const kept = fitting(lines, most - NEW_LINE_LENGTH - 1)
  return kept.length < lines.length ? [...kept, '…'] : kept
}

/** Only for addresses of ours; the text must be escaped. */
const link = (url: string, text: string) => `<${url.replace(/[<>|]/g, encodeURIComponent)}|${text}>`
