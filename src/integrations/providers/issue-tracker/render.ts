import { namesMissingIn } from '../../../core/text.ts'
import type { Message } from '../../message/message.ts'
import { KIND_TITLES, rowsOf, verbatimOf } from '../../message/message-text.ts'
import { oneLine } from '../../message/one-line.ts'
import { type AdfNode, adfOf, adfText } from './adf.ts'
import type { Block } from './block.ts'
import { wikiOf } from './wiki.ts'

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
  const verbatim = message.kind === 'resolved' ? [] : verbatimOf(message)
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
