import { namesMissingIn, oneLine } from '../../../core/text.ts'
import type { Message } from '../../message/message.ts'
import type { MessageRow } from '../../message/message-text.ts'
import { rowsOf, textBlocksOf, titleOf } from '../../message/message-text.ts'

/** An ADF document for Cloud, or wiki mark-up for Data Center. */
export type Body = AdfNode | string

/** Jira's limit for descriptions and comments in characters. For a document, it applies to the JSON. */
const MAX_BODY_LENGTH = 32_767
const MAX_SUMMARY_LENGTH = 255

/** Summary of a ticket: the problem and the domain. */
export function summaryOf({ issue, domain, sentence }: Message): string {
  const title = issue?.title ?? sentence
  const location = namesMissingIn(title, [domain?.name]).map((name) => ` (${name})`)
  return oneLine(`${title}${location.join('')}`, MAX_SUMMARY_LENGTH)
}

/** Description or comment for a message. For a resolution, it contains no events. */
export function bodyOf(message: Message, isCloud: boolean): Body {
  const facts: Block = { kind: 'facts', rows: rowsOf(message) }
  const verbatim = message.kind === 'resolved' ? [] : textBlocksOf(message)
  const blocks = verbatim.map((one): Block => ({ kind: 'verbatim', ...one }))
  return fitBody([sentenceOf(message), facts, ...blocks, linkTo(message)], isCloud)
}

/** A comment that consists of a single sentence. */
export const noteOf = (text: string, isCloud: boolean): Body =>
  fitBody([{ kind: 'sentence', title: 'Tagwarden', text }], isCloud)

/** Text of a body without formatting. It is used for comparison because Jira reformats documents. */
export const plainOf = (body: Body): string =>
  (typeof body === 'string' ? body : adfText(body)).replaceAll(/\s+/g, ' ').trim()

const sentenceOf = (message: Message): Block => ({
  kind: 'sentence',
  title: titleOf(message),
  text: message.sentence,
})

const linkTo = ({ url }: Message): Block => ({ kind: 'link', title: 'Open in Tagwarden', url })

/** Renders the blocks within Jira's limit by removing the last lines of verbatim blocks. */
function fitBody(all: readonly Block[], isCloud: boolean): Body {
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

/** A part of a description or comment, independent of the output format. Titles are never empty. */
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

/** Renders a document for Cloud. Text nodes contain no mark-up, so untrusted text is safe. */
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

/** Concatenates all text in a document. */
export const adfText = ({ text: own = '', content = [] }: AdfNode): string => own + content.map(adfText).join('')

/** Matches a letter or digit. Between two such characters, most marks have no effect. */
const WORD = String.raw`[\p{L}\p{Nd}]`
/** Matches inline mark-up: https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=all */
const MARKUP = new RegExp(
  [
    String.raw`[\\{}[\]|!@]`,
    `(?<!${WORD})[-_+^~*]|[-_+^~*](?!${WORD})`,
    String.raw`(?<=\?)\?|\?(?=\?)|^#`,
    String.raw`\((?=(?:y|n|i|x|/|!|\+|-|\?|on|off|\*[rgby]?|flag|flagoff)\))`,
    // Wiki mark-up turns URLs into links, emoticons into images, and entities into characters.
    `:(?=//)|(?<=mailto):|[:;](?=-?[()PpDd](?!${WORD}))|&(?=#?\\w+;)`,
  ].join('|'),
  'gu',
)
/** Characters that are escaped with a backslash. Other characters are written as entities. */
const BACKSLASH_ESCAPED = '-#*_+?^~|{}[]()!@'

/** Escapes untrusted text for use in a line of wiki mark-up, so that it creates no mark-up and mentions no users. */
export const escapeWiki = (text: string): string =>
  text.replaceAll(MARKUP, (sign) => (BACKSLASH_ESCAPED.includes(sign) ? `\\${sign}` : `&#${sign.charCodeAt(0)};`))

/** Escapes a line in a `{noformat}` block, where Jira interprets only the end of the block and mentions. */
const escapeVerbatim = (text: string): string => text.replaceAll(/\{(?=noformat)|\[(?=~)/gi, '$& ')

/** Renders wiki mark-up for Data Center. */
function wikiOf(blocks: readonly Block[]): string {
  return blocks.map(wikiBlock).join('\n\n')
}

function wikiBlock(block: Block): string {
  if (block.kind === 'facts') {
    return block.rows.map(([label, text]) => `* *${escapeWiki(label)}*: ${escapeWiki(text)}`).join('\n')
  }
  const title = `*${escapeWiki(block.title)}*`
  if (block.kind === 'sentence') return `${title}: ${escapeWiki(block.text)}`
  if (block.kind === 'link') return `[${escapeWiki(block.title)}|${block.url}]`
  return `${title}\n{noformat}\n${block.lines.map(escapeVerbatim).join('\n')}\n{noformat}`
}
