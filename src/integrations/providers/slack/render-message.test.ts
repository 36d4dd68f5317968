import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ISSUE_STATUSES } from '../../../issues/issue.ts'
import { PURCHASE_FACTS, purchaseMessage } from '../../message/message.fixture.ts'
import { buildMessage, type Message } from '../../message/message.ts'
import { faultOfMessage } from './message-limits.fixture.ts'
import { escapeMrkdwn, jsonLength, plain, type Rendered, renderGroup, renderOne } from './render-message.ts'

const pressed = { integrationId: 'int_01ke7jnz804g7v2q9j3k5d8s6w', issueId: 'iss_01ke7k3h20x6b4n8r1t9v5c7zd' }
const standing = { status: 'open', by: null } as const

/** All mrkdwn text in the blocks. */
const shownIn = ({ text, blocks }: Rendered) => `${text}\n${JSON.stringify(blocks)}`

test('a message contains everything both as blocks and as text', () => {
  const message = purchaseMessage()
  const { text, blocks } = renderOne(message, standing, pressed)
  const says = [
    'New issue',
    'critical',
    '128 of 340 purchase events',
    '5 Jan 2026, 10:34 CET',
    'Shop',
    'Google Analytics 4',
    'purchase',
    'Release 42 of the checkout',
    'shop.example, m.shop.example',
    'Open',
    'personal data masked',
    'T-20931',
    'https://tags.company.example/issues/iss_01ke7k3h20x6b4n8r1t9v5c7zd',
    'params.email: j***@',
    '3 issues',
  ]
  for (const words of says) {
    expect(text).toContain(words)
    expect(JSON.stringify(blocks)).toContain(words)
  }
  expect(message.cause).not.toBeNull()
  expect(text).toContain(String(message.cause?.sentence))
  expect(text).toContain('valid: ')
  expect(faultOfMessage({ text, blocks, metadata: null })).toBeNull()
})

describe('untrusted text', () => {
  const nasty = [
    '<!channel>',
    '<!here|all>',
    '<@U024BE7LH>',
    '<https://evil.example|click>',
    '@channel',
    '@here and @all',
    '![](https://evil.example/pixel.png)',
    '[click](https://evil.example)',
    '```</code>',
    '&lt;!channel&gt;',
  ]

  test.each(nasty)('%s creates no mention and no link', (text) => {
    const facts = { ...PURCHASE_FACTS, finding: PURCHASE_FACTS.finding && { ...PURCHASE_FACTS.finding, summary: text } }
    const message: Message = {
      ...purchaseMessage(),
      sentence: text,
      vendor: text,
      event: text,
      domain: { id: 'dom_1', name: text },
      alert: { id: 'alr_1', name: text },
      sample: { params: { [text]: text } },
      goodSample: { params: { other: text } },
      cause: { sentence: text },
      changes: [{ id: 'chg_1', title: text, occurredAt: 0 }],
    }
    const all = [
      renderOne(message, { status: 'resolved', by: text }, pressed),
      renderOne(buildMessage(facts), null),
      renderGroup([
        { message, status: 'open' },
        { message, status: 'muted' },
      ]),
    ]
    for (const one of all) {
      const shown = shownIn(one)
      expect(shown).not.toMatch(/<[!@#]/)
      expect(shown).not.toMatch(/(?<![\p{L}\p{N}])@(?:channel|here|all)/u)
      expect(shown).not.toContain('](')
      // All links point to Tagwarden.
      for (const [, url = ''] of shown.matchAll(/<(https?:[^|>]*)/g)) {
        expect(url).toStartWith('https://tags.company.example/')
      }
      const codes = JSON.stringify(one.blocks).match(/`+/g) ?? []
      expect(codes.every((ticks) => ticks === '```')).toBe(true)
    }
  })

  test('is unchanged apart from escaping', () => {
    expect(escapeMrkdwn('a < b && c > "d"')).toBe('a &lt; b &amp;&amp; c &gt; "d"')
    expect(escapeMrkdwn('ann@example.com')).toBe('ann@example.com')
    expect(escapeMrkdwn('transaction_id * 2')).toBe('transaction_id * 2')
  })

  test('is truncated without breaking an escape sequence', () => {
    const text = fc.string({ unit: fc.constantFrom('&', '<', 'a', '"', '😀', '\\', '@', '\n'), maxLength: 300 })
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 200 }), (text, most) => {
        const cut = plain(text, most)
        expect(jsonLength(cut)).toBeLessThanOrEqual(most)
        expect(cut.isWellFormed()).toBe(true)
        expect(cut.replaceAll(/&(?:amp|lt|gt);/g, '')).not.toContain('&')
      }),
    )
  })
})

