import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import type { Expectation } from './expectation.ts'
import { type FinishedWalk, judgeRun } from './judge-run.ts'
import { runEvent, stepResult } from './run-result.fixture.ts'

const GA4 = 'Google Analytics 4'
const titles = ['Open https://shop.example/', 'Click “Red shoes”', 'Click “Buy”']
const steps = titles.map((title, index) => stepResult({ index, title }))
const purchase = (fields: Parameters<typeof runEvent>[0] = {}) =>
  runEvent({
    step: 2,
    at: 20,
    event: 'purchase',
    account: 'G-1',
    params: { cu: 'EUR', 'ep.transaction_id': 'T7' },
    ...fields,
  })

const judge = (run: Partial<FinishedWalk>) =>
  judgeRun({ steps, events: [], error: null, expectations: [], labels: {}, privacy: PLAIN_PRIVACY, ...run })

const expected: Expectation = {
  step: 2,
  vendor: GA4,
  event: 'purchase',
  data: [
    { parameter: 'ep.transaction_id', op: 'not_blank' },
    { parameter: 'cu', op: 'equals', values: ['EUR', 'CHF'] },
  ],
}

describe('findings of a run', () => {
  test.each<[string, Partial<FinishedWalk>, [kind: string, step: number | null, sentence: string][]]>([
    ['nothing', { events: [purchase()], expectations: [expected] }, []],
    ['no expectations', { events: [purchase()] }, []],
    ['no event', { expectations: [expected] }, [['missing', 2, `${GA4} purchase did not fire in step 3, Click “Buy”`]]],
    [
      'no event in the whole run',
      { expectations: [{ event: 'purchase' }] },
      [['missing', null, 'purchase did not fire in the run']],
    ],
    [
      'no event from a vendor',
      { expectations: [{ vendor: 'Hotjar' }] },
      [['missing', null, 'No Hotjar event fired in the run']],
    ],
    [
      'no event with a label',
      { expectations: [{ label: 'Checkout', account: 'G-1' }] },
      [['missing', null, 'No event with the label “Checkout” for the account G-1 fired in the run']],
    ],
    [
      'fewer than expected',
      { events: [purchase()], expectations: [{ event: 'purchase', min: 2 }] },
      [['missing', null, 'purchase fired once in the run, not 2 times']],
    ],
    [
      'an event in another step',
      { events: [purchase({ step: 1 })], expectations: [expected] },
      [['missing', 2, `${GA4} purchase did not fire in step 3, Click “Buy”; it fired in step 2, Click “Red shoes”`]],
    ],
    [
      'an event for another account',
      { events: [purchase()], expectations: [{ event: 'purchase', account: 'G-2' }] },
      [['missing', null, 'purchase for the account G-2 did not fire in the run; it fired for the account G-1']],
    ],
    [
      'an event without a parameter',
      { events: [purchase({ params: { cu: 'EUR' } })], expectations: [expected] },
      [['wrong_data', 2, `${GA4} purchase had no \`ep.transaction_id\` in step 3, Click “Buy”`]],
    ],
    [
      'an event with another value',
      { events: [purchase({ params: { cu: 'USD', 'ep.transaction_id': '1' } })], expectations: [expected] },
      [['wrong_data', 2, `${GA4} purchase had "USD" as \`cu\` in step 3, Click “Buy”`]],
    ],
    [
      'an event with two faults',
      { events: [purchase({ params: { cu: 'USD' } })], expectations: [expected] },
      [['wrong_data', 2, `${GA4} purchase had no \`ep.transaction_id\` and "USD" as \`cu\` in step 3, Click “Buy”`]],
    ],
    [
      'an e-mail address as the value',
      { events: [purchase({ params: { cu: 'ann@example.com', 'ep.transaction_id': '1' } })], expectations: [expected] },
      [['wrong_data', 2, `${GA4} purchase had "a***@e***.com" as \`cu\` in step 3, Click “Buy”`]],
    ],
    [
      'an event on the wrong page',
      {
        events: [purchase({ path: '/cart' })],
        expectations: [{ event: 'purchase', data: [{ parameter: '$path', op: 'equals', values: ['/thanks'] }] }],
      },
      [['wrong_data', 2, `${GA4} purchase had "/cart" as a path in step 3, Click “Buy”`]],
    ],
    [
      'an event with a blank value somewhere',
      {
        events: [purchase({ params: { a: 'undefined' } })],
        expectations: [{ event: 'purchase', data: [{ parameter: '*', op: 'not_contains', values: ['undefined'] }] }],
      },
      [['wrong_data', 2, `${GA4} purchase had a parameter containing "undefined" in step 3, Click “Buy”`]],
    ],
    [
      'an event without an e-mail address',
      { events: [purchase()], expectations: [{ event: 'purchase', data: [{ parameter: '*', op: 'contains_email' }] }] },
      [['wrong_data', 2, `${GA4} purchase had no e-mail address in a parameter in step 3, Click “Buy”`]],
    ],
    [
      'an event without a label',
      {
        events: [purchase()],
        expectations: [{ event: 'purchase', data: [{ parameter: '$label', op: 'equals', values: ['Checkout'] }] }],
      },
      [['wrong_data', 2, `${GA4} purchase had no label "Checkout" in step 3, Click “Buy”`]],
    ],
    [
      'two events, of which the one with fewer faults is meant',
      { events: [purchase({ params: {} }), purchase({ params: { cu: 'EUR' } })], expectations: [expected] },
      [['wrong_data', 2, `${GA4} purchase had no \`ep.transaction_id\` in step 3, Click “Buy”`]],
    ],
    [
      'one of two expectations that differ in a parameter',
      {
        events: [purchase({ params: { item: 'a' } })],
        expectations: ['a', 'b'].map((item) => ({
          event: 'purchase',
          data: [{ parameter: 'item', op: 'equals' as const, values: [item] }],
        })),
      },
      [['missing', null, 'purchase did not fire in the run']],
    ],
    [
      'one of two expectations of the same event',
      {
        events: [purchase({ params: { cu: 'EUR' } })],
        expectations: ['cu', 'ep.transaction_id'].map((parameter) => ({
          event: 'purchase',
          data: [{ parameter, op: 'not_blank' as const }],
        })),
      },
      [['wrong_data', 2, `${GA4} purchase had no \`ep.transaction_id\` in step 3, Click “Buy”`]],
    ],
    [
      'an event that must not fire',
      { events: [purchase()], expectations: [{ event: 'purchase', max: 0 }] },
      [['unexpected', 2, `${GA4} purchase fired once in step 3, Click “Buy”, where it should not`]],
    ],
    [
      'too many events',
      { events: [purchase(), purchase({ params: { cu: 'CHF' } })], expectations: [{ event: 'purchase', max: 1 }] },
      [['unexpected', 2, `${GA4} purchase fired 2 times in the run; expected at most once`]],
    ],
    [
      'a duplicate event',
      { events: [purchase({ params: { cu: 'EUR', _s: '1' } }), purchase({ params: { cu: 'EUR', _s: '2' } })] },
      [['duplicate', 2, `${GA4} purchase was sent 2 times with the same data in step 3, Click “Buy”`]],
    ],
    ['twice, with other data', { events: [purchase(), purchase({ params: { cu: 'CHF' } })] }, []],
    ['twice, in two steps', { events: [purchase(), purchase({ step: 1 })] }, []],
    ['twice, on two pages', { events: [purchase(), purchase({ path: '/b' })] }, []],
    [
      'a failed step, without the steps after it',
      {
        steps: [
          ...steps.slice(0, 1),
          stepResult({ index: 1, title: 'Click “Red shoes”', status: 'failed', error: 'no element fits' }),
          stepResult({ index: 2, status: 'skipped' }),
        ],
        error: 'step 2 failed',
        expectations: [expected, { event: 'purchase' }, { step: 1, event: 'view_item' }],
      },
      [['step_failed', 1, 'Step 2, Click “Red shoes”, failed: no element fits']],
    ],
    [
      'steps before a failed step',
      {
        steps: [...steps.slice(0, 2), stepResult({ index: 2, status: 'failed', error: 'no element fits' })],
        error: 'step 3 failed',
        expectations: [{ step: 0, event: 'page_view' }],
      },
      [
        ['step_failed', 2, 'Step 3, Click “Button 2”, failed: no element fits'],
        ['missing', 0, 'page_view did not fire in step 1, Open https://shop.example/'],
      ],
    ],
    [
      'a healed step whose tag is missing',
      { steps: [...steps.slice(0, 2), stepResult({ index: 2, status: 'healed' })], expectations: [expected] },
      [['missing', 2, `${GA4} purchase did not fire in step 3, Click “Button 2”`]],
    ],
    [
      'a browser that was killed',
      { steps: [], error: 'the browser was killed', expectations: [expected] },
      [['step_failed', null, 'The run ended early: the browser was killed']],
    ],
  ])('are correct for %s', (_name, run, findings) => {
    expect(judge(run).map(({ kind, step, sentence }) => [kind, step, sentence])).toEqual(findings as never)
  })

  test('contain the expected and observed values', () => {
    const [missing] = judge({ expectations: [expected] })
    expect(missing).toMatchObject({ vendor: GA4, event: 'purchase', expected: `${GA4} purchase`, observed: null })
    const [wrong] = judge({ events: [purchase({ params: { cu: 'USD' } })], expectations: [expected] })
    expect(wrong).toMatchObject({
      vendor: GA4,
      event: 'purchase',
      expected: '`ep.transaction_id` and `cu` equal to "EUR" or "CHF"',
      observed: 'no `ep.transaction_id` and "USD" as `cu`',
    })
    const [many] = judge({ events: [purchase()], expectations: [{ event: 'purchase', max: 0 }] })
    expect(many).toMatchObject({ expected: 'none', observed: 'once' })
  })

  test('contain no e-mail address from an event name', () => {
    const [finding] = judge({
      events: [purchase({ event: 'ann@example.com' })],
      expectations: [{ vendor: GA4, max: 0 }],
    })
    expect(finding).toMatchObject({ event: 'a***@e***.com' })
    expect(JSON.stringify(finding)).not.toContain('ann@')
  })
})

