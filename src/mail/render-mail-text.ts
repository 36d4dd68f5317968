import { clockText } from '../core/moment-text.ts'
import { barsText } from '../core/text.ts'
import type { Cell, Item, MailDocument, PlainBlock, Section } from './mail-document.ts'

const WIDTH = 78

/** Renders an e-mail as plain text, with the same content and order as the HTML. */
export function renderMailText(mail: MailDocument): string {
  const { about, kicker, headline, others, sections, button, notes, links } = mail
  const above = [...(about === '' ? [] : [`Tagwarden ${about}`]), ...(kicker === '' ? [] : [kicker])]
  const below = [...notes.map((note) => wrapped(note)), ...links.map(({ text, url }) => `${text}: ${url}`)]
  const parts = [
    above.join('\n'),
    [wrapped(headline), ...others.map((text) => wrapped(`- ${text}`, '  '))].join('\n'),
    ...sections.map(sectionOf),
    button?.url ?? '',
    below.length === 0 ? '' : `${'-'.repeat(WIDTH)}\n${below.join('\n')}`,
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function sectionOf({ title, blocks }: Section): string {
  const name = title.toUpperCase()
  return [...(name === '' ? [] : [`${name}\n${'='.repeat(name.length)}`]), ...blocks.map(blockOf)].join('\n\n')
}

function blockOf(block: PlainBlock): string {
  switch (block.kind) {
    case 'text':
      return wrapped(block.text)
    case 'figures':
      return block.figures
        .map(({ label, value, note }) => `${label}: ${value}${note === '' ? '' : ` (${note})`}`)
        .join('\n')
    case 'hours':
      return hoursOf(block)
    case 'table':
      return withMore(tableOf(block.head, block.rows), block.more)
    case 'items':
      return withMore(block.items.map(itemOf).join('\n\n'), block.more)
  }
}

const withMore = (text: string, more: string) => (more === '' ? text : `${text}\n  ${more}`)

function hoursOf({ from, timezone, now, before }: Extract<PlainBlock, { kind: 'hours' }>): string {
  const most = Math.max(...now, ...(before ?? []), 1)
  const lines = [`Hourly from ${clockText(from, timezone)}: ${barsText(now, most)}`]
  if (before) lines.push(`${'A week earlier:'.padEnd((lines[0]?.length ?? 0) - now.length)}${barsText(before, most)}`)
  return lines.join('\n')
}

/** Names on the left, numbers in columns on the right, notes on separate lines. */
function tableOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = [head, ...rows.map((cells) => cells.map(({ text }) => text))]
  const widths = head.slice(1).map((_, at) => Math.max(...texts.map((cells) => (cells[at + 1] ?? '').length)))
  const room = WIDTH - widths.reduce((sum, width) => sum + width + 2, 0)
  const first = Math.min(room, Math.max(...texts.map(([name = '']) => name.length)))
  const line = ([name = '', ...numbers]: readonly string[]) => {
    const columns = numbers.map((number, at) => `  ${number.padStart(widths[at] ?? 0)}`).join('')
    // A long name is placed on its own line, so that numbers stay aligned.
    return name.length > first ? `${wrapped(name)}\n${' '.repeat(first)}${columns}` : `${name.padEnd(first)}${columns}`
  }
  const [heading = '', ...lines] = texts.map(line)
  const notes = rows.map(([cell]) => (cell?.note ? `\n  ${wrapped(cell.note, '  ')}` : ''))
  return [heading, ...lines.map((text, at) => `${text}${notes[at]}`)].join('\n')
}

function itemOf({ title, badge, note, lines, rows, url }: Item): string {
  const all = [
    wrapped(`* ${badge ? `[${badge.text}] ` : ''}${title}`, '  '),
    ...(note === '' ? [] : [`  ${wrapped(note, '  ')}`]),
    ...lines.map(({ text }) => `  ${wrapped(`- ${text}`, '    ')}`),
    ...rows.map(([name, value]) => `    ${wrapped(`${name}: ${value}`, '      ')}`),
    ...(url ? [`  ${url}`] : []),
  ]
  return all.join('\n')
}

/** Wraps text at word boundaries. */
function wrapped(text: string, indent = ''): string {
  let line = 0
  return text
    .split(' ')
    .map((word, at) => {
      const fits = at === 0 || line + 1 + word.length <= WIDTH - indent.length
      line = fits ? line + word.length + (at === 0 ? 0 : 1) : word.length
      return at === 0 ? word : fits ? ` ${word}` : `\n${indent}${word}`
    })
    .join('')
}
