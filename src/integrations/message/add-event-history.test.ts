import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HOUR_MS } from '../../core/clock.ts'
import { webhookBody } from '../providers/webhook/standard-webhooks.ts'
import { MAX_POINTS, withHistory } from './add-event-history.ts'
import { NOTIFIED_AT, PURCHASE_FACTS, purchaseMessage } from './message.fixture.ts'
import { buildMessage, type MessageHistory, NO_HISTORY } from './message.ts'
import { comparedRowsOf, rowsOf, textOf } from './message-text.ts'

const bare = buildMessage(PURCHASE_FACTS)
const series = (count: number, countAt = (index: number) => index) =>
  Array.from({ length: count }, (_, index) => ({ at: index * HOUR_MS, value: countAt(index), expected: 1 }))
const told = (history: Partial<MessageHistory>, message = bare) => withHistory(message, { ...NO_HISTORY, ...history })

test('a new message has no event history', () => {
  expect(bare).toMatchObject({ ...NO_HISTORY, firstBadAt: PURCHASE_FACTS.issue.firstSeenAt })
  expect(told({})).toEqual(bare)
})

describe('the series of a message', () => {
  test('is unchanged up to 100 points', () => {
    expect(told({ series: series(100) }).series).toEqual(series(100))
  })

  test.each([
    [101, 51],
    [400, 100],
  ])('with %i points is averaged to %i points', (count, points) => {
    const merged = told({ series: series(count, () => 7) }).series ?? []
    expect(merged).toHaveLength(points)
    expect(merged[0]).toEqual({ at: 0, value: 7, expected: 1 })
    expect(new Set(merged.map(({ value }) => value))).toEqual(new Set([7]))
    expect(merged.length).toBeLessThanOrEqual(MAX_POINTS)
  })

  test.each([0, 1])('with %i points has no chart', (count) => {
    expect(told({ series: series(count) }).series).toBeNull()
  })
})

describe('the size limit of 20 kB', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 1500 }),
    fc.string({ unit: fc.constantFrom('€', '"', '\\', '😀'), minLength: 900, maxLength: 1500 }),
  )
  const sample = fc.dictionary(text, fc.oneof(text, fc.dictionary(text, text)), { maxKeys: 60 })
  const facts = fc.record({
    texts: fc.array(text, { minLength: 8, maxLength: 8 }),
    hosts: fc.array(text, { maxLength: 20 }),
    sample,
    goodSample: sample,
    count: fc.nat(400),
    fields: fc.array(text, { maxLength: 30 }),
  })

  test('is met with any names in an issue, its events and its history', () => {
    fc.assert(
      fc.property(facts, ({ texts, hosts, sample, goodSample, count, fields }) => {
        const [title = '', notes = '', name = '', vendor = '', event = '', summary = '', change = '', cause = ''] =
          texts
        const message = buildMessage({
          ...PURCHASE_FACTS,
          issue: { ...PURCHASE_FACTS.issue, title, notes, hosts },
          alert: { id: 'alr_1', name },
          domain: { id: 'dom_1', name },
          finding: { summary, observed: 1, expected: 2, vendor, event, sample },
          changes: [1, 2, 3].map((id) => ({ id: `chg_${id}`, title: change, occurredAt: NOTIFIED_AT })),
        })
        const whole = withHistory(message, {
          goodSample,
          series: series(count, (index) => index * 1e6 + 0.25),
          cause: { sentence: cause },
          affected: { sentence: cause },
          fields,
        })
        for (const one of [message, whole]) {
          expect(Buffer.byteLength(JSON.stringify(one))).toBeLessThan(20_000)
          expect(Buffer.byteLength(webhookBody(one))).toBeLessThan(20_000)
        }
        expect(webhookBody(whole)).toBe(webhookBody(message))
      }),
      { numRuns: 60 },
    )
  })
})

