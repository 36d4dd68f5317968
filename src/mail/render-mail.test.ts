import { expect, test } from 'bun:test'
import { type Block, type MailDocument, NO_EXTRAS, type PlainBlock } from './mail-document.ts'
import { MAX_HTML_BYTES, renderMailHtml } from './render-mail-html.ts'
import { renderMailText } from './render-mail-text.ts'

const letter: MailDocument = {
  ...NO_EXTRAS,
  subject: 'Tagwarden: reset your password',
  headline: 'You requested a new password.',
  sections: [{ title: '', blocks: [{ kind: 'text', text: 'Open this link:' }] }],
  button: { text: 'Set a new password', url: 'https://watch.example/reset?a=1&b=2' },
  notes: ['Ignore this e-mail if you did not request it.'],
}

test('the plain text of a short mail contains the headline, text, link and note', () => {
  expect(renderMailText(letter)).toBe(`You requested a new password.

Open this link:

https://watch.example/reset?a=1&b=2

${'-'.repeat(78)}
Ignore this e-mail if you did not request it.
`)
})

test('a page has the title, headline, button and note of the mail', () => {
  const page = renderMailHtml(letter)
  expect(page).toContain('<title>Tagwarden: reset your password</title>')
  expect(page).toMatch(/<h1 [^>]*>You requested a new password\.<\/h1>/)
  expect(page).toMatch(/<a href="https:\/\/watch\.example\/reset\?a=1&amp;b=2" [^>]*>Set a new password<\/a>/)
  expect(page).toContain('Ignore this e-mail if you did not request it.')
})

test('parts that a mail lacks leave no empty elements', () => {
  const bare = { ...NO_EXTRAS, subject: 'a', headline: 'a' }
  expect(renderMailText(bare)).toBe('a\n')
  expect(renderMailHtml(bare).replace(/<style>[\s\S]*<\/style>/, '')).not.toMatch(/<(?:p|h2|a|td|tr|span)\b[^>]*><\//)
})

const evil = `<img src=x onerror=alert(1)> "'&</style><script>`
const all: Block[] = [
  { kind: 'text', text: evil },
  { kind: 'figures', figures: [{ label: evil, value: evil, note: evil, tone: 'bad' }] },
  { kind: 'hours', from: 0, timezone: 'Asia/Kolkata', now: [1, 2], before: [2, 1] },
  { kind: 'table', head: [evil, evil], rows: [[{ text: evil, note: evil }, { text: evil }]], more: evil },
  {
    kind: 'items',
    items: [
      {
        title: evil,
        badge: { text: evil, tone: 'warn' },
        note: evil,
        lines: [{ text: evil, tone: 'plain' }],
        rows: [[evil, evil]],
        url: evil,
      },
    ],
    more: evil,
  },
  { kind: 'callout', facts: [[evil, evil]] },
  { kind: 'facts', facts: [[evil, evil]] },
  { kind: 'chart', imageId: evil, text: evil, caption: evil },
  {
    kind: 'event',
    head: [evil, evil],
    fields: [true, false].map((isMarked) => ({
      name: evil,
      isMarked,
      values: [
        { text: evil, isPlaceholder: false },
        { text: evil, isPlaceholder: true },
      ],
    })),
  },
]

test('the hours of a chart are in the time zone of the organization', () => {
  const hours: PlainBlock = { kind: 'hours', from: 0, timezone: 'Asia/Kolkata', now: [1, 8], before: null }
  const mail = { ...NO_EXTRAS, subject: 's', headline: 'h', sections: [{ title: '', blocks: [hours] }] }
  expect(renderMailHtml(mail)).toContain('hourly from 05:30 GMT+5:30')
  expect(renderMailText(mail)).toContain('Hourly from 05:30 GMT+5:30: ▂█')
})

test('every element escapes external text', () => {
  const link = { text: evil, url: evil }
  const parts = { subject: evil, preview: evil, about: evil, kicker: evil, headline: evil, others: [evil] }
  const page = renderMailHtml({
    ...NO_EXTRAS,
    ...parts,
    badge: { text: evil, tone: 'good' },
    sections: [{ title: evil, blocks: all }],
    button: link,
    notes: [evil],
    links: [link],
  })
  // The only images are the logo and the chart, and the only style sheet is the one of the theme.
  expect(page.match(/<(?:img|script|style)/g)).toEqual(['<style', '<img', '<img'])
  expect(page.match(/<\/style>/g)).toHaveLength(1)
  expect(page).not.toMatch(/onerror=alert\(1\)>/)
})

test('the last sections are omitted from a page that would be larger than 100 kB', () => {
  const sections = Array.from({ length: 5 }, (_, at) => ({
    title: `Section ${at + 1}`,
    blocks: [{ kind: 'text' as const, text: 'x'.repeat(30_000) }],
  }))
  const page = renderMailHtml({ ...letter, sections })
  expect(Buffer.byteLength(page)).toBeLessThan(MAX_HTML_BYTES)
  expect(page).toContain('Section 3')
  expect(page).not.toContain('Section 4')
  expect(page).toContain('2 more sections in the dashboard, omitted to keep this e-mail short.')
  expect(page).toContain('Set a new password')
})
