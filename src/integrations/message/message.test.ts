import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { alertOf, volumeInput } from '../../alerts/alert.fixture.ts'
import { volumeThreshold } from '../../alerts/types/volume/volume-threshold.ts'
import { plainEvent } from '../../core/event.fixture.ts'
import { numberText, oneLine } from '../../core/text.ts'
import { LOGO_CID_URL } from '../../mail/mail-logo.ts'
import { webhookBody } from '../providers/webhook/standard-webhooks.ts'
import { buildMessage, failureMessage, type Message, type MessageFacts, testMessage } from './message.ts'
import { htmlOf } from './message-mail.ts'
import { rowsOf, sampleRowsOf, subjectOf, textOf } from './message-text.ts'

const at = Date.UTC(2026, 0, 5, 12, 34, 56)

const facts: MessageFacts = {
  transition: 'opened',
  at,
  publicUrl: 'https://watch.example',
  issue: {
    id: 'iss_1',
    title: 'Purchase has a value: GA4 purchase events break the rule on shop.example',
    status: 'open',
    severity: 'critical',
    alertType: 'data_validation',
    occurrences: 12,
    impactValue: 2500,
    firstSeenAt: at - 3_600_000,
    lastSeenAt: at,
    hosts: ['shop.example', 'm.shop.example'],
  },
  alert: { id: 'alr_1', name: 'Purchase has a value' },
  domain: { id: 'dom_1', name: 'Shop' },
  finding: {
    summary: '12 events broke the rule',
    observed: null,
    expected: null,
    vendor: 'GA4',
    event: 'purchase',
    sample: { event: 'purchase', host: 'shop.example', params: { value: '', email: 'a…@…' } },
  },
  timezone: 'UTC',
  openNow: 3,
}
const tooFew = {
  summary: '0 events, expected at least 10',
  observed: 0,
  expected: 10,
  expectation: 'at least 10',
  vendor: 'GA4',
  event: null,
  sample: null,
}
const volume: MessageFacts = {
  ...facts,
  issue: { ...facts.issue, alertType: 'volume_threshold', impactValue: null },
  finding: tooFew,
}
const observedOnly: MessageFacts = {
  ...volume,
  finding: { summary: '', observed: 0, expected: null, vendor: null, event: null, sample: null },
}

test('every message has a summary, expected and observed values, start, location, sample, count and link', () => {
  expect(
    textOf({ ...buildMessage(facts), heldBack: 2 }),
  ).toBe(`New issue: Purchase has a value: 12 events broke the rule (GA4 purchase) on Shop.

Expected: no event that breaks the rule
Observed: 12 events so far
Since: 5 Jan 2026, 11:34 UTC
Last seen: 5 Jan 2026, 12:34 UTC
Domain: Shop
Vendor: GA4
Event: purchase
Hosts: shop.example, m.shop.example
Severity: critical
Impact value: 2,500
Held back: 2 earlier notifications, due to throttling
Open now: 3 issues

Sample event (personal data masked)
event: purchase
host: shop.example
params.value: 
params.email: a…@…

https://watch.example/issues/iss_1
`)
})

test("an impact value is shown in the organization's currency", () => {
  for (const [currency, shown] of [
    ['EUR', '2,500 EUR'],
    [null, '2,500'],
    [undefined, '2,500'],
  ] as const) {
    const message = buildMessage({ ...facts, ...(currency === undefined ? {} : { currency }) })
    expect(rowsOf(message)).toContainEqual(['Impact value', shown])
  }
})

test('a volume message shows the observed and expected counts', () => {
  const message = buildMessage({ ...volume, openNow: 1 })
  expect(message.sentence).toBe('Purchase has a value: 0 events, expected at least 10 (GA4) on Shop.')
  const rows = rowsOf(message)
  expect(rows.slice(0, 2)).toEqual([
    ['Expected', 'at least 10'],
    ['Observed', '0'],
  ])
  expect(rows).toContainEqual(['Open now', '1 issue'])
})

test.each<['lte' | 'gte', number, string]>([
  ['lte', 0, 'more than 0'],
  ['lte', 2000, 'more than 2,000'],
  ['gte', 0, 'fewer than 0'],
])('a threshold message (%s %i) has the same expected value as its summary, even when resolved', (op, count, words) => {
  const alert = alertOf({ ...volumeInput, volume: { op, count } })
  const window = { from: at - 3_600_000, to: at, complete: true }
  const [finding] = volumeThreshold.judge(alert, [], window, [{ id: 'dom_1', createdAt: 0 }])
  if (!finding) throw new Error('the alert fires')
  const opened = buildMessage({ ...volume, finding })
  expect(opened.sentence).toContain(`0 events, expected ${words}`)
  for (const message of [opened, buildMessage({ ...volume, finding, transition: 'resolved' })]) {
    expect(rowsOf(message).slice(0, 2)).toEqual([
      ['Expected', words],
      ['Observed', '0'],
    ])
    expect(JSON.parse(webhookBody(message)).data.issue).toMatchObject({ observed: 0, expected: count })
  }
})

