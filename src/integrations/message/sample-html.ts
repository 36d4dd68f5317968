import { escapeHtml } from '../../core/text.ts'
import { heading, WRAP } from './mail-elements.ts'
import { MONO, themed } from './mail-theme.ts'
import type { Message } from './message.ts'
import {
  COMPARED_TITLE,
  type ComparedRow,
  comparedRowsOf,
  GOOD_TITLE,
  SAMPLE_TITLE,
  sampleRowsOf,
  shownValue,
} from './message-text.ts'

const BASE = 'padding:6px 8px;text-align:left;vertical-align:top;font-size:13px;line-height:1.45;border-top:1px solid'
const CELL = `${BASE};border-color:#e2e5e9`
const CODE = `font-family:${MONO};font-size:12px;${WRAP}`

/**
 * Renders the violating and valid events side by side with relevant differences marked. If there is only one event,
 * renders that one. Empty without events.
 */
export function samplesOf(message: Message): string {
  const compared = comparedRowsOf(message)
  if (compared.length > 0) return heading(COMPARED_TITLE) + tableOf('pair', [HEAD, ...compared.map(comparedRow)])
  const [title, sample] = message.sample ? [SAMPLE_TITLE, message.sample] : [GOOD_TITLE, message.goodSample]
  const rows = sampleRowsOf({ sample })
  if (rows.length === 0) return ''
  return (
    heading(title) +
    tableOf(
      'single',
      rows.map(([key, text]) => `<tr>${keyCell(key, false)}${valueCell(text)}</tr>`),
    )
  )
}

// Values are shown in columns on wide screens and below their key on narrow screens. See `pair` in the style sheet.
const HEAD = `<tr>${['', 'Violating', 'Valid'].map((word) => `<td ${themed('line', 'padding:0 8px 4px;border:0')}>${word === '' ? '' : `<span ${themed('muted', 'font-size:13px;font-weight:600')}>${word}</span>`}</td>`).join('')}</tr>`

function tableOf(name: string, rows: readonly string[]): string {
  return `<table class="${name}" width="100%" cellpadding="0" cellspacing="0" style="table-layout:fixed;width:100%">
${rows.join('\n')}
</table>
`
}

function comparedRow({ key, bad, good, isMarked }: ComparedRow): string {
  if (bad === good) return `<tr class="same">${keyCell(key, false)}${valueCell(bad, 2)}</tr>`
  if (!isMarked) return `<tr>${keyCell(key, false)}${valueCell(bad)}${valueCell(good)}</tr>`
  const marked = [bad, good].map((value, index) => {
    const style = `${BASE};border-color:transparent;${CODE};font-weight:700`
    return `<td dir="auto" ${themed(index === 0 ? 'bad' : 'good', style)}>${escapeHtml(shownValue(value))}</td>`
  })
  return `<tr>${keyCell(key, true)}${marked.join('')}</tr>`
}

/** Renders the key without its `params.` prefix, as in rules. */
function keyCell(key: string, isMarked: boolean): string {
  const name = escapeHtml(key.replace(/^params\./, ''))
  const text = isMarked
    ? `<span ${themed('ink', 'font-weight:700')}>≠ ${name}</span>`
    : `<span ${themed('muted')}>${name}</span>`
  return `<th ${themed('line', `${CELL};padding-left:0;width:30%;font-weight:400;${WRAP}`)}>${text}</th>`
}

function valueCell(value: string | null, columns = 1): string {
  const text = escapeHtml(shownValue(value))
  const isNone = value === null || value === ''
  const shown = isNone ? `<span ${themed('muted', 'font-style:italic')}>${text}</span>` : text
  return `<td dir="auto" ${themed('line', `${CELL};${CODE}`)}${columns > 1 ? ` colspan="${columns}"` : ''}>${shown}</td>`
}
