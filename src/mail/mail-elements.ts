import { type Html, html, type Part } from '../core/html.ts'
import { clockText } from '../core/moment-text.ts'
import type { Badge, Block, Cell, Fact, Field, Figure, Item, MailDocument, Tone } from './mail-document.ts'
import { CODE, LAYOUT, type ThemeClass, themed } from './mail-theme.ts'

const SURFACE: Readonly<Record<Tone, ThemeClass>> = { plain: 'soft', good: 'good', bad: 'bad', warn: 'warn' }
const INK: Readonly<Record<Tone, ThemeClass>> = { plain: 'ink', good: 'goodInk', bad: 'badInk', warn: 'warnInk' }

const SMALL = 'font-size:13px;line-height:1.45'
const TINY = 'font-size:12px;line-height:1.4'

/** Displayed size of the logo in pixels. The image has twice as many, for high-density screens. */
const LOGO_SIZE = 24

/**
 * Renders the logo, the product name, what the e-mail is about, and the badge. Screen readers announce the name once,
 * as the text of the logo. Clients that block images show only the name next to it.
 */
export function header({ about, badge }: Pick<MailDocument, 'about' | 'badge'>, logoUrl: string): Html {
  const size = html`width="${LOGO_SIZE}" height="${LOGO_SIZE}"`
  return html`<table ${LAYOUT}><tr>
<td style="width:${LOGO_SIZE + 8}px;line-height:0"><img src="${logoUrl}" ${size} alt="Tagwarden" style="display:block;border:0;font-size:0"></td>
<td ${themed('ink', 'font-weight:700')}><span aria-hidden="true">Tagwarden</span>${about !== '' && html` <span ${themed('muted', 'font-size:13px;font-weight:400')}>${about}</span>`}</td>
${badge && html`<td align="right">${pill(badge)}</td>`}
</tr></table>`
}

function pill({ text, tone }: Badge): Html {
  const style =
    'display:inline-block;padding:1px 9px;border-radius:10px;font-size:12px;line-height:1.5;font-weight:700;white-space:nowrap'
  return html`<span ${themed(SURFACE[tone], style)}>${text}</span>`
}

/** Renders the headline with the lines above and below it. */
export function headline({
  kicker,
  headline,
  tone,
  others,
}: Pick<MailDocument, 'kicker' | 'headline' | 'tone' | 'others'>): Html {
  const line = (text: string) =>
    html`<tr><td ${themed('muted', 'padding:3px 8px 0 0;vertical-align:top;width:10px')}>&bull;</td><td ${themed('ink', 'padding:3px 0 0;line-height:1.45')}>${text}</td></tr>`
  return html`${kicker !== '' && html`<p ${themed('muted', 'margin:0 0 12px;font-size:13px')}>${kicker}</p>\n`}<div ${themed(SURFACE[tone], 'margin:0 0 12px;padding:14px 16px;border-radius:8px')}><h1 style="margin:0;font-size:20px;line-height:1.35;font-weight:700">${headline}</h1></div>
${others.length > 0 && html`<table ${LAYOUT}>${others.map(line)}</table>\n`}`
}

/** Renders the heading of a section; nothing for a section without a title. */
export const heading = (title: string): Part =>
  title !== '' &&
  html`<h2 ${themed('ink', 'margin:28px 0 8px;font-size:16px;line-height:1.3;font-weight:700')}>${title}</h2>\n`

/** Renders a link as a button, followed by its URL. */
export function button({ text, url }: { text: string; url: string }): Html {
  return html`<p style="margin:28px 0 0"><a href="${url}" ${themed('button', 'display:inline-block;padding:11px 22px;border-radius:8px;font-weight:700;text-decoration:none')}>${text}</a></p>
<p ${themed('muted', 'margin:12px 0 0;font-size:13px')}>${url}</p>
`
}

/** Renders the small print, and the links below it in one line. */
export function footer({ notes, links }: Pick<MailDocument, 'notes' | 'links'>): Part {
  const shown = links.map(({ text, url }, at) => [
    at > 0 && ' · ',
    html`<a href="${url}" ${themed('link')}>${text}</a>`,
  ])
  const lines = [...notes, ...(links.length > 0 ? [shown] : [])]
  return lines.length > 0 ? lines.map((line) => html`<div style="padding:2px 0">${line}</div>`) : null
}

export function block(block: Block): Part {
  switch (block.kind) {
    case 'text':
      return html`<p ${themed(INK[block.tone ?? 'plain'], 'margin:0 0 8px;font-size:14px')}>${block.text}</p>\n`
    case 'figures':
      return figures(block.figures)
    case 'hours':
      return hours(block)
    case 'table':
      return table(block)
    case 'items':
      return [...block.items.map(item), more(block.more)]
    case 'callout':
      return callout(block.facts)
    case 'facts':
      return facts(block.facts)
    case 'chart':
      return chart(block)
    case 'event':
      return event(block)
  }
}