describe('the comparison of a violating event with a valid one', () => {
  const pair = (sample: object, goodSample: object, fields: string[] | null = null) =>
    comparedRowsOf({ ...bare, sample: { ...sample }, goodSample: { ...goodSample }, fields }).map(
      ({ key, bad, good, isMarked }) => `${isMarked ? '*' : ''}${key} ${bad}|${good}`,
    )

  test("starts with the rule's fields and keeps the event's field order", () => {
    const good = { host: 'a', params: { id: '2', value: '5', only: 'x' } }
    expect(pair({ host: 'a', params: { id: '1', value: '' } }, good, ['value'])).toEqual([
      '*params.value |5',
      'host a|a',
      'params.id 1|2',
      'params.only null|x',
    ])
  })

  test.each<[string[] | null, string[]]>([
    [['$host'], ['*host a|b']],
    [['$$host'], ['*params.$host x|y']],
    [['gone'], []],
  ])('marks the fields that the rule checks: %j', (fields, marked) => {
    const rows = pair({ host: 'a', params: { $host: 'x' } }, { host: 'b', params: { $host: 'y' } }, fields)
    expect(rows.filter((row) => row.startsWith('*'))).toEqual(marked)
  })

  test('marks missing and masked values if the rule specifies no field', () => {
    const bad = { path: '/a', params: { id: '1', q: 'j***@m***.com', coupon: '' } }
    const good = { path: '/b', params: { id: '2', q: 'shoes', coupon: 'SPRING' } }
    expect(pair(bad, good)).toEqual([
      '*params.q j***@m***.com|shoes',
      '*params.coupon |SPRING',
      'path /a|/b',
      'params.id 1|2',
    ])
  })

  test('is empty unless both events are present', () => {
    expect(comparedRowsOf({ ...bare, goodSample: null })).toEqual([])
    expect(comparedRowsOf({ ...bare, sample: null, goodSample: { host: 'a' } })).toEqual([])
  })
})

test('the plain text contains all parts of the message', () => {
  expect(
    textOf(purchaseMessage()),
  ).toBe(`New issue: Purchase has a value: 128 of 340 purchase events had no \`value\`; expected none (Google Analytics 4) on Shop.

Expected: 0
Observed: 128
Since: 5 Jan 2026, 10:34 CET
Last seen: 5 Jan 2026, 13:33 CET
Domain: Shop
Vendor: Google Analytics 4
Event: purchase
Probable cause: The issue began in the watch window of a change: Release 42 of the checkout.
Change: Release 42 of the checkout, 5 Jan 2026, 10:29 CET
Hosts: shop.example, m.shop.example
Severity: critical
Impact value: 2,500
Open now: 3 issues

Violating events per hour, 4 Jan 2026, 14:00 to 5 Jan 2026, 14:00 CET; highest 48:
▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▃▇█▅

Violating vs. valid event (personal data masked); * marks relevant differences
* params.value: empty (valid: 89.90)
  time: 5 Jan 2026, 13:33 CET (valid: 5 Jan 2026, 13:31 CET)
  env: prod
  vendor: Google Analytics 4
  event: purchase
  account: G-8QX2M1
  kind: event
  host: shop.example
  path: /checkout/thank-you
  title: Thank you for your order
  sessionId: 1736080452.8841 (valid: 1736080102.1177)
  params.currency: EUR
  params.transaction_id: T-20931 (valid: T-20907)
  params.email: j***@m***.com (valid: missing)
  params.items: 2 (valid: 1)

https://tags.company.example/issues/iss_01ke7k3h20x6b4n8r1t9v5c7zd
`)
})

test('a message says who is affected', () => {
  const affected = { sentence: '98 % of violations come from Safari 18 on iOS; elsewhere 0.3 % of events violate.' }
  expect(rowsOf({ ...purchaseMessage(), affected })).toContainEqual(['Who is affected', affected.sentence])
})

test('a reopened issue shows the start of the current incident and when it was first seen', () => {
  const message = buildMessage({ ...PURCHASE_FACTS, transition: 'reopened', firstBadAt: NOTIFIED_AT - HOUR_MS })
  expect(rowsOf(message)).toContainEqual(['Since', '5 Jan 2026, 12:34 CET'])
  expect(rowsOf(message)).toContainEqual(['First seen', '5 Jan 2026, 10:34 CET'])
})
