import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { summarizeGroup } from '../../message/group-text.ts'
import { fallMessage, PURCHASE_FACTS, purchaseMessage } from '../../message/message.fixture.ts'
import type { Message } from '../../message/message.ts'
import { type CardMessage, type Cut, cardOf, fitting, groupCardOf, MAX_BYTES, plain } from './adaptive-card.ts'

const cut: Cut = { text: 1000, sample: 300, rows: 30 }

/** Every text that a card shows. */
function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) =>
    ['text', 'title', 'value'].includes(name) ? [String(item)] : textsOf(item),
  )
}
const read = (body: string): CardMessage => JSON.parse(body)

/** What the Markdown of cards makes of a text, read with another implementation: escapes are undone, all else is markup. */
function markupIn(text: string): string[] {
  const withoutEscapes = text.replaceAll(/\\[\\`*_~[\]<>&{+.#)-]/g, 'x')
  const found = withoutEscapes.match(/[`*_~[\]<>&]|\{\{|^[-+#] |^\d+[.)] /g)
  return found ?? []
}

describe('text of others', () => {
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
  ])('%s stands as it is', (text, expected) => expect(plain(text)).toBe(expected))

  test('has no markup left, and comes back the same', () => {
    const nasty = fc.string({ unit: fc.constantFrom(...'\\`*_~[]<>&{}()#+-.!|1a \u00e9'.split('')), maxLength: 40 })
    fc.assert(
      fc.property(nasty, (text) => {
        expect(markupIn(plain(text))).toEqual([])
        expect(plain(text).replaceAll(/\\([\\`*_~[\]<>&{+.#)-])/g, '$1')).toBe(text)
      }),
    )
  })

  test('is escaped wherever it stands, and nobody is mentioned', () => {
    const evil = '<at>all</at> [x](https://evil.example) **!** {{TIME(2026-01-05T00:00:00Z)}}'
    const message = purchaseMessage({
      issue: { ...PURCHASE_FACTS.issue, title: evil, hosts: [evil], notes: evil },
      alert: { id: 'alr_1', name: evil },
      domain: { id: 'dom_1', name: evil },
      finding: {
        ...{ summary: evil, observed: null, expected: null, vendor: evil, event: evil },
        sample: { [evil]: evil, params: { [evil]: evil } },
      },
      changes: [{ id: 'chg_1', title: evil, occurredAt: 0 }],
    })
    for (const body of [
      fitting((cut) => cardOf({ ...message, cause: { sentence: evil } }, cut, evil)),
      fitting((cut) => groupCardOf(summarizeGroup([{ message }, { message }]), cut)),
    ]) {
      expect(body).not.toMatch(/<at>|<\/at>|entities|\{\{/)
      const { summary, attachments } = read(body)
      expect(summary).not.toMatch(/[<>&]/)
      for (const text of textsOf(attachments)) {
        // The links of a group are ours.
        const others = text.replaceAll(/ \[Open\]\(https:\/\/tags\.company\.example\/issues\/\w+\)$/g, '')
        expect([others, markupIn(others)]).toEqual([others, []])
      }
    }
  })
})

describe('a card', () => {
  test('answers what is wrong, since when, where, what was seen beside what is good, and why', () => {
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
        ...['Expected', 'Observed', 'Since', 'Domain', 'Shop', 'Vendor', 'Probable cause', 'Open now'],
        expect.stringContaining('Release 42 of the checkout'),
        'One sample beside a good one (personal data masked)',
        '! params.value',
        expect.stringContaining('good: 89.90'),
        expect.stringMatching(/^[▁-█]+$/),
        'Open the issue',
      ]),
    )
  })

  test('of a fall has the course and a good event', () => {
    expect(textsOf(cardOf(fallMessage(), cut).attachments)).toEqual(
      expect.arrayContaining(['A good event (personal data masked)', expect.stringMatching(/^[▁-█]+$/)]),
    )
  })

  test.each(['acknowledged', 'resolved', 'muted'] as const)('shows that an issue is %s, and by whom', (status) => {
    const { issue, ...message } = purchaseMessage()
    if (!issue) throw new Error('the message is about an issue')
    const shown = { ...message, issue: { ...issue, status } }
    const word = status.charAt(0).toUpperCase() + status.slice(1)
    expect(textsOf(cardOf(shown, cut, 'Ann_B').attachments)).toContain(String.raw`${word} by Ann\_B`)
    expect(textsOf(cardOf(shown, cut).attachments)).toContain(word)
  })

  test('fits whatever it has to say, as sent, and is never torn', () => {
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
        const body = fitting((cut) => ({ isGroup: true, activity: cardOf(message, cut, text) }))
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BYTES)
        expect(body.isWellFormed() && textsOf(JSON.parse(body)).every((one) => one.isWellFormed())).toBe(true)
        const members = Array.from({ length: 199 }, () => ({ message }))
        const group = fitting((cut) => groupCardOf(summarizeGroup(members), cut))
        expect(Buffer.byteLength(group)).toBeLessThanOrEqual(MAX_BYTES)
        expect(textsOf(JSON.parse(group))).toContain('and 179 more')
      }),
      { numRuns: 30, endOnFailure: true },
    )
  })

  test('says how much it left out', () => {
    const sample = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`key${index}`, '漢'.repeat(300)]))
    const message: Message = { ...purchaseMessage(), sample, goodSample: null }
    const body = fitting((cut) => cardOf(message, cut))
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BYTES)
    expect(textsOf(read(body)).filter((one) => one.startsWith('key') || /^and \d+ more$/.test(one))).toHaveLength(30)
  })
})
