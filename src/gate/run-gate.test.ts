import { describe, expect, test } from 'bun:test'
import { requestsOfHar } from '../browser/har-requests.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { parser } from '../core/schema.ts'
import { ga4, harOf, meta, type Sent, START } from './har.fixture.ts'
import { readExpectations, readRules } from './read-rules.ts'
import { GateReportSchema } from './report.ts'
import { type GateInput, runGate } from './run-gate.ts'

const NO_DOMAIN = { id: '', orgId: 'org', nameVendor: () => null }
const NEEDS_ID = {
  id: 'alr_1',
  name: 'Purchase without transaction id',
  alertType: 'data_validation',
  severity: 'high',
  vendors: ['Google Analytics 4'],
  filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
  conditions: { logic: 'any', items: [{ parameter: 'ep.transaction_id', op: 'is_blank' }] },
}
const PURCHASE = ga4('purchase', { 'ep.transaction_id': 'A-1', 'epn.value': '42.5', cu: 'EUR' })

const INPUT: GateInput = {
  name: 'release',
  ref: null,
  now: START,
  files: [],
  rules: readRules([], NO_DOMAIN),
  domain: NO_DOMAIN,
  privacy: PLAIN_PRIVACY,
  expectations: null,
  baseline: null,
}
const checkReport = parser(GateReportSchema)

function judge(
  sent: readonly Sent[],
  { alerts = [] as object[], ...values }: Partial<GateInput> & { alerts?: object[]; labels?: object[] } = {},
) {
  const { labels = [], ...input } = values as Partial<GateInput> & { labels?: object[] }
  const report = runGate({
    ...INPUT,
    files: [{ name: 'shop.har', requests: requestsOfHar(harOf(sent)) ?? [] }],
    rules: readRules({ alerts, labels }, NO_DOMAIN),
    ...input,
  })
  return checkReport(report)
}

const sentences = ({ findings }: ReturnType<typeof judge>) => findings.map(({ sentence }) => sentence)
const statuses = ({ checks }: ReturnType<typeof judge>) => checks.map(({ name, status }) => `${name}: ${status}`)

describe('a recording judged by alerts', () => {
  test('passes when every event keeps the rules', () => {
    const report = judge([PURCHASE], { alerts: [NEEDS_ID] })
    expect(report).toMatchObject({ status: 'passed', findings: [], unread: [] })
    expect(report.recordings).toEqual([{ file: 'shop.har', requests: 1, events: 1 }])
    expect(report.checks[0]).toMatchObject({ id: 'alr_1', severity: 'high', status: 'passed', events: 1 })
  })

  test('fails with the event, the parameter, what was expected, and the place in the file', () => {
    const report = judge([ga4('page_view'), ga4('purchase', { 'epn.value': '42.5' })], { alerts: [NEEDS_ID] })
    expect(report.status).toBe('failed')
    expect(report.findings).toEqual([
      {
        check: 0,
        kind: 'rule',
        vendor: 'Google Analytics 4',
        event: 'purchase',
        sentence: 'Google Analytics 4 purchase had no `ep.transaction_id` on /checkout/thanks',
        expected: 'a value of `ep.transaction_id`',
        observed: 'no `ep.transaction_id`',
        count: 1,
        parameters: [{ parameter: 'ep.transaction_id', expected: 'a value of `ep.transaction_id`', observed: null }],
        evidence: {
          file: 'shop.har',
          entry: 1,
          at: START + 1000,
          url: 'https://region1.google-analytics.com/g/collect',
          page: 'shop.example/checkout/thanks',
        },
      },
    ])
  })

  test('counts events with the same fault once, and names the parameter of a rule for any parameter', () => {
    const anyMail = {
      name: 'E-mail',
      alertType: 'data_validation',
      conditions: { logic: 'any', items: [{ parameter: '*', op: 'contains_email' }] },
    }
    const sent = ga4('sign_up', { 'ep.who': 'jane.doe@example.com' })
    const report = judge([sent, sent], { alerts: [anyMail] })
    expect(report.findings).toMatchObject([
      { count: 2, parameters: [{ parameter: 'ep.who', observed: 'j***@e***.com' }] },
    ])
    expect(JSON.stringify(report)).not.toContain('jane.doe')
  })

  test.each<[string, object, string]>([
    ['a disabled alert', { ...NEEDS_ID, enabled: false }, 'The alert is disabled'],
    [
      'an alert that counts events over time',
      { name: 'Volume', alertType: 'volume_threshold', volume: { op: 'lte', count: 3 } },
      'Volume threshold alerts count events over time, which a recording does not show',
    ],
    [
      'an alert that names an unknown label',
      { ...NEEDS_ID, filters: [{ parameter: '$label', op: 'equals', values: ['Checkout'] }] },
      'The members of the label “Checkout” are unknown',
    ],
  ])('skips %s', (_, alert, reason) => {
    const report = judge([ga4('purchase')], { alerts: [alert] })
    expect(report.status).toBe('passed')
    expect(report.checks[0]).toMatchObject({ status: 'skipped', reason })
  })

  test('resolves labels', () => {
    const alert = { ...NEEDS_ID, filters: [{ parameter: '$label', op: 'equals', values: ['checkout'] }] }
    const labels = [{ label: 'Checkout', members: [{ vendor: 'Google Analytics 4', event: 'purchase' }] }]
    expect(judge([ga4('purchase')], { alerts: [alert], labels } as never).findings).toHaveLength(1)
    expect(judge([ga4('page_view')], { alerts: [alert], labels } as never).findings).toEqual([])
  })

  test('applies the alerts of every domain, or those of one', () => {
    const alerts = [
      { ...NEEDS_ID, domainId: 'dom_1' },
      { ...NEEDS_ID, id: 'alr_2', domainIds: ['dom_2'] },
      { ...NEEDS_ID, id: 'alr_3' },
    ]
    const idsIn = (id: string) =>
      judge([ga4('purchase')], { alerts, domain: { ...NO_DOMAIN, id } }).checks.flatMap(({ id, status }) =>
        status === 'failed' ? [id] : [],
      )
    expect(idsIn('')).toEqual(['alr_1', 'alr_2', 'alr_3'])
    expect(idsIn('dom_1')).toEqual(['alr_1', 'alr_3'])
    expect(idsIn('dom_2')).toEqual(['alr_2', 'alr_3'])
  })

  test('judges each file as a session of a journey', () => {
    const journey = {
      name: 'Thanks',
      alertType: 'journey',
      journey: {
        version: 2,
        steps: [
          {
            anchor: { kind: 'page', path: '/checkout', op: 'starts_with' },
            expect: [{ vendor: 'Meta Pixel', event: 'Purchase' }],
          },
        ],
      },
    }
    expect(judge([PURCHASE, meta('Purchase')], { alerts: [journey] }).status).toBe('passed')
    const report = judge([PURCHASE], { alerts: [journey] })
    expect(report.findings).toMatchObject([
      {
        kind: 'session',
        sentence: 'The session in shop.har missed Meta Pixel Purchase after a page starting with /checkout',
        expected: 'Meta Pixel Purchase',
        evidence: { entry: 0 },
      },
    ])
  })
})

