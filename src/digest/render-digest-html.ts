import { escapeHtml } from '../core/text.ts'
import { LAYOUT, MONO, mailPage, type ThemeClass, themed } from '../integrations/message/mail-theme.ts'
import type { Block, Cell, DigestDocument, Figure, Item, Section, Tone } from './digest-document.ts'

const SURFACE: Readonly<Record<Tone, ThemeClass>> = { plain: 'soft', good: 'good', bad: 'bad', warn: 'warn' }
const INK: Readonly<Record<Tone, ThemeClass>> = { plain: 'ink', good: 'goodInk', bad: 'badInk', warn: 'warnInk' }

/** Maximum size of an e-mail in bytes. Gmail clips messages above 102 kB. */
export const MAX_HTML_BYTES = 100_000

/**
 * Renders the digest as an HTML page smaller than 100 kB, without external resources. If the page would be larger, the
 * last sections are omitted and a note says so.
 */
export function htmlOf(digest: DigestDocument): string {
  for (let count = digest.sections.length; ; count--) {
    const sections = digest.sections.slice(0, count)
    const cut = digest.sections.length - count
    const notes =
      cut > 0
        ? [
            ...digest.notes,
            `${cut} more ${cut === 1 ? 'section' : 'sections'} in the dashboard, omitted to keep this e-mail short.`,
          ]
        : digest.notes
    const html = pageOf({ ...digest, sections, notes })
    if (Buffer.byteLength(html) < MAX_HTML_BYTES || count === 0) return html
  }
}

function pageOf(digest: DigestDocument): string {
  const { subject, preview, orgName, period, url, unsubscribeUrl, notes } = digest
  const link = (href: string, text: string) => `<a href="${escapeHtml(href)}" ${themed('link')}>${escapeHtml(text)}</a>`
  const above = `<span ${themed('ink', 'font-weight:700;font-size:15px')}>Tagwarden</span> <span ${themed('muted', 'font-size:13px')}>digest for ${escapeHtml(orgName)}</span>`
  const below = [
    ...notes.map(escapeHtml),
    [link(url, 'Open Tagwarden'), ...(unsubscribeUrl ? [link(unsubscribeUrl, 'Unsubscribe')] : [])].join(' · '),
  ]
  return mailPage({
    title: subject,
    preview,
    above,
    body: `${headOf(digest, period)}${digest.sections.map(sectionOf).join('')}`,
    below: below.map((line) => `<div style="padding:2px 0">${line}</div>`).join(''),
  })
}

function headOf({ headline, tone, others }: DigestDocument, period: string): string {
  const line = (text: string) =>
    `<tr><td ${themed('muted', 'padding:3px 8px 0 0;vertical-align:top;width:10px')}>&bull;</td><td ${themed('ink', 'padding:3px 0 0;font-size:15px;line-height:1.45;overflow-wrap:anywhere')}>${escapeHtml(text)}</td></tr>`
  const more =
    others.length === 0 ? '' : `<table ${LAYOUT} style="width:100%;margin-top:8px">${others.map(line).join('')}</table>`
  return `<p ${themed('muted', 'margin:0 0 12px;font-size:13px')}>${escapeHtml(period)}</p>
<div ${themed(SURFACE[tone], 'padding:14px 16px;border-radius:8px')}><h1 style="margin:0;font-size:20px;line-height:1.35;font-weight:650;overflow-wrap:anywhere">${escapeHtml(headline)}</h1></div>
${more}`
}

function sectionOf({ title, blocks }: Section): string {
  return `<h2 ${themed('ink', 'margin:28px 0 8px;font-size:16px;line-height:1.3;font-weight:650')}>${escapeHtml(title)}</h2>
${blocks.map(blockOf).join('')}`
}

