import { SEVERITIES, type Severity } from '../../../contract/severities.ts'
import { cutText, escapedLine } from '../../../core/text.ts'
import { assignmentText, summarizeGroup } from '../../message/grouped-message-text.ts'
import type { Message } from '../../message/message.ts'
import { rowsOf, subjectOf, textBlocksOf, titleOf } from '../../message/message-text.ts'

/** Markup language of a chat. */
export interface Markup {
  /** Escapes untrusted text, so that it can't mention anyone or create links and images. */
  escape(text: string): string
  /** @param text Escaped text. */
  bold(text: string): string
  /** @param text Escaped text. */
  link(text: string, url: string): string
  /** Shows untrusted lines in a monospace font. */
  code(lines: readonly string[]): string
  /** Length of marked-up text, in the unit of the product's limit. */
  lengthOf(text: string): number
}

/** Content of a chat message. */
export interface ChatText {
  /** First line, without untrusted text and markup: `New issue · critical`. At most 60 characters. */
  headline: string
  /** URL of the issue, or of the list for several issues. */
  url: string
  /** Summary for notifications, in one line of plain text. Untrusted, at most 200 characters. */
  subject: string
  /** The other lines, marked up. */
  text: string
  /** Severity of the issue, or the highest one of several. Null for a test and for a resolved issue. */
  severity: Severity | null
  /** Null for a test and for several issues. */
  issueId: string | null
}

/** Limits of parts, in the unit of `Markup.lengthOf`. */
const MAX = { sentence: 900, value: 300, listed: 240 }
/** Maximum length of a monospace line in characters, before escaping. */
const MAX_CODE_LINE = 400

/** @param max Maximum length of `text`, at least 1,000. Lines that do not fit are replaced with `…`. */
export function textOfMessage(message: Message, markup: Markup, max: number): ChatText {
  const { kind, issue, sentence, url } = message
  const { bold, code } = markup
  const lines = [
    escapedLine(sentence, MAX.sentence, markup),
    ...rowsOf(message).map(
      ([label, value]) => `${bold(markup.escape(label))}: ${escapedLine(value, MAX.value, markup)}`,
    ),
  ]
  const facts = longestWithin(lines.length, max, markup, (kept) => firstOf(lines, kept).join('\n'))
  const blocks = kind === 'resolved' ? [] : textBlocksOf(message)
  const text = blocks.reduce((before, { title, lines }) => {
    const shown = lines.map((line) => cutText(line, MAX_CODE_LINE, '…'))
    return longestWithin(shown.length, max, markup, (kept) =>
      kept === 0 ? before : [before, bold(markup.escape(title)), code(firstOf(shown, kept))].join('\n'),
    )
  }, facts)
  return {
    headline: `${titleOf(message)}${issue ? ` · ${issue.severity}` : ''}`,
    url,
    subject: subjectOf(message),
    text,
    severity: kind === 'resolved' ? null : (issue?.severity ?? null),
    issueId: issue?.id ?? null,
  }
}

/**
 * Lists as many of the first `MAX_NAMED` issues as fit, and counts the others.
 * @param issues At least two.
 * @param max Maximum length of `text`, at least 1,000.
 */
export function textOfGroup(issues: readonly { readonly message: Message }[], markup: Markup, max: number): ChatText {
  const { sentence, subject, named } = summarizeGroup(issues)
  const lines = named.map((message) => {
    const { issue, sentence, url } = message
    const severity = issue ? `${issue.severity} · ` : ''
    const assignment = assignmentText(message)
    const assigned = assignment === null ? '' : ` · ${escapedLine(assignment, MAX.listed, markup)}`
    return `• ${severity}${markup.link(escapedLine(sentence, MAX.listed, markup), url)}${assigned}`
  })
  const url = named[0]?.url ?? ''
  return {
    headline: sentence,
    url: url.slice(0, url.lastIndexOf('/')),
    subject,
    text: longestWithin(lines.length, max, markup, (kept) => {
      const more = issues.length - kept
      return [...lines.slice(0, kept), ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
    }),
    severity: SEVERITIES.findLast((one) => named.some(({ issue }) => issue?.severity === one)) ?? null,
    issueId: null,
  }
}

/** Returns the first lines, with `…` in place of omitted ones. */
const firstOf = (lines: readonly string[], kept: number) =>
  kept < lines.length ? [...lines.slice(0, kept), '…'] : lines

/** Renders as many items as fit. `render` receives the number of items. Its result for 0 always fits. */
function longestWithin(count: number, max: number, { lengthOf }: Markup, render: (kept: number) => string): string {
  for (let kept = count; kept > 0; kept--) {
    const text = render(kept)
    if (lengthOf(text) <= max) return text
  }
  return render(0)
}