test('a message from an earlier version without an expectation text shows the number', () => {
  const { expectation, ...older } = buildMessage(volume)
  expect(rowsOf(older as Message)[0]).toEqual(['Expected', '10'])
})

test('an expected value without a text is shown as a number', () => {
  const { expectation: _none, ...usual } = { ...tooFew, summary: '40 events, about 90 expected', expected: 90 }
  expect(rowsOf(buildMessage({ ...volume, finding: { ...facts.finding, ...usual } }))[0]).toEqual(['Expected', '90'])
})

test('a sample shows the known fields and only one timestamp', () => {
  const { orgId, violations, ...sample } = plainEvent({
    seq: 17,
    ts: at - 1000,
    receivedAt: at,
    event: 'purchase',
    host: 'shop.example',
    sessionId: 's1',
    execMs: 12,
    version: 3,
    segments: { browser: 'Safari' },
    params: { value: '', id: '5', weight: '1', ts: '7' },
  })
  const rows = (more: object) =>
    sampleRowsOf(stored({ ...facts, finding: { ...tooFew, sample: { ...sample, ...more } } }))
  expect(rows({})).toEqual([
    ['time', '5 Jan 2026, 12:34 UTC'],
    ['env', 'prod'],
    ['vendor', 'Google Analytics 4'],
    ['event', 'purchase'],
    ['kind', 'event'],
    ['host', 'shop.example'],
    ['sessionId', 's1'],
    ['execMs', '12'],
    ['version', '3'],
    ['browser', 'Safari'],
    ['params.value', ''],
    ['params.id', '5'],
    ['params.weight', '1'],
    ['params.ts', '7'],
  ])
  expect(rows({ weight: 10 })).toContainEqual(['weight', '10'])
  expect(rows({ ts: 1e300 })[0]).toEqual(['ts', '1e+300'])
})

const sentences: [string, MessageFacts, string][] = [
  ['an automatic resolution', { ...facts, transition: 'resolved' }, `${facts.issue.title}: resolved on Shop.`],
  [
    'a resolution by a user',
    { ...facts, transition: 'resolved', issue: { ...facts.issue, resolvedBy: 'Ann' } },
    `${facts.issue.title}: resolved by Ann on Shop.`,
  ],
  [
    'names that the summary already contains',
    {
      ...facts,
      finding: { ...tooFew, summary: '12 of 340 purchase events had no `id`; expected none', event: 'purchase' },
    },
    'Purchase has a value: 12 of 340 purchase events had no `id`; expected none (GA4) on Shop.',
  ],
  [
    'names that the alert name already contains',
    { ...facts, alert: { id: 'alr_1', name: 'GA4 on Shop' }, finding: { ...tooFew, event: 'GA4' } },
    'GA4 on Shop: 0 events, expected at least 10.',
  ],
  ['no domain', { ...facts, domain: null }, 'Purchase has a value: 12 events broke the rule (GA4 purchase).'],
  ['no finding', { ...facts, finding: null }, `${facts.issue.title} on Shop.`],
]
test.each(sentences)('the summary sentence has the expected text with %s', (_name, some, sentence) => {
  expect(buildMessage(some).sentence).toBe(sentence)
})

test.each([
  ['opened', '[critical] New issue: '],
  ['reopened', '[critical] Reopened: '],
  ['repeated', '[critical] Still happening: '],
  ['resolved', '[critical] Resolved: '],
] as const)('the subject of a message of kind %s starts with its prefix', (transition, beginning) => {
  expect(subjectOf(buildMessage({ ...facts, transition }))).toBe(`${beginning}${facts.issue.title} (Shop)`)
})

test.each([
  ['Shop', 'Purchases: events break the rule on shop.example', ' (Shop)'],
  ['shop.example', 'Purchases: events break the rule on shop.example', ''],
  ['Shop', 'Purchases on Shop: 0 events', ''],
])('the subject contains the domain name %s only once: %s', (name, title, end) => {
  const message = buildMessage({ ...facts, domain: { id: 'dom_1', name }, issue: { ...facts.issue, title } })
  expect(subjectOf(message)).toBe(`[critical] New issue: ${title}${end}`)
})