function blockOf(block: Block): string {
  switch (block.kind) {
    case 'text':
      return `<p ${themed(INK[block.tone ?? 'plain'], 'margin:0 0 8px;font-size:14px;overflow-wrap:anywhere')}>${escapeHtml(block.text)}</p>\n`
    case 'figures':
      return figuresOf(block.figures)
    case 'hours':
      return hoursOf(block)
    case 'table':
      return tableOf(block)
    case 'items':
      return block.items.map(itemOf).join('') + moreOf(block.more)
  }
}

const moreOf = (more: string) =>
  more === '' ? '' : `<p ${themed('muted', 'margin:-4px 0 12px;font-size:13px')}>${escapeHtml(more)}</p>\n`

/**
 * Side-by-side tiles: two per row on a phone, all in one row on a desktop. There is no white space between the tiles,
 * because it would make the row too wide.
 */
function figuresOf(figures: readonly Figure[]): string {
  const width = Math.floor(CONTENT_WIDTH / figures.length)
  const tile = ({ label, value, note, tone }: Figure) =>
    `<div style="display:inline-block;width:50%;max-width:${width}px;min-width:118px;vertical-align:top"><div ${themed('soft', 'margin:0 6px 6px 0;padding:10px 12px;border-radius:8px;min-height:76px')}>` +
    `<div ${themed('muted', 'font-size:12px;line-height:1.4')}>${escapeHtml(label)}</div>` +
    `<div ${themed(INK[tone], 'font-size:22px;line-height:1.3;font-weight:650;overflow-wrap:anywhere')}>${escapeHtml(value)}</div>` +
    `<div ${themed('muted', 'font-size:12px;line-height:1.4')}>${escapeHtml(note)}</div></div></div>`
  return `<div style="font-size:0">${figures.map(tile).join('')}</div>\n`
}

const CONTENT_WIDTH = 592
const BARS_HEIGHT = 56

/**
 * Bar chart of events by hour. Next to each bar is the bar for the same hour a week earlier. The chart consists of
 * coloured table cells, because many clients block images.
 */
function hoursOf({ from, now, before }: Extract<Block, { kind: 'hours' }>): string {
  const most = Math.max(...now, ...(before ?? []), 1)
  const bar = (count: number, name: ThemeClass, width: number) => {
    const height = count > 0 ? Math.max(2, Math.round((count / most) * BARS_HEIGHT)) : 1
    return `<div ${themed(name, `display:inline-block;vertical-align:bottom;width:${width}%;height:${height}px`)}></div>`
  }
  const cells = now.map((count, hour) => {
    const bars = before ? bar(before[hour] ?? 0, 'barBefore', 38) + bar(count, 'bar', 48) : bar(count, 'bar', 80)
    return `<td style="height:${BARS_HEIGHT}px;padding:0;vertical-align:bottom;font-size:0;line-height:0">${bars}</td>`
  })
  const key = (name: ThemeClass, text: string) =>
    `<span ${themed(name, 'display:inline-block;width:9px;height:9px;border-radius:2px')}></span> ${text}`
  const at = new Date(from).toISOString().slice(11, 16)
  const keys = [key('bar', 'last 24 hours'), ...(before ? [key('barBefore', 'a week earlier')] : [])]
  const small = 'padding:4px 0 0;font-size:12px;line-height:1.4'
  return `<table ${LAYOUT} aria-hidden="true" style="width:100%;table-layout:fixed;border-collapse:collapse;margin-top:4px"><tr>${cells.join('')}</tr></table>
<table ${LAYOUT} style="width:100%;margin:0 0 12px"><tr><td ${themed('muted', small)}>${keys.join(' &nbsp; ')}</td><td ${themed('muted', `${small};text-align:right;white-space:nowrap`)}>hourly from ${at} UTC</td></tr></table>
`
}

