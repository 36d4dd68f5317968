import { namesMissingIn } from '../../../core/text.ts'
import type { Message } from '../../message/message.ts'
import type { MessageRow } from '../../message/message-text.ts'
import { KIND_TITLES, rowsOf, textBlocksOf } from '../../message/message-text.ts'
import { oneLine } from '../../message/one-line.ts'

/** A document for Cloud, a text for a Data Center. */
export type Body = AdfNode | string

/** Jira takes no longer description or comment; of a document we count its JSON. */
const MAX_BODY_LENGTH = 32_767
const MAX_SUMMARY_LENGTH = 255

/** One line: what is wrong, and where. */
export function summaryOf({ issue, domain, sentence }: Message): string {
  const title = issue?.title ?? sentence
  const place = namesMissingIn(title, [domain?.name]).map((name) => ` (${name})`)
  return oneLine(`${title}${place.join('')}`, MAX_SUMMARY_LENGTH)
}

/** What is known when a ticket is made, and what is new when it is commented on; a resolution shows no events. */
export function bodyOf(message: Message, isCloud: boolean): Body {
  const facts: Block = { kind: 'facts', rows: rowsOf(message) }
  const verbatim = message.kind === 'resolved' ? [] : textBlocksOf(message)
  const blocks = verbatim.map((one): Block => ({ kind: 'verbatim', ...one }))
  return fitting([sentenceOf(message), facts, ...blocks, linkTo(message)], isCloud)
}

/** One sentence of ours. */
export const noteOf = (text: string, isCloud: boolean): Body =>
  fitting([{ kind: 'sentence', title: 'Tagwarden', text }], isCloud)

/** The words of a body, to tell if two are the same: Jira writes documents in its own way. */
export const plainOf = (body: Body): string =>
  (typeof body === 'string' ? body : adfText(body)).replaceAll(/\s+/g, ' ').trim()

const sentenceOf = ({ kind, sentence }: Message): Block => ({
  kind: 'sentence',
  title: KIND_TITLES[kind],
  text: sentence,
})

const linkTo = ({ url }: Message): Block => ({ kind: 'link', title: 'Open it in Tagwarden', url })

/** As much of it as Jira takes: what is shown line by line loses its last lines first. */
function fitting(all: readonly Block[], isCloud: boolean): Body {
  let blocks = all.filter(hasContent)
  for (;;) {
    const body = isCloud ? adfOf(blocks) : wikiOf(blocks)
    const length = typeof body === 'string' ? body.length : JSON.stringify(body).length
    const last = blocks.findLast(({ kind }) => kind === 'verbatim')
    if (length <= MAX_BODY_LENGTH || last?.kind !== 'verbatim') return body
    const shorter: Block = { ...last, lines: last.lines.slice(0, -1) }
    blocks = blocks.map((block) => (block === last ? shorter : block)).filter(hasContent)
  }
}

function hasContent(block: Block): boolean {
  if (block.kind === 'facts') return block.rows.length > 0
  return block.kind !== 'verbatim' || block.lines.length > 0
}

/** What a description or a comment consists of, before it is written for Cloud or a Data Center. No title is empty. */
export type Block =
  | { kind: 'sentence'; title: string; text: string }
  | { kind: 'facts'; rows: readonly MessageRow[] }
  | { kind: 'verbatim'; title: string; lines: readonly string[] }
  | { kind: 'link'; title: string; url: string }

/** A node of the Atlassian Document Format: https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/ */
interface AdfNode {
  type: string
  version?: 1
  text?: string
  content?: AdfNode[]
  marks?: { type: string; attrs?: Record<string, string> }[]
  attrs?: Record<string, string>
}

/** A document, which Cloud takes. Text of others stands in text nodes, where it means nothing. */
export function adfOf(blocks: readonly Block[]): AdfNode {
  return { type: 'doc', version: 1, content: blocks.flatMap(adfBlock) }
}

function adfBlock(block: Block): AdfNode[] {
  if (block.kind === 'sentence') return [paragraph(strong(block.title), text(`: ${block.text}`))]
  if (block.kind === 'link') {
    return [paragraph({ ...text(block.title), marks: [{ type: 'link', attrs: { href: block.url } }] })]
  }
  if (block.kind === 'facts') {
    const items = block.rows.map(([label, fact]) => item(strong(label), text(`: ${fact}`)))
    return [{ type: 'bulletList', content: items }]
  }
  return [paragraph(strong(block.title)), { type: 'codeBlock', content: [text(block.lines.join('\n'))] }]
}

const text = (value: string): AdfNode => ({ type: 'text', text: value })
const strong = (value: string): AdfNode => ({ ...text(value), marks: [{ type: 'strong' }] })
const paragraph = (...content: AdfNode[]): AdfNode => ({ type: 'paragraph', content })
const item = (...content: AdfNode[]): AdfNode => ({ type: 'listItem', content: [paragraph(...content)] })

/** All texts of a document, one after the other. */
export const adfText = ({ text: own = '', content = [] }: AdfNode): string => own + content.map(adfText).join('')

/** A letter or digit: between two of them a mark stands in a word and means nothing. */
const WORD = String.raw`[\p{L}\p{Nd}]`
/** What means something in a line: https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=all */
const ACTIVE = new RegExp(
  [
    String.raw`[\\{}[\]|!@]`,
    `(?<!${WORD})[-_+^~*]|[-_+^~*](?!${WORD})`,
    String.raw`(?<=\?)\?|\?(?=\?)|^#`,
    String.raw`\((?=(?:y|n|i|x|/|!|\+|-|\?|on|off|\*[rgby]?|flag|flagoff)\))`,
    // An address would become a link, a face a picture, an entity a character.
    `:(?=//)|(?<=mailto):|[:;](?=-?[()PpDd](?!${WORD}))|&(?=#?\\w+;)`,
  ].join('|'),
  'gu',
)
/** Those that a backslash takes their meaning from; for others an entity stands. */
const BACKSLASHED = '-#*_+?^~|{}[]()!@'

/** Text of others in the middle of a line of Jira's wiki mark-up: it means nothing there, and names nobody. */
export const wikiText = (text: string): string =>
  text.replaceAll(ACTIVE, (sign) => (BACKSLASHED.includes(sign) ? `\\${sign}` : `&#${sign.charCodeAt(0)};`))

/** The same where mark-up ends only with the block, and where names are looked for all the same. */
const verbatim = (text: string): string => text.replaceAll(/\{(?=noformat)|\[(?=~)/gi, '$& ')

/** Jira's wiki mark-up, which a Data Center takes. */
function wikiOf(blocks: readonly Block[]): string {
  return blocks.map(wikiBlock).join('\n\n')
}

function wikiBlock(block: Block): string {
  if (block.kind === 'facts') {
    return block.rows.map(([label, text]) => `* *${wikiText(label)}*: ${wikiText(text)}`).join('\n')
  }
  const title = `*${wikiText(block.title)}*`
  if (block.kind === 'sentence') return `${title}: ${wikiText(block.text)}`
  if (block.kind === 'link') return `[${wikiText(block.title)}|${block.url}]`
  return `${title}\n{noformat}\n${block.lines.map(verbatim).join('\n')}\n{noformat}`
}
