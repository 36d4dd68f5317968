import { describe, expect, test } from 'bun:test'
import { HOUR_MS } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import type { StoredEvent } from '../../../core/event.ts'
import { NOON, warehouseWith } from '../../alert.fixture.ts'
import { readAlertInput } from '../../alert-input.ts'
import { samplesQuery, withSamples } from '../../finding-samples.ts'
import {
  arrived,
  bad,
  equal,
  good,
  inOrder,
  journeyAlert,
  journeyInput,
  on,
  page,
  sessionOf,
  start,
  stepped,
  thanks,
  visits,
  walkAll,
  wants,
} from './journey.fixture.ts'
import type { JourneySpec } from './journey-spec.ts'

describe('an invalid journey', () => {
  const event = (values: object) => stepped([start, values])
  /** Returns an expectation with a hundred values that cost 4,000 in total, plus `more`. */
  const dear = (more: number) => {
    const values = Array.from({ length: 100 }, (_, at) => 'x'.repeat(at === 99 ? 400 + 10 * more : 400))
    return { vendor: 'a', data: [{ parameter: 'a', op: 'equals' as const, values }] }
  }
  const cases: [string, object][] = [
    ['volume: not allowed', { volume: { op: 'lte', count: 1 } }],
    ['journey: a journey alert requires steps', { journey: undefined }],
    ['journey', { journey: 7 }],
    ['journey.steps: ', { journey: { steps: [] } }],
    ['journey.steps: ', { journey: { version: 2, steps: Array.from({ length: 11 }, () => thanks.steps[0]) } }],
    ['journey.steps: ', { journey: { steps: Array.from({ length: 11 }, () => ({ vendor: 'a' })) } }],
    ['journey.version: ', { journey: { version: 3, steps: [{ vendor: 'a' }] } }],
    ['journey.steps[0].anchor: there is no such field', { journey: { steps: thanks.steps } }],
    ['journey.steps[0].anchor: is missing', { journey: { version: 2, steps: [{ vendor: 'a' }] } }],
    ['journey.steps[0].expect: ', { journey: { version: 2, steps: [{ anchor: start }] } }],
    ['journey.steps[0].expect: ', { journey: stepped([start, ...Array.from({ length: 21 }, () => wants('a.b'))]) }],
    ['journey.steps[0].anchor.path: ', { journey: { version: 2, steps: [{ anchor: { kind: 'page' }, expect: [] }] } }],
    ['journey.steps[0].anchor.label: ', { journey: stepped([{ kind: 'label', label: '' }]) }],
    [
      'journey.steps[0].expect[0].data[1].values: at least one value is required for equals',
      { journey: event({ vendor: 'a', data: [equal('a', 'b'), { parameter: 'a', op: 'equals' }] }) },
    ],
    [
      'journey.steps[0].expect[0].data[0].parameter: $no',
      { journey: event({ vendor: 'a', data: [equal('$nothing', 'b')] }) },
    ],
    [
      'journey.steps[0].expect[0].data[0].op: contains_phone',
      { journey: event({ vendor: 'a', data: [{ parameter: 'a', op: 'contains_phone' }] }) },
    ],
    [
      // Each expectation alone is far below the cost limit.
      'journey.steps[0].expect[4].data[0].values[99]: the conditions up to here cost 20001, but a rule can cost at most 20000',
      { journey: stepped([start, ...Array.from({ length: 5 }, (_, place) => dear(place === 4 ? 1 : 0))]) },
    ],
    ['filters[1].op: contains_phone', { filters: [equal('a', 'b'), { parameter: 'a', op: 'contains_phone' }] }],
    ['conditions: not allowed', { conditions: { logic: 'all', items: [equal('a', 'b')] } }],
    [
      'conditionGroups[1]: not allowed',
      {
        conditionGroups: [
          { op: 'any', items: [] },
          { op: 'all', items: [equal('a', 'b')] },
        ],
      },
    ],
  ]
  test.each(cases)('is rejected with the error %s', (message, values) => {
    const refusal = () => readAlertInput({ ...journeyInput(thanks), ...values })
    expect(refusal).toThrow(AppError)
    expect(refusal).toThrow(message)
    try {
      refusal()
    } catch (error) {
      expect((error as AppError).code).toBe('invalid')
      expect((error as AppError).message.startsWith(message)).toBe(true)
    }
  })
})