function tableOf({ head, rows, more }: Extract<Block, { kind: 'table' }>): string {
  // Phones have no room for three number columns, so the earlier count is hidden there.
  const wide = (column: number) => `${column === 0 ? '' : ' num'}${head.length === 4 && column === 2 ? ' wide' : ''}`
  const border = 'border-bottom-width:1px;border-bottom-style:solid'
  const side = (column: number) =>
    column === 0 ? 'text-align:left' : 'text-align:right;white-space:nowrap;width:88px;padding-left:8px'
  const heads = head.map((text, column) => {
    const styles = `${side(column)};${border};padding-top:4px;padding-bottom:4px;font-size:12px;font-weight:600;vertical-align:bottom`
    return `<th scope="col" ${withLine(themed('muted', styles), wide(column))}>${escapeHtml(text)}</th>`
  })
  const cell = ({ text, tone = 'plain', note = '' }: Cell, column: number) => {
    const styles = `${side(column)};${border};padding-top:6px;padding-bottom:6px;font-size:14px;vertical-align:top${column === 0 ? ';overflow-wrap:anywhere' : ''}`
    const below =
      note === ''
        ? ''
        : `<div ${themed('muted', 'font-size:12px;line-height:1.4;overflow-wrap:anywhere')}>${escapeHtml(note)}</div>`
    return `<td ${withLine(themed(INK[tone], styles), wide(column))}>${escapeHtml(text)}${below}</td>`
  }
  const lines = rows.map((cells) => `<tr>${cells.map(cell).join('')}</tr>`)
  return `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="width:100%;border-collapse:collapse;margin:4px 0 12px">
<thead><tr>${heads.join('')}</tr></thead>
<tbody>${lines.join('\n')}</tbody>
</table>
${moreOf(more)}`
}

/** Adds the border colour, and the class for cells that are shown only on wide screens. */
function withLine(attributes: string, wide: string): string {
  const line = /style="([^"]*)"/.exec(themed('line'))?.[1] ?? ''
  return attributes.replace('class="', `class="line${wide} `).replace('style="', `style="${line};`)
}

function itemOf({ title, badge, note, lines, rows, url }: Item): string {
  const pill = badge
    ? `<span ${themed(SURFACE[badge.tone], 'display:inline-block;padding:1px 8px;border-radius:10px;font-size:12px;font-weight:600;line-height:1.5')}>${escapeHtml(badge.text)}</span> `
    : ''
  const heading = url
    ? `<a href="${escapeHtml(url)}" ${themed('ink', 'font-weight:600;text-decoration:underline')}>${escapeHtml(title)}</a>`
    : `<span ${themed('ink', 'font-weight:600')}>${escapeHtml(title)}</span>`
  const facts = rows.map(
    ([name, value]) =>
      `<tr><td ${themed('muted', `padding:1px 10px 1px 0;vertical-align:top;font:12px/1.5 ${MONO};overflow-wrap:anywhere;width:42%`)}>${escapeHtml(name)}</td>` +
      `<td ${themed('ink', `padding:1px 0;vertical-align:top;font:12px/1.5 ${MONO};overflow-wrap:anywhere`)}>${escapeHtml(value)}</td></tr>`,
  )
  const table =
    facts.length > 0
      ? `<table ${LAYOUT} style="width:100%;table-layout:fixed;border-collapse:collapse;margin-top:6px">${facts.join('')}</table>`
      : ''
  const sentences = lines.map(
    ({ text, tone }) =>
      `<div ${themed(INK[tone], 'font-size:13px;line-height:1.45;padding-top:3px;overflow-wrap:anywhere')}>${escapeHtml(text)}</div>`,
  )
  const below =
    note === ''
      ? ''
      : `<div ${themed('muted', 'font-size:13px;line-height:1.45;padding-top:2px')}>${escapeHtml(note)}</div>`
  return `<div ${withLine(themed('ink', 'padding:10px 0;border-bottom-width:1px;border-bottom-style:solid;font-size:14px;line-height:1.45;overflow-wrap:anywhere'), '')}>${pill}${heading}${below}${sentences.join('')}${table}</div>
`
}