const names = fc.constantFrom('page_view', 'purchase', 'view_item')
const anyEvent = fc.record({ step: fc.nat(2), event: names, n: fc.nat(5) })
const anyExpectation = fc.record(
  { step: fc.option(fc.nat(2), { nil: undefined }), event: names, min: fc.nat(3), max: fc.constantFrom(null, 0, 1, 3) },
  { requiredKeys: ['event'] },
)

test('findings depend on the number of events, not on their order', () => {
  fc.assert(
    fc.property(
      fc.array(anyEvent, { maxLength: 12 }),
      fc.array(anyExpectation, { maxLength: 5 }),
      (sent, expectations) => {
        const events = sent.map(({ step, event, n }) => runEvent({ step, event, params: { 'ep.n': String(n) } }))
        const told = judge({ events, expectations: expectations as Expectation[] }).filter(
          ({ kind }) => kind !== 'duplicate',
        )
        const truth = expectations.flatMap(({ step, event, min = 1, max = null }) => {
          const count = sent.filter((one) => one.event === event && (step === undefined || one.step === step)).length
          return [
            ...(max !== 0 && count < min ? ['missing'] : []),
            ...(max !== null && count > max ? ['unexpected'] : []),
          ]
        })
        expect(told.map(({ kind }) => String(kind))).toEqual(truth)
        expect(judge({ events: events.toReversed(), expectations: expectations as Expectation[] })).toHaveLength(
          judge({ events, expectations: expectations as Expectation[] }).length,
        )
      },
    ),
  )
})