describe('the expectations of a flow test', () => {
  const expectations = (list: object[]) => readExpectations({ name: 'Buy a shirt', expectations: list })

  test('apply to the whole recording', () => {
    const list = [
      { step: 0, vendor: 'Google Analytics 4', event: 'page_view' },
      { step: 1, vendor: 'Google Analytics 4', event: 'page_view' },
      { vendor: 'Google Analytics 4', event: 'purchase', data: [{ parameter: 'cu', op: 'equals', values: ['EUR'] }] },
    ]
    const both = [ga4('page_view', {}, { page: 'https://a.example/' }), ga4('page_view'), PURCHASE]
    expect(judge(both, { expectations: expectations(list) }).status).toBe('passed')
    const report = judge([ga4('page_view'), ga4('purchase', { cu: 'USD' })], { expectations: expectations(list) })
    expect(statuses(report)).toContain('Expected events of Buy a shirt: failed')
    expect(sentences(report)).toEqual([
      'Google Analytics 4 page_view fired once in the run, not 2 times',
      'Google Analytics 4 purchase had "USD" as `cu` in step 1, /checkout/thanks',
    ])
    expect(report.findings[1]?.evidence).toMatchObject({ entry: 1 })
  })
})

describe('orders', () => {
  const failsWith = (sent: Sent[]) => sentences(judge(sent))

  test('must not be sent twice by the same event', () => {
    expect(failsWith([PURCHASE, meta('Purchase')])).toEqual([])
    expect(failsWith([PURCHASE, ga4('purchase', { 'ep.transaction_id': 'A-2' })])).toEqual([])
    expect(failsWith([PURCHASE, ga4('purchase', { 'ep.transaction_id': 'A-1', 'epn.value': '1' })])).toEqual([
      'Google Analytics 4 purchase sent the order “A-1” 2 times on /checkout/thanks',
    ])
  })
})

