import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { summarizeGroup } from '../../message/grouped-message-text.ts'
import { fallMessage, PURCHASE_FACTS, purchaseMessage } from '../../message/message.fixture.ts'
import type { Message } from '../../message/message.ts'
import {
  type CardMessage,
  cardOf,
  escapeCardText,
  fitCard,
  groupCardOf,
  MAX_BYTES,
  type SizeLimits,
} from './adaptive-card.ts'

const cut: SizeLimits = { text: 1000, sample: 300, rows: 30 }

/** All texts in a card. */
function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) =>
    ['text', 'title', 'value'].includes(name) ? [String(item)] : textsOf(item),
  )
}
const read = (body: string): CardMessage => JSON.parse(body)

/**
 * Parses card Markdown with an independent implementation that removes escapes and treats everything else as mark-up.
 */
function markupIn(text: string): string[] {
  const withoutEscapes = text.replaceAll(/\\[\\`*_~[\]<>&{+.#)-]/g, 'x')
  const found = withoutEscapes.match(/[`*_~[\]<>&]|\{\{|^[-+#] |^\d+[.)] /g)
  return found ?? []
}

describe('untrusted text', () => {
  test.each([
    ['**bold** and _slanted_', String.raw`\*\*bold\*\* and \_slanted\_`],
    ['[click](https://evil.example)', String.raw`\[click\](https://evil.example)`],
    ['<at>Everybody</at>', String.raw`\<at\>Everybody\</at\>`],
    ['&lt;at&gt;', String.raw`\&lt;at\&gt;`],
    ['{{DATE(2026-01-05T00:00:00Z,SHORT)}}', String.raw`\{\{DATE(2026-01-05T00:00:00Z,SHORT)}}`],
    ['- a list', String.raw`\- a list`],
    ['1. a list', String.raw`1\. a list`],
    ['a\\*b', String.raw`a\\\*b`],
    ['transaction_id', String.raw`transaction\_id`],
    ['89.90 €, 5 + 3', '89.90 €, 5 + 3'],
    ['-5', '-5'],
    ['## a heading', String.raw`\## a heading`],
    ['~~gone~~ `code`', '\\~\\~gone\\~\\~ \\`code\\`'],
  ])('%s is shown literally', (text, expected) => expect(escapeCardText(text)).toBe(expected))

  test('contains no mark-up after escaping and is otherwise unchanged', () => {
    const nasty = fc.string({ unit: fc.constantFrom(...'\\`*_~[]<>&{}()#+-.!|1a \u00e9'.split('')), maxLength: 40 })
    fc.assert(
      fc.property(nasty, (text) => {
        expect(markupIn(escapeCardText(text))).toEqual([])
        expect(escapeCardText(text).replaceAll(/\\([\\`*_~[\]<>&{+.#)-])/g, '$1')).toBe(text)
      }),
    )
  })

  test('is escaped everywhere and creates no mentions', () => {
    const evil = '<at>all</at> [x](https://evil.example) **!** {{TIME(2026-01-05T00:00:00Z)}}'
    const message = purchaseMessage({
      issue: { ...PURCHASE_FACTS.issue, title: evil, hosts: [evil], notes: evil },
      alert: { id: 'alr_1', name: evil },
      domain: { id: 'dom_1', name: evil },
      finding: {
        summary: evil,
        observed: null,
        expected: null,
        vendor: evil,
        event: evil,
        sample: { [evil]: evil, params: { [evil]: evil } },
      },
      changes: [{ id: 'chg_1', title: evil, occurredAt: 0 }],
    })
    for (const body of [
      fitCard((cut) => cardOf({ ...message, cause: { sentence: evil } }, cut, evil)),
      fitCard((cut) => groupCardOf(summarizeGroup([{ message }, { message }]), cut)),
    ]) {
      expect(body).not.toMatch(/<at>|<\/at>|entities|\{\{/)
      const { summary, attachments } = read(body)
      expect(summary).not.toMatch(/[<>&]/)
      for (const text of textsOf(attachments)) {
        // All links in a group card point to Tagwarden.
        const others = text.replaceAll(/ \[Open\]\(https:\/\/tags\.company\.example\/issues\/\w+\)$/g, '')
        expect([others, markupIn(others)]).toEqual([others, []])
      }
    }
  })
})

describe('an adaptive card', () => {
  test('shows the problem, its start and location, the compared events and the cause', () => {
    const { attachments } = cardOf(purchaseMessage(), cut)
    const [{ contentType, content }] = attachments
    expect(contentType).toBe('application/vnd.microsoft.card.adaptive')
    expect(content).toMatchObject({
      type: 'AdaptiveCard',
      version: '1.4',
      actions: [{ type: 'Action.OpenUrl', url: 'https://tags.company.example/issues/iss_01ke7k3h20x6b4n8r1t9v5c7zd' }],
    })
    expect(textsOf(content)).toEqual(
      expect.arrayContaining([
        expect.stringContaining(String.raw`\[critical\] New issue: Purchase has a value`),
        expect.stringContaining('128 of 340 purchase events'),
        'Expected',
        'Observed',
        'Since',
        'Domain',
        'Shop',
        'Vendor',
        'Probable cause',
        'Open now',
        expect.stringContaining('Release 42 of the checkout'),
        'Violating vs. valid event (personal data masked)',
        '! params.value',
        expect.stringContaining('valid: 89.90'),
        expect.stringMatching(/^[▁-█]+$/),
        'View issue',
      ]),
    )
  })

  test('includes a chart and a valid event for a volume drop', () => {
    expect(textsOf(cardOf(fallMessage(), cut).attachments)).toEqual(
      expect.arrayContaining(['Valid event (personal data masked)', expect.stringMatching(/^[▁-█]+$/)]),
    )
  })

  test.each(['acknowledged', 'resolved', 'muted'] as const)(
    'shows that an issue is %s and who changed it',
    (status) => {
      const { issue, ...message } = purchaseMessage()
      if (!issue) throw new Error('the message is about an issue')
      const shown = { ...message, issue: { ...issue, status } }
      const word = status.charAt(0).toUpperCase() + status.slice(1)
      expect(textsOf(cardOf(shown, cut, 'Ann_B').attachments)).toContain(String.raw`${word} by Ann\_B`)
      expect(textsOf(cardOf(shown, cut).attachments)).toContain(word)
    },
  )

  test('fits the size limit with any content, without broken escape sequences', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 300, maxLength: 600 }),
      fc.constantFrom('\\', '*', '"', '漢', '😀', '[', 'é').map((one) => one.repeat(1200)),
    )
    const fields = fc.dictionary(fc.string({ minLength: 1, maxLength: 250 }), text, { minKeys: 20, maxKeys: 40 })
    fc.assert(
      fc.property(text, fields, fields, (text, sample, goodSample) => {
        const issue = { ...PURCHASE_FACTS.issue, title: text, hosts: Array(20).fill(text), notes: text }
        const finding = {
          summary: text,
          observed: 1,
          expected: 2,
          expectation: text,
          vendor: text,
          event: text,
          sample,
        }
        const message: Message = { ...purchaseMessage({ issue, finding, alert: { id: 'a', name: text } }), goodSample }
        const body = fitCard((cut) => ({ isGroup: true, activity: cardOf(message, cut, text) }))
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BYTES)
        expect(body.isWellFormed() && textsOf(JSON.parse(body)).every((one) => one.isWellFormed())).toBe(true)
        const members = Array.from({ length: 199 }, () => ({ message }))
        const group = fitCard((cut) => groupCardOf(summarizeGroup(members), cut))
        expect(Buffer.byteLength(group)).toBeLessThanOrEqual(MAX_BYTES)
        expect(textsOf(JSON.parse(group))).toContain('and 179 more')
      }),
      { numRuns: 30, endOnFailure: true },
    )
  })

  test('states how many rows it omits', () => {
    const sample = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`key${index}`, '漢'.repeat(300)]))
    const message: Message = { ...purchaseMessage(), sample, goodSample: null }
    const body = fitCard((cut) => cardOf(message, cut))
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BYTES)
    expect(textsOf(read(body)).filter((one) => one.startsWith('key') || /^and \d+ more$/.test(one))).toHaveLength(30)
  })
})