test('a resolution message includes the user and the notes', () => {
  const issue = { ...facts.issue, resolvedBy: 'Ann', notes: 'Fixed in\nrelease 42' }
  const resolved = buildMessage({ ...facts, transition: 'resolved', issue })
  expect(rowsOf(resolved)).toContainEqual(['Resolved by', 'Ann'])
  expect(rowsOf(resolved)).toContainEqual(['Note', 'Fixed in release 42'])
  expect(JSON.parse(webhookBody(resolved)).data.issue).toMatchObject({
    resolvedBy: 'Ann',
    notes: 'Fixed in release 42',
  })
  const labels = rowsOf(buildMessage({ ...facts, issue })).map(([label]) => label)
  expect([labels.includes('Resolved by'), labels.includes('Note')]).toEqual([false, true])
})

test('a test message contains only a summary and a link', () => {
  const message = testMessage({ at, publicUrl: 'https://watch.example', label: 'On call' })
  expect(subjectOf(message)).toBe('Tagwarden: test')
  expect(textOf(message)).toBe(
    'Test: This is a test of the integration On call. Notifications will be sent here.\n\nhttps://watch.example/integrations\n',
  )
})

test('a failure message includes the notification and the reason', () => {
  const lost = buildMessage(facts)
  const message = failureMessage(lost, { at, channel: 'Webhook hooks.example.com', reason: 'HTTP 410' })
  expect(message.sentence).toBe(
    'The notification about Purchase has a value could not be delivered via Webhook hooks.example.com: HTTP 410.',
  )
  expect(subjectOf(message)).toStartWith('[critical] Notification not delivered: ')
  expect(rowsOf(message)).toEqual(rowsOf(lost))
})

/** Hostile text: mark-up, line breaks, control characters, lone surrogates and very long text. */
const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 600 }),
  fc.constantFrom(
    '<img src=x onerror=alert(1)>',
    '"><script>',
    "' onload='x",
    'a\r\nBcc: eve@example.com',
    '\ud800',
    '\u202eevil',
  ),
  fc.string({ unit: fc.constantFrom('"', '\\', '\u0001', '€', '\ud83d\ude00'), minLength: 500, maxLength: 5000 }),
)
const nastyFacts: fc.Arbitrary<MessageFacts> = fc.record({
  transition: fc.constantFrom('opened', 'reopened', 'repeated', 'resolved'),
  at: fc.constant(at),
  publicUrl: fc.constant('https://watch.example'),
  issue: fc.record({
    id: fc.constant('iss_1'),
    title: nasty,
    status: fc.constantFrom('open', 'acknowledged', 'resolved', 'muted'),
    severity: fc.constantFrom('low', 'critical'),
    alertType: fc.constantFrom('data_validation', 'journey', 'volume_anomaly'),
    occurrences: fc.nat(),
    impactValue: fc.option(fc.nat()),
    firstSeenAt: fc.constant(at),
    lastSeenAt: fc.constant(at),
    hosts: fc.option(fc.array(nasty, { maxLength: 30 })),
  }),
  alert: fc.record({ id: fc.constant('alr_1'), name: nasty }),
  domain: fc.option(fc.record({ id: fc.constant('dom_1'), name: nasty })),
  finding: fc.option(
    fc.record({
      summary: nasty,
      observed: fc.option(fc.double()),
      expected: fc.option(fc.double()),
      vendor: fc.option(nasty),
      event: fc.option(nasty),
      sample: fc.option(
        fc.dictionary(nasty, fc.oneof(nasty, fc.jsonValue(), fc.array(nasty), fc.dictionary(nasty, nasty))),
      ),
    }),
  ),
  timezone: fc.constantFrom('UTC', 'Asia/Kolkata'),
  openNow: fc.nat(),
})

/** Returns the message after JSON serialization and parsing, as it is in the outbox. */
const stored = (some: MessageFacts): Message => JSON.parse(JSON.stringify(buildMessage(some)))

