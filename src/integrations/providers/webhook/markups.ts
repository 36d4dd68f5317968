import { escapeHtml } from '../../../core/html.ts'
import type { Markup } from './chat-text.ts'

/** Zero-width space, which breaks up markup and is invisible. */
const ZERO_WIDTH_SPACE = '\u200b'

/** Breaks up mentions of people and channels. Addresses such as `ann@shop.example` stay unchanged. */
export const withoutMentions = (text: string): string =>
  text.replace(/(?<![\p{L}\p{N}])[@#](?=[\p{L}\p{N}_])/gu, `$&${ZERO_WIDTH_SPACE}`)

/** Breaks up tags, mentions, links and code, for products whose markup has no escapes for them. */
export const withoutMarkup = (text: string): string =>
  withoutMentions(text)
    .replaceAll('<', `<${ZERO_WIDTH_SPACE}`)
    .replaceAll('](', `]${ZERO_WIDTH_SPACE}(`)
    .replaceAll('`', 'ˋ')

export const bytesOf = (text: string): number => Buffer.byteLength(text)

/** HTML with the elements `a`, `b` and `pre`. Its length is counted in UTF-16 code units, including tags and entities. */
export const HTML: Markup = {
  escape: (text) => escapeHtml(withoutMentions(text)),
  bold: (text) => `<b>${text}</b>`,
  link: (text, url) => `<a href="${escapeHtml(url)}">${text}</a>`,
  code: (lines) => `<pre>${escapeHtml(lines.join('\n'))}</pre>`,
  lengthOf: (text) => text.length,
}

/** Links and code blocks of Markdown. The length is counted in UTF-16 code units. */
export const MARKDOWN: Omit<Markup, 'escape'> = {
  bold: (text) => `**${text}**`,
  link: (text, url) => `[${text}](${url.replace(/[()<>\\]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)})`,
  // Backticks would end the block. Nothing else is interpreted in it.
  code: (lines) => `\`\`\`\n${lines.join('\n').replaceAll('`', 'ˋ')}\n\`\`\``,
  lengthOf: (text) => text.length,
}

/** Text without markup. A link is shown as its text. The length is counted in bytes. */
export const PLAIN: Markup = {
  escape: (text) => text,
  bold: (text) => text,
  link: (text) => text,
  code: (lines) => lines.join('\n'),
  lengthOf: bytesOf,
}