type BlockOf<Kind extends Block['kind']> = Extract<Block, { kind: Kind }>

const more = (text: string): Part =>
  text !== '' && html`<p ${themed('muted', `margin:8px 0 12px;${SMALL}`)}>${text}</p>\n`

/** Small text below a value or a title; nothing if it is empty. */
const noteBelow = (text: string, style = TINY): Part =>
  text !== '' && html`<div ${themed('muted', style)}>${text}</div>`

const CONTENT_WIDTH = 592

/**
 * Side-by-side tiles: two per row on a phone, all in one row on a desktop. There is no white space between the tiles,
 * because it would make the row too wide.
 */
function figures(figures: readonly Figure[]): Html {
  const width = Math.floor(CONTENT_WIDTH / figures.length)
  const tile = ({ label, value, note, tone }: Figure) =>
    html`<div style="display:inline-block;width:50%;max-width:${width}px;min-width:118px;vertical-align:top"><div ${themed('soft', 'margin:0 6px 6px 0;padding:10px 12px;border-radius:8px')}>${[
      html`<div ${themed('muted', TINY)}>${label}</div>`,
      html`<div ${themed(INK[tone], 'font-size:20px;line-height:1.35;font-weight:700')}>${value}</div>`,
      noteBelow(note),
    ]}</div></div>`
  return html`<div style="font-size:0">${figures.map(tile)}</div>\n`
}

const BARS_HEIGHT = 56

/**
 * Bar chart of events by hour. Next to each bar is the bar for the same hour a week earlier. The chart consists of
 * coloured table cells, because many clients block images.
 */
function hours({ from, timezone, now, before }: BlockOf<'hours'>): Html {
  const most = Math.max(...now, ...(before ?? []), 1)
  const bar = (count: number, name: ThemeClass, width: number) => {
    const height = count > 0 ? Math.max(2, Math.round((count / most) * BARS_HEIGHT)) : 1
    return html`<div ${themed(name, `display:inline-block;vertical-align:bottom;width:${width}%;height:${height}px`)}></div>`
  }
  const cells = now.map((count, hour) => {
    const bars = before ? [bar(before[hour] ?? 0, 'barBefore', 38), bar(count, 'bar', 48)] : bar(count, 'bar', 80)
    return html`<td style="height:${BARS_HEIGHT}px;padding:0;vertical-align:bottom;font-size:0;line-height:0">${bars}</td>`
  })
  const key = (name: ThemeClass, text: string) =>
    html`<span ${themed(name, 'display:inline-block;width:9px;height:9px;border-radius:2px')}></span> ${text}`
  const earlier = before && html` &nbsp; ${key('barBefore', 'a week earlier')}`
  return html`<table ${LAYOUT} aria-hidden="true" style="table-layout:fixed;border-collapse:collapse;margin-top:4px"><tr>${cells}</tr></table>
<table ${LAYOUT} style="margin:0 0 12px"><tr><td ${themed('muted', `padding:4px 0 0;${TINY}`)}>${key('bar', 'last 24 hours')}${earlier}</td><td ${themed('muted', `padding:4px 0 0;${TINY};text-align:right;white-space:nowrap`)}>hourly from ${clockText(from, timezone)}</td></tr></table>
`
}

function table({ head, rows, more: rest }: BlockOf<'table'>): Part {
  // Phones have no room for three number columns, so the earlier count is hidden there.
  const layout = (column: number) =>
    column === 0 ? [] : head.length === 4 && column === 2 ? (['num', 'wide'] as const) : (['num'] as const)
  const side = (column: number) =>
    column === 0
      ? 'padding:6px 0;text-align:left'
      : 'padding:6px 0 6px 8px;text-align:right;white-space:nowrap;width:88px'
  const border = 'border-bottom:1px solid'
  const heads = head.map((text, column) => {
    const style = `${side(column)};${border};font-size:12px;font-weight:600;vertical-align:bottom`
    return html`<th scope="col" ${themed(['line', 'muted'], style, layout(column))}>${text}</th>`
  })
  const cell = ({ text, tone = 'plain', note = '' }: Cell, column: number) => {
    const style = `${side(column)};${border};font-size:14px;vertical-align:top`
    return html`<td ${themed(['line', INK[tone]], style, layout(column))}>${text}${noteBelow(note)}</td>`
  }
  return html`<table width="100%" cellpadding="0" cellspacing="0" border="0" style="border-collapse:collapse;margin:4px 0 12px">
<thead><tr>${heads}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map(cell)}</tr>\n`)}</tbody>
</table>
${more(rest)}`
}

function item({ title, badge, note, lines, rows, url }: Item): Html {
  const name = url
    ? html`<a href="${url}" ${themed('ink', 'font-weight:600;text-decoration:underline')}>${title}</a>`
    : html`<span ${themed('ink', 'font-weight:600')}>${title}</span>`
  const sentences = lines.map(
    ({ text, tone }) => html`<div ${themed(INK[tone], `padding-top:3px;${SMALL}`)}>${text}</div>`,
  )
  return html`<div ${themed(['line', 'ink'], 'padding:10px 0;border-bottom:1px solid;font-size:14px;line-height:1.45')}>${badge && [pill(badge), ' ']}${name}${noteBelow(note, `padding-top:2px;${SMALL}`)}${sentences}${rows.length > 0 && parameters(rows)}</div>