describe('a message with hostile alert, event and page names', () => {
  const parameters = { numRuns: 150 }

  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters looked for
  const unfit = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/
  test('has a subject on one short line', () => {
    fc.assert(
      fc.property(nastyFacts, (some) => {
        const subject = subjectOf(stored(some))
        expect(subject).not.toMatch(unfit)
        expect(subject.isWellFormed()).toBe(true)
        expect(subject.length).toBeLessThanOrEqual(200)
      }),
      parameters,
    )
  })

  test('has one line of text for each fact', () => {
    fc.assert(
      fc.property(nastyFacts, (some) => {
        const message = stored(some)
        const rows = [...rowsOf(message), ...sampleRowsOf(message)]
        const lines = textOf(message).split('\n')
        expect(lines).toHaveLength(5 + rows.length + (sampleRowsOf(message).length > 0 ? 2 : 0))
        for (const line of lines) expect(line).not.toMatch(unfit)
      }),
      parameters,
    )
  })

  /** All styles used in pages without hostile text, for every kind of message. */
  const ourStyles = new Set(
    (['opened', 'reopened', 'repeated', 'resolved'] as const).flatMap((transition) =>
      (['low', 'critical'] as const).flatMap((severity) =>
        [facts, volume, observedOnly, { ...facts, finding: null }].flatMap((some) => {
          const page = htmlOf(buildMessage({ ...some, transition, issue: { ...some.issue, severity } }))
          return [...page.matchAll(/style="([^"]*)"/g)].map(([, style = '']) => style)
        }),
      ),
    ),
  )

  test('has an HTML page that contains no injected elements and loads no resources', () => {
    fc.assert(
      fc.property(nastyFacts, (some) => {
        const page = htmlOf(stored(some))
        const tags = [...page.matchAll(/<\/?([a-z0-9!]+)([^<>]*)>/gi)]
        const known = 'html head meta title style body div h1 h2 p span table tr th td a img !doctype'.split(' ')
        for (const [, name, attributes = ''] of tags) {
          expect(known).toContain(name ?? '')
          const ours = attributes.replace(`src="${LOGO_CID_URL}"`, '')
          expect(ours).not.toMatch(/\b(src|on\w+|background)\s*=/i)
          // Every style comes from the template, so none loads resources or contains external text.
          for (const [, style = ''] of attributes.matchAll(/style="([^"]*)"/g)) expect(ourStyles).toContain(style)
        }
        expect(page.match(/[<>]/g)?.length).toBe(tags.length * 2)
        const links = [...page.matchAll(/href="([^"]*)"/g)].map(([, link]) => link)
        expect(links).toEqual(['https://watch.example/issues/iss_1'])
      }),
      parameters,
    )
  })

  test('has a webhook body below 20 kB that loses no data', () => {
    fc.assert(
      fc.property(nastyFacts, (some) => {
        const body = webhookBody(stored(some))
        expect(Buffer.byteLength(body)).toBeLessThan(20_000)
        expect(JSON.parse(body)).toMatchObject({
          type: `issue.${some.transition}`,
          timestamp: '2026-01-05T12:34:56.000Z',
          data: { issue: { id: 'iss_1', occurrences: some.issue.occurrences }, alert: { id: 'alr_1' } },
        })
      }),
      parameters,
    )
  })
})

test('times are in the time zone of the organization, and in UTC in messages of earlier versions', () => {
  const { timezone, ...earlier } = buildMessage({ ...facts, timezone: 'America/New_York' })
  const since = (message: Message) => rowsOf(message).find(([label]) => label === 'Since')?.[1]
  expect(since({ ...earlier, ...(timezone && { timezone }) })).toBe('5 Jan 2026, 06:34 EST')
  expect(since(earlier)).toBe('5 Jan 2026, 11:34 UTC')
  const sample = { ts: at }
  expect(sampleRowsOf({ sample, timezone: 'Asia/Tokyo' })).toEqual([['time', '5 Jan 2026, 21:34 GMT+9']])
})

test('a sample is complete if it fits, and is truncated otherwise', () => {
  const small = { a: 1, b: { c: [true, null, 'x'] }, d: '' }
  const withSample = (sample: Record<string, unknown>) =>
    buildMessage({
      ...volume,
      finding: { ...volume.finding, summary: '', observed: 0, expected: 0, vendor: null, event: null, sample },
    }).sample
  expect(withSample(small)).toEqual(small)
  const large = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`key${index}`, 'v'.repeat(100)]))
  const kept = Object.keys(withSample(large) ?? {})
  expect(kept.length).toBeGreaterThan(40)
  expect(kept).toEqual(Object.keys(large).slice(0, kept.length))
  expect(withSample({ long: 'v'.repeat(10_000) })).toEqual({ long: `${'v'.repeat(499)}…` })
  const deep = { a: { b: { c: { d: { e: 1 } } } } }
  expect(withSample(deep)).toEqual({ a: { b: { c: { d: '…' } } } })
})

test.each([
  ['plain', 'plain'],
  ['  a \t\r\n b  ', 'a b'],
  ['a\u0000b', 'a b'],
  ['a\u202eb', 'ab'],
  ['\ud800', '\ufffd'],
  ['x'.repeat(11), `${'x'.repeat(9)}…`],
  [`${'x'.repeat(8)}😀😀`, `${'x'.repeat(8)}…`],
])('%j is reduced to one line', (text, line) => expect(oneLine(text, 10)).toBe(line))

test('numbers have the same format everywhere', () => {
  expect([1234567.891, 0.5, 1 / 3, -2].map(numberText)).toEqual(['1,234,567.89', '0.5', '0.33', '-2'])
})