test.each<[string, object]>([
  ['both forms', { journey: { steps: [{ vendor: 'a' }, { event: 'b' }] } }],
  ['10 starts', { journey: stepped(...Array.from({ length: 10 }, (): [typeof start] => [start])) }],
  ['20 expectations', { journey: stepped([start, ...Array.from({ length: 20 }, () => wants('a.b'))]) }],
  ['a label alone', { journey: stepped([start, { label: 'checkout' }]) }],
  ['an anchor without names', { journey: stepped([{ kind: 'event' }, {}]) }],
  ['a step without names', { journey: { steps: [{ vendor: 'a' }, {}] } }],
  ['no conditions', { conditions: { logic: 'all', items: [] }, conditionGroups: [] }],
  ['filters', { filters: [equal('$host', 'shop.example')] }],
])('a journey alert is accepted with %s', (_, values) => {
  expect(() => readAlertInput({ ...journeyInput(thanks), ...values })).not.toThrow()
})

test.each<[string, JourneySpec]>([
  ['an anchor', stepped([{ kind: 'event' }, wants('meta.Purchase')])],
  ['a step of the legacy form', { steps: [{ vendor: 'meta', event: 'Purchase' }, {}] }],
])('%s without names matches any event', async (_, spec) => {
  const texts = ['ga4.x', 'ga4.x ga4.y', 'meta.Purchase meta.Purchase']
  using history = await warehouseWith(arrived(visits(texts)))
  const { alr_1 } = await walkAll(history, [journeyAlert(spec)])
  const summary = expect.stringMatching(/missed meta Purchase (?:after|before) any event$/)
  expect(alr_1).toMatchObject([{ occurrences: 2, summary }])
})

