import type { Block } from './block.ts'

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
export function wikiOf(blocks: readonly Block[]): string {
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
