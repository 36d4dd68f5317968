import { namesMissingIn } from '../../../core/text.ts'
import type { Message } from '../../message.ts'
import { KIND_TITLES, rowsOf, sampleRowsOf } from '../../message-text.ts'
import { oneLine } from '../../one-line.ts'
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

/** Everything that is known when a ticket is made. */
export function descriptionOf(message: Message, isCloud: boolean): Body {
  return fitting(
    [
      sentenceOf(message),
      { kind: 'facts', title: 'Facts', rows: rowsOf(message) },
      ...samplesOf(message),
      linkTo(message),
    ],
    isCloud,
  )
}

/** What is new, for those who know the ticket. */
export function commentOf(message: Message, isCloud: boolean): Body {
  const samples = message.kind === 'resolved' ? [] : samplesOf(message)
  return fitting(
    [sentenceOf(message), { kind: 'facts', title: 'Facts', rows: rowsOf(message) }, ...samples, linkTo(message)],
    isCloud,
  )
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

function samplesOf(message: Message): Block[] {
  return [{ kind: 'sample', title: 'One sample (personal data masked)', rows: sampleRowsOf(message) }]
}

const linkTo = ({ url }: Message): Block => ({ kind: 'link', title: 'Open it in Tagwarden', url })

/** As much of it as Jira takes: samples lose their last rows first. */
function fitting(all: readonly Block[], isCloud: boolean): Body {
  let blocks = all.filter(hasContent)
  for (;;) {
    const body = isCloud ? adfOf(blocks) : wikiOf(blocks)
    const length = typeof body === 'string' ? body.length : JSON.stringify(body).length
    const last = blocks.findLastIndex(({ kind }) => kind === 'sample')
    if (length <= MAX_BODY_LENGTH || last === -1) return body
    blocks = blocks
      .map((block, index) => (index === last && 'rows' in block ? { ...block, rows: block.rows.slice(0, -1) } : block))
      .filter(hasContent)
  }
}

const hasContent = (block: Block) => !('rows' in block) || block.rows.length > 0