`
}

/** Names and values without lines between them. */
function parameters(rows: readonly Fact[]): Html {
  const cell = (text: string, name: ThemeClass, style: string) =>
    html`<td dir="auto" ${themed(name, `${style};vertical-align:top;${CODE}`)}>${text}</td>`
  return html`<table ${LAYOUT} style="table-layout:fixed;margin-top:6px">${rows.map(
    ([name, value]) =>
      html`<tr>${cell(name, 'muted', 'padding:1px 10px 1px 0;width:42%')}${cell(value, 'ink', 'padding:1px 0')}</tr>`,
  )}</table>`
}

function callout(facts: readonly Fact[]): Html {
  const parts = facts.map(
    ([label, text], at) =>
      html`<p ${themed('muted', `margin:0;font-size:13px;font-weight:600${at > 0 ? ';padding-top:8px' : ''}`)}>${label}</p><p ${themed('ink', 'margin:0')}>${text}</p>\n`,
  )
  return html`<table ${LAYOUT} style="margin-top:16px"><tr><td ${themed('warnInk', 'padding:2px 0 2px 14px;border-left:3px solid')}>
${parts}</td></tr></table>
`
}

/** Names and values in a table that screen readers announce. */
function facts(facts: readonly Fact[]): Html {
  const cell = 'border-top:1px solid;text-align:left;vertical-align:top;font-weight:400'
  const rows = facts.map(
    ([name, value]) =>
      html`<tr><th scope="row" ${themed(['line', 'muted'], `padding:7px 12px 7px 0;${cell};width:30%`)}>${name}</th><td dir="auto" ${themed('line', `padding:7px 0;${cell}`)}>${value}</td></tr>\n`,
  )
  return html`<table width="100%" cellpadding="0" cellspacing="0" style="margin-top:24px;table-layout:fixed">
${rows}</table>
`
}

function chart({ imageId, text, caption }: BlockOf<'chart'>): Html {
  return html`<img src="cid:${imageId}" width="${CONTENT_WIDTH}" height="128" alt="${text}" style="display:block;width:100%;height:auto;border:0">
<p ${themed('muted', 'margin:6px 0 0;font-size:13px')}>${caption}</p>
`
}

/** Values are shown in columns on wide screens and below their name on narrow screens. See `pair` in the style sheet. */
function event({ head, fields }: BlockOf<'event'>): Html {
  const columns = head?.length ?? 1
  const heads = (titles: readonly string[]) =>
    titles.map(
      (title) => html`<td ${themed('muted', 'padding:0 8px 4px;font-size:13px;font-weight:600')}>${title}</td>`,
    )
  return html`<table${head && html` class="pair"`} width="100%" cellpadding="0" cellspacing="0" style="table-layout:fixed">
${head && html`<tr>${heads(['', ...head])}</tr>\n`}${fields.map((field) => fieldRow(field, columns))}</table>
`
}

function fieldRow({ name, isMarked, values }: Field, columns: number): Html {
  const cell = 'text-align:left;vertical-align:top;line-height:1.45;border-top:1px solid'
  const shown = values.map(({ text, isPlaceholder }, column) => {
    const span = columns > values.length && html` colspan="${columns}"`
    const style = `padding:6px 8px;${cell};${CODE}`
    if (isMarked) {
      const tone = column === 0 ? 'bad' : 'good'
      return html`<td dir="auto" ${themed(tone, `${style};border-color:transparent;font-weight:700`)}>${text}</td>`
    }
    const content = isPlaceholder ? html`<span ${themed('muted', 'font-style:italic')}>${text}</span>` : text
    return html`<td dir="auto" ${themed('line', style)}${span}>${content}</td>`
  })
  const ink = isMarked ? 'ink' : 'muted'
  const weight = isMarked ? 700 : 400
  return html`<tr${columns > values.length && html` class="same"`}><th scope="row" ${themed(['line', ink], `padding:6px 8px 6px 0;${cell};width:30%;font-size:13px;font-weight:${weight}`)}>${isMarked && '≠ '}${name}</th>${shown}</tr>
`
}