describe('with any content', () => {
  const text = fc.oneof(
    // Bullets are counted below.
    fc.string({ unit: 'grapheme', maxLength: 400 }).map((text) => text.replaceAll('•', '')),
    fc.constantFrom('&'.repeat(1000), '"'.repeat(1000), '\\'.repeat(1000), 'x'.repeat(5000), '<!channel>'.repeat(100)),
  )
  const sample = fc.dictionary(text, text, { maxKeys: 40 })
  const message = fc
    .record({
      summary: text,
      notes: text,
      vendor: text,
      event: text,
      hosts: fc.array(text, { maxLength: 20 }),
      title: text,
      name: text,
      sample,
      goodSample: sample,
      cause: text,
    })
    .map(({ summary, notes, vendor, event, hosts, title, name, sample, goodSample, cause }): Message => {
      const finding = { ...PURCHASE_FACTS.finding, summary, vendor, event, sample }
      const issue = { ...PURCHASE_FACTS.issue, title, notes, hosts, resolvedBy: name }
      const changes = [1, 2, 3].map((n) => ({ id: `chg_${n}`, title, occurredAt: 0 }))
      const facts = { ...PURCHASE_FACTS, issue, alert: { id: 'alr_1', name }, domain: { id: 'dom_1', name } }
      const built = buildMessage({ ...facts, finding: finding as typeof PURCHASE_FACTS.finding, changes })
      return { ...built, series: purchaseMessage().series, goodSample, cause: { sentence: cause } }
    })

  const isFit = ({ text, blocks }: Rendered) => {
    expect(faultOfMessage({ text, blocks, metadata: null })).toBeNull()
    expect(text.length + JSON.stringify(blocks).length).toBeLessThanOrEqual(13_200)
  }

  test('a message fits the size limits', () => {
    fc.assert(
      fc.property(message, fc.constantFrom(...ISSUE_STATUSES), text, (message, status, by) => {
        isFit(renderOne(message, { status, by }, pressed))
        isFit(renderOne({ ...message, kind: 'resolved' }, null))
      }),
      { numRuns: 60 },
    )
  })

  test('a group message lists at most 20 issues and counts all', () => {
    fc.assert(
      fc.property(message, fc.integer({ min: 2, max: 500 }), (message, count) => {
        const issues = Array.from({ length: count }, () => ({ message, status: 'open' as const }))
        const { text, blocks } = renderGroup(issues, { ...pressed, issueId: null })
        isFit({ text, blocks })
        const shown = JSON.stringify(blocks)
        expect(shown).toContain(`${count} issues opened`)
        const named = shown.split('•').length - 1
        expect(named).toBeGreaterThan(0)
        expect(named).toBeLessThanOrEqual(20)
        if (count > named) expect(shown).toContain(`and ${count - named} more`)
      }),
      { numRuns: 40 },
    )
  })
})

test('test messages and failed-delivery notices are rendered', () => {
  const message = { ...purchaseMessage(), kind: 'delivery_failed' as const }
  expect(renderOne(message, null).text).toContain('Notification not delivered')
})
