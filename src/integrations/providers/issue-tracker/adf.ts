import type { Block } from './block.ts'

/** A node of the Atlassian Document Format: https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/ */
export interface AdfNode {
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