describe('a finding of a journey alert', () => {
  test('states how many sessions missed which event, and after which step', async () => {
    const texts = [good, bad, `ga4.x@/ ${bad} ga4.y@/home`, good, 'ga4.page_view@/']
    const events = arrived(
      visits(texts).map((events, index) => events.map((e) => ({ ...e, host: `h${index}.example` }))),
    )
    using history = await warehouseWith(events)
    const { alr_1 } = await walkAll(history, [journeyAlert(thanks)])
    const sample = events.find(({ sessionId, path }) => sessionId === 's2' && path === '/thanks')
    expect(alr_1).toEqual([
      {
        domainId: 'dom_shop',
        subject: '',
        vendor: 'meta',
        event: 'Purchase',
        occurrences: 2,
        summary: '2 of 4 sessions missed meta Purchase after page /thanks',
        observed: 2,
        expected: 0,
        firstAt: NOON - HOUR_MS,
        lastAt: NOON - HOUR_MS,
        hosts: ['h1.example', 'h2.example'],
        sample: null,
        sampleSeq: sample?.seq ?? 0,
        sampleAt: sample?.receivedAt ?? 0,
      },
    ])
  })

  test.each<[string, JourneySpec, string[], string, string | null, string | null]>([
    ['one', thanks, [bad], '1 of 1 session missed meta Purchase after page /thanks', 'meta', 'Purchase'],
    [
      'part of a path',
      stepped([page('/t', 'contains'), wants('m.P')]),
      [bad],
      '… missed m P after a page containing /t',
      'm',
      'P',
    ],
    [
      'a path',
      stepped([page('/t', 'starts_with'), wants('m.P')]),
      [bad],
      '… missed m P after a page starting with /t',
      'm',
      'P',
    ],
    ['a start', stepped([start, wants('m.')]), [bad], '… missed m', 'm', null],
    ['an event', stepped([on('ga4.page_view'), wants('.P')]), [bad], '… missed P after ga4 page_view', null, 'P'],
    [
      'labels',
      stepped([{ kind: 'label', label: 'checkout' }, { label: 'pixel' }]),
      ['ga4.begin_checkout'],
      '… missed label pixel after label checkout',
      null,
      null,
    ],
    [
      'data',
      stepped([
        start,
        { vendor: 'm', label: 'pixel', data: [equal('value', '1'), equal('id', '2'), equal('value', '3')] },
      ]),
      [bad],
      '… missed m with label pixel and the expected value, id',
      'm',
      null,
    ],
    ['any data', stepped([start, wants('m.', equal('*', '1'))]), [bad], '… missed m with the expected data', 'm', null],
    ['an order', stepped([start, inOrder('a.b'), inOrder('c.d')]), ['c.d a.b'], '… showed c d out of order', 'c', 'd'],
    ['the legacy form', { steps: [{ vendor: 'a' }, { event: 'b' }] }, ['c.b'], '… missed a before b', 'a', null],
    [
      'a wrong order and a missing event',
      stepped([start, inOrder('a.b'), inOrder('c.d')]),
      ['c.d a.b', 'a.b'],
      '2 of 2 sessions missed c d',
      'c',
      'd',
    ],
    [
      'different failures of one vendor',
      stepped([page('/a'), wants('m.A')], [page('/b'), wants('m.B')]),
      ['x.x@/a m.A x.x@/b', 'x.x@/a m.A x.x@/b', 'x.x@/a', 'x.x@/a m.A', 'x.x@/c'],
      '3 of 4 sessions did not follow the journey; 2 of them missed m B after page /b',
      'm',
      null,
    ],
    [
      'a failure in a later step counts only sessions that reached it',
      stepped([page('/a')], [page('/b'), wants('m.B')]),
      ['x.x@/a', 'x.x@/a x.x@/b'],
      '1 of 1 session missed m B after page /b',
      'm',
      'B',
    ],
  ])('has the expected summary, vendor and event: %s', async (_, spec, texts, summary, vendor, event) => {
    using history = await warehouseWith(arrived(visits(texts)))
    const { alr_1 } = await walkAll(history, [journeyAlert(spec)])
    expect(alr_1).toMatchObject([{ summary: summary.replace('…', '1 of 1 session'), vendor, event }])
  })

  test('covers each domain of the alert and no other', async () => {
    const events = ['dom_a', 'dom_b', 'dom_c'].flatMap((domainId) => visits([bad, good], { domainId }))
    using history = await warehouseWith(arrived([...events, ...visits([bad], { orgId: 'org_b', domainId: 'dom_a' })]))
    const findings = await walkAll(history, [
      journeyAlert(thanks, {}, 'alr_all'),
      journeyAlert(thanks, { domainId: 'dom_b', domainIds: ['dom_c', 'dom_gone'] }, 'alr_some'),
      journeyAlert(thanks, { domainId: 'dom_gone' }, 'alr_none'),
    ])
    const where = Object.entries(findings).map(([id, found]) => [id, found.map((f) => [f.domainId, f.occurrences])])
    expect(Object.fromEntries(where)).toEqual({
      alr_all: ['dom_a', 'dom_b', 'dom_c'].map((id) => [id, 1]),
      alr_some: ['dom_b', 'dom_c'].map((id) => [id, 1]),
      alr_none: [],
    })
  })

  test('weights a sampled session by the largest weight of its events', async () => {
    const [first = [], second = []] = visits([`${bad} server.paid`, good], { weight: 1 / 0.3 })
    const server = first.map((event) => (event.vendor === 'server' ? { ...event, weight: 1 } : event))
    using history = await warehouseWith(arrived([server, second, ...visits([bad], { sessionId: 'other' })]))
    const { alr_1 } = await walkAll(history, [journeyAlert(thanks)])
    expect(alr_1).toMatchObject([{ occurrences: 4, observed: 4, summary: expect.stringContaining('4 of 8 sessions') }])
  })

  test('lists at most 20 hosts, ordered by sessions, then by name', async () => {
    const hosts = Array.from({ length: 25 }, (_, index) => `h${String(index).padStart(2, '0')}.example`)
    const sessions = [...hosts, 'h24.example', 'h24.example', 'h09.example'].map((host, index) =>
      sessionOf(bad, { host, sessionId: `v${index}` }),
    )
    using history = await warehouseWith(arrived(sessions))
    const { alr_1 } = await walkAll(history, [journeyAlert(thanks)])
    const [first, second, ...others] = alr_1?.[0]?.hosts ?? []
    expect([first, second]).toEqual(['h24.example', 'h09.example'])
    expect(others).toEqual(hosts.filter((host) => host !== first && host !== second).slice(0, 18))
  })

  test('uses the event that began the step as its sample, with personal data masked', async () => {
    const spec = stepped([
      page('/thanks'),
      {
        vendor: 'meta',
        event: 'Purchase',
        data: [{ parameter: 'ssn', op: 'custom_pii_regex', values: ['[0-9]{3}-'] }],
      },
    ])
    const params = 'jo=jane.doe@example.com'
    using history = await warehouseWith(
      arrived(visits([`ga4.early@/thanks ${'+20 ga4.x '.repeat(5)}`, `ga4.go@/thanks{ssn=123-4,${params}} +20 ga4.z`])),
    )
    const alert = journeyAlert(spec)
    const { alr_1: findings = [] } = await walkAll(history, [alert])
    const query = samplesQuery('org_a', findings)
    if (!query) throw new Error('no violation')
    const [finding] = withSamples(alert, findings, await history.query<StoredEvent>(query))
    expect(finding).toMatchObject({
      vendor: 'meta',
      event: 'Purchase',
      occurrences: 2,
      sample: { vendor: 'ga4', event: 'go', path: '/thanks', params: { ssn: '***', jo: 'j***@e***.com' } },
    })
  })

  test('uses the first event as its sample when no event of the session matches', async () => {
    const events = arrived(visits(['ga4.a ga4.b ga4.c']))
    using history = await warehouseWith(events)
    const { alr_1 } = await walkAll(history, [journeyAlert(stepped([start, wants('m.')]))])
    expect(alr_1).toMatchObject([{ sampleSeq: events[0]?.seq, sampleAt: events[0]?.receivedAt }])
  })
})