describe('a comparison with a baseline', () => {
  const VIEW = ga4('page_view', {}, { page: 'https://preview.example/' })
  const before = [VIEW, PURCHASE, meta('Purchase')]
  const { events } = judge(before)
  const compare = (sent: readonly Sent[]) => judge(sent, { baseline: { name: 'baseline.json', events } })

  test('contains no values', () => {
    expect(events.map(({ vendor, event, page, parameters }) => [vendor, event, page, parameters])).toEqual([
      ['Google Analytics 4', 'page_view', '/', []],
      ['Google Analytics 4', 'purchase', '/checkout/thanks', ['cu', 'ep.transaction_id', 'epn.value']],
      ['Meta Pixel', 'Purchase', '/checkout/thanks', []],
    ])
    expect(JSON.stringify(events)).not.toContain('A-1')
  })

  test.each<[string, Sent[], string[]]>([
    [
      'the same events on another host',
      [ga4('page_view', {}, { page: 'https://www.shop.example/' }), ...before.slice(1)],
      [],
    ],
    [
      'other values',
      [VIEW, ga4('purchase', { 'ep.transaction_id': 'B-7', 'epn.value': '7', cu: 'USD' }), meta('Purchase')],
      [],
    ],
    ['an event that libraries send irregularly', [...before, ga4('user_engagement'), ga4('scroll')], []],
    [
      'a missing event',
      [VIEW, PURCHASE],
      ['Meta Pixel Purchase did not fire on /checkout/thanks; it fired once for the account 123 in the baseline'],
    ],
    [
      'an event on another page',
      [VIEW, PURCHASE, meta('Purchase', { page: 'https://shop.example/cart' })],
      [
        'Meta Pixel Purchase did not fire on /checkout/thanks; it fired on /cart instead; it fired once for the account 123 in the baseline',
      ],
    ],
    [
      'an unexpected event',
      [...before, meta('Lead')],
      ['Meta Pixel Lead fired once on /checkout/thanks for the account 123; it is not in the baseline'],
    ],
    [
      'a double event',
      [...before, meta('Purchase')],
      ['Meta Pixel Purchase was sent 2 times with the same data on /checkout/thanks; once in the baseline'],
    ],
    [
      'a lost parameter',
      [VIEW, ga4('purchase', { 'epn.value': '42.5', cu: 'EUR' }), meta('Purchase')],
      ['Google Analytics 4 purchase had no `ep.transaction_id` on /checkout/thanks; it had a value in the baseline'],
    ],
  ])('reports %s', (_, sent, expected) => {
    const report = compare(sent)
    expect(sentences(report)).toEqual(expected)
    expect(report.status).toBe(expected.length === 0 ? 'passed' : 'failed')
    expect(report.baseline).toBe('baseline.json')
  })

  test('reports an event that fires less often', () => {
    const twice = judge([VIEW, VIEW, ga4('view_item', { 'ep.id': '1' }), ga4('view_item', { 'ep.id': '2' })]).events
    const report = judge([VIEW, VIEW, ga4('view_item', { 'ep.id': '1' })], { baseline: { name: 'b', events: twice } })
    expect(sentences(report)).toEqual([
      'Google Analytics 4 view_item fired once on /checkout/thanks, not 2 times as in the baseline',
    ])
  })
})

describe('requests', () => {
  test('whose body is missing are listed when they belong to a vendor', () => {
    const har = harOf([ga4('purchase'), { url: 'https://shop.example/api', method: 'POST' }])
    const [first] = har.log.entries
    Object.assign(first?.request ?? {}, {
      method: 'POST',
      url: 'https://www.google-analytics.com/g/collect?v=2&tid=G-1',
      bodySize: 300,
    })
    const report = runGate({ ...INPUT, files: [{ name: 'a.har', requests: requestsOfHar(har) ?? [] }] })
    expect(report.unread).toMatchObject([{ file: 'a.har', entry: 0, host: 'www.google-analytics.com' }])
  })
})

test('the page of a request is its referrer, or the latest document of its origin', () => {
  const document = (page: string) => ({ url: page, page: '' })
  const har = harOf([
    document('https://shop.example/cart'),
    ga4('view_cart', {}, { page: 'https://shop.example/' }),
    document('https://shop.example/thanks'),
    document('https://frame.example/widget'),
    ga4('purchase', {}, { page: 'https://shop.example/' }),
    ga4('view_item', {}, { page: 'https://shop.example/item/4711' }),
    ga4('other', {}, { page: 'https://blog.example/' }),
  ])
  for (const index of [0, 2, 3])
    Object.assign(har.log.entries[index]?.response ?? {}, { content: { mimeType: 'text/html' } })
  const { events } = runGate({ ...INPUT, files: [{ name: 'a.har', requests: requestsOfHar(har) ?? [] }] })
  expect(events.map(({ event, page }) => [event, page])).toEqual([
    ['view_cart', '/cart'],
    ['purchase', '/thanks'],
    ['view_item', '/item/:id'],
    ['other', '/'],
  ])
})
