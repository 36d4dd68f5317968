import { oneLine } from '../../message/one-line.ts'

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
export function fitting(lines: readonly string[], most: number): string[] {
  let left = most
  const end = lines.findIndex((line) => {
    left -= jsonLength(line) + NEW_LINE_LENGTH
    return left < 0
  })
  return end === -1 ? [...lines] : lines.slice(0, end)
}

/** The same, with `…` for those that are left out. */
export function firstLines(lines: readonly string[], most: number): string[] {
  const kept = fitting(lines, most - NEW_LINE_LENGTH - 1)
  return kept.length < lines.length ? [...kept, '…'] : kept
}

/** Only for addresses of ours; the text must be escaped. */
export const link = (url: string, text: string) => `<${url.replace(/[<>|]/g, encodeURIComponent)}|${text}>`
