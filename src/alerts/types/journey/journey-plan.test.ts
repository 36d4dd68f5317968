import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Condition } from '../../../conditions/condition.ts'
import type { StoredEvent } from '../../../core/event.ts'
import { warehouseWith } from '../../alert.fixture.ts'
import {
  arrived,
  aSession,
  aSpec,
  type Expect,
  inOrder,
  journeyAlert,
  labelled,
  named,
  on,
  page,
  sessionOf,
  start,
  stepped,
  walkAll,
  wants,
} from './journey.fixture.ts'
import { judgeSession, planOf, readShape, type Shape } from './journey-plan.ts'
import { shapeOf, verdictOn } from './journey-reference.fixture.ts'
import type { JourneySpec } from './journey-spec.ts'

const legacy = (...names: string[]): JourneySpec => ({ steps: names.map(named) })
const has = (parameter: string): Condition => ({ parameter, op: 'not_blank' })
const over = (parameter: string, limit: string): Condition => ({ parameter, op: 'gt', values: [limit] })
const withLabel = (label: string, values: Partial<Expect> = {}): Expect => ({ label, ...values })

const thanks = stepped([page('/thanks'), wants('meta.Purchase')])
const funnel = stepped(
  [page('/cart'), wants('ga4.view_cart')],
  [page('/pay'), wants('ga4.add_payment')],
  [page('/thanks'), wants('ga4.purchase'), wants('meta.Purchase')],
)
const ordered = stepped([start, inOrder('ga4.view'), inOrder('ga4.cart'), inOrder('ga4.purchase')])
const mixed = stepped([start, inOrder('ga4.view'), wants('cmp.consent'), inOrder('ga4.purchase')])
const twice = stepped([start, inOrder('ga4.view'), inOrder('ga4.view')])
const repeated = stepped([on('ga4.add'), wants('meta.Add')], [on('ga4.add'), wants('meta.Add')])
const paid = stepped([page('/thanks'), wants('ga4.purchase', over('value', '0'), has('currency'))])
const landing = stepped([start], [page('/'), wants('ga4.page_view')])
const greeted = stepped([start, wants('cmp.loaded')], [page('/cart'), wants('ga4.view_cart')])
const late = stepped([page('/a')], [start, wants('ga4.never')])
const shop = legacy('ga4.view', 'ga4.cart', 'ga4.purchase')
const checkout = stepped([labelled('checkout'), withLabel('pixel'), wants('ga4.')])

/** Parses `0,2;1`: an event that matches matchers 0 and 2, followed by an event that matches matcher 1. */
const shapeFrom = (text: string): Shape => readShape(text).map(({ matches }) => matches)

function walkOf(spec: JourneySpec, events: readonly StoredEvent[]): string {
  const plan = planOf(spec)
  const { reached, unmet } = judgeSession(plan, shapeOf(plan, events))
  if (unmet) return `${unmet.step}.${unmet.expect}`
  return reached === 0 ? 'unreached' : 'fine'
}

/** Name, journey, session and expected result: `unreached`, `fine`, or the unmet expectation. */
const CASES: [string, JourneySpec, string, string][] = [
  ['page not visited', thanks, 'ga4.page_view@/', 'unreached'],
  ['sent on the page', thanks, 'ga4.page_view@/ ga4.page_view@/thanks meta.Purchase@/thanks', 'fine'],
  ['sent as the first event on the page', thanks, 'meta.Purchase@/thanks', 'fine'],
  ['sent later on another page', thanks, 'ga4.page_view@/thanks meta.Purchase@/home', 'fine'],
  ['sent only before the page', thanks, 'meta.Purchase@/cart ga4.page_view@/thanks', '0.0'],
  ['not sent', thanks, 'ga4.page_view@/thanks ga4.purchase@/thanks', '0.0'],
  ['sent by another vendor', thanks, 'ga4.Purchase@/thanks', '0.0'],
  ['sent with different capitalization', thanks, 'meta.purchase@/thanks', '0.0'],
  ['an event without a page', thanks, 'meta.Purchase', 'unreached'],
  ['a longer path', thanks, 'ga4.view@/thanks/', 'unreached'],
  ['a path that contains the text', stepped([page('hank', 'contains'), wants('m.P')]), 'ga4.view@/a/thanks/b', '0.0'],
  [
    'a path that does not contain the text',
    stepped([page('hank', 'contains'), wants('m.P')]),
    'ga4.view@/than',
    'unreached',
  ],
  [
    'a path that begins with the prefix',
    stepped([page('/th', 'starts_with'), wants('m.P')]),
    'ga4.view@/thanks',
    '0.0',
  ],
  [
    'a path that contains the prefix later',
    stepped([page('/th', 'starts_with'), wants('m.P')]),
    'ga4.view@/a/th',
    'unreached',
  ],
  [
    'no path, and a text that every path contains',
    stepped([page('/', 'contains'), wants('m.P')]),
    'ga4.view',
    'unreached',
  ],
  ['percent and underscore are literal', stepped([page('%_', 'contains'), wants('m.P')]), 'ga4.view@/abc', 'unreached'],

  ['only the first step', funnel, 'ga4.view_cart@/cart', 'fine'],
  ['the whole funnel', funnel, 'ga4.view_cart@/cart ga4.add_payment@/pay ga4.purchase@/thanks meta.Purchase', 'fine'],
  ['the first step fails', funnel, 'ga4.x@/cart ga4.add_payment@/pay ga4.view_cart@/pay', '0.0'],
  ['the second step fails', funnel, 'ga4.view_cart@/cart ga4.x@/pay ga4.purchase@/thanks', '1.0'],
  ['the last step fails', funnel, 'ga4.view_cart@/cart ga4.add_payment@/pay ga4.purchase@/thanks', '2.1'],
  ['a skipped step and its successors are not reached', funnel, 'ga4.view_cart@/cart ga4.x@/thanks', 'fine'],
  ['start in the middle', funnel, 'ga4.x@/pay ga4.x@/thanks', 'unreached'],
  ['back to the first page', funnel, 'ga4.view_cart@/cart ga4.x@/pay ga4.x@/cart ga4.add_payment@/cart', 'fine'],
  [
    'the first step fails, the later ones succeed',
    funnel,
    'ga4.x@/cart ga4.add_payment@/pay ga4.purchase@/thanks',
    '0.0',
  ],

  ['in order', ordered, 'ga4.view ga4.cart ga4.purchase', 'fine'],
  [
    'in order with other events in between',
    ordered,
    'm.a ga4.view m.b ga4.view ga4.cart m.c ga4.cart ga4.purchase',
    'fine',
  ],
  ['out of order', ordered, 'ga4.cart ga4.view ga4.purchase', '0.1'],
  ['out of order first, in order later', ordered, 'ga4.cart ga4.view ga4.purchase ga4.cart ga4.purchase', 'fine'],
  ['the last one missing', ordered, 'ga4.view ga4.cart', '0.2'],
  ['the last one first', ordered, 'ga4.purchase ga4.view ga4.cart', '0.2'],
  ['received out of order, sent in order', ordered, 'ga4.cart ga4.view<5 ga4.purchase', 'fine'],
  ['received in order, sent out of order', ordered, 'ga4.view ga4.cart<5 ga4.purchase', '0.1'],
  ['an unordered event does not affect the order', mixed, 'ga4.view ga4.purchase cmp.consent', 'fine'],
  ['one event breaks the order', mixed, 'cmp.consent ga4.purchase ga4.view', '0.2'],
  ['one of the ordered events is missing', mixed, 'ga4.view ga4.purchase', '0.1'],
  ['expected twice, sent twice', twice, 'ga4.view ga4.view', 'fine'],
  ['expected twice, sent once', twice, 'ga4.view', '0.1'],
  ['expected twice without order, sent once', stepped([start, wants('a.b'), wants('a.b')]), 'a.b', 'fine'],
  ['one event for two expectations', stepped([start, wants('a.'), wants('.b')]), 'a.b', 'fine'],
  ['one event for two ordered expectations', stepped([start, inOrder('a.'), inOrder('.b')]), 'a.b', '0.1'],
  [
    'an order applies only within its step',
    stepped([on('a.go'), inOrder('b.x'), inOrder('b.y')]),
    'b.x a.go b.y b.x',
    '0.1',
  ],

  ['repeated steps', repeated, 'ga4.add meta.Add ga4.add meta.Add', 'fine'],
  ['repeated steps, the first fails', repeated, 'ga4.add ga4.add meta.Add meta.Add', '0.0'],
  ['repeated steps, the second fails', repeated, 'ga4.add meta.Add ga4.add', '1.0'],
  ['repeated steps, reached once', repeated, 'ga4.add meta.Add', 'fine'],
  ['a third repetition belongs to the second step', repeated, 'ga4.add meta.Add ga4.add ga4.add meta.Add', 'fine'],
  ['interleaved vendors', repeated, 'ga4.add tiktok.Add meta.Add tiktok.Add ga4.add meta.View meta.Add', 'fine'],
  ['a second visit to a page is a new step', stepped([page('/a')], [page('/a'), wants('m.P')]), 'g.v@/a g.v@/a', '1.0'],

  ['matching data', paid, 'ga4.purchase@/thanks{value=12,currency=EUR}', 'fine'],
  ['value too low', paid, 'ga4.purchase@/thanks{value=0,currency=EUR}', '0.0'],
  ['missing data', paid, 'ga4.purchase@/thanks{value=12}', '0.0'],
  ['data split over two events', paid, 'ga4.purchase@/thanks{value=12} ga4.purchase{currency=EUR}', '0.0'],
  ['data on the second event', paid, 'ga4.purchase@/thanks ga4.purchase{value=12,currency=EUR}', 'fine'],
  ['data on another event', paid, 'ga4.view@/thanks{value=12,currency=EUR}', '0.0'],
  ['any parameter matches', stepped([start, wants('a.', { ...over('*', '5') })]), 'a.b{x=1,y=6}', 'fine'],
  ['no parameter matches', stepped([start, wants('a.', { ...over('*', '5') })]), 'a.b{x=1,y=5}', '0.0'],
  ['a field', stepped([start, wants('a.', { parameter: '$path', op: 'ends_with', values: ['b'] })]), 'a.c@/b', 'fine'],
  [
    'ordered events with data',
    stepped([start, inOrder('a.', has('x')), inOrder('a.', has('y'))]),
    'a.b{y=1} a.b{x=1}',
    '0.1',
  ],

  ['a label with its first member', checkout, 'ga4.begin_checkout meta.X', 'fine'],
  ['a label with its second member', checkout, 'meta.InitiateCheckout ga4.x', 'fine'],
  ['a label without a matching event', checkout, 'meta.Purchase ga4.x', 'unreached'],
  ['a missing label', checkout, 'ga4.begin_checkout ga4.x', '0.0'],
  ['a label and a vendor', stepped([start, withLabel('pixel', { vendor: 'meta' })]), 'tiktok.X', '0.0'],
  ['a label with data', stepped([start, withLabel('pixel', { data: [has('v')] })]), 'meta.X meta.Y{v=1}', 'fine'],
  ['an unknown label starts no step', stepped([labelled('gone'), wants('a.b')]), 'a.c', 'unreached'],
  ['an unknown label is never met', stepped([start, withLabel('gone')]), 'a.c', '0.0'],
  ['a label without members', stepped([labelled('empty'), wants('a.b')]), 'a.c', 'unreached'],
  ['a blank member', stepped([labelled('blank'), wants('a.b')]), 'a.c', 'unreached'],

  ['landing on the page', landing, 'ga4.page_view@/', 'fine'],
  ['landing on the page, step fails', landing, 'ga4.x@/', '1.0'],
  ['at the start, sent', greeted, 'cmp.loaded@/ ga4.view_cart@/cart', 'fine'],
  ['at the start, sent too late', greeted, 'ga4.view_cart@/cart cmp.loaded@/cart', '0.0'],
  ['at the start, without a further step', greeted, 'ga4.x@/ cmp.loaded@/', 'fine'],
  ['at the start, never sent', greeted, 'ga4.x@/', '0.0'],
  ['a start after another step is never reached', late, 'ga4.x@/a ga4.y', 'fine'],
  ['nothing expected', stepped([start]), 'ga4.x', 'fine'],
  ['a vendor without an event name', stepped([on('meta.'), wants('.Lead')]), 'meta.X ga4.Lead', 'fine'],
  ['an event name without a vendor', stepped([on('.Lead'), wants('meta.Lead')]), 'ga4.Lead meta.X', '0.0'],

  ['legacy: all in order', shop, 'ga4.view ga4.cart ga4.purchase', 'fine'],
  ['legacy: last not sent', shop, 'ga4.view ga4.cart', 'unreached'],
  ['legacy: one missing', shop, 'ga4.view ga4.purchase', '0.1'],
  ['legacy: out of order', shop, 'ga4.cart ga4.view ga4.purchase', '0.1'],
  ['legacy: last one first', shop, 'ga4.purchase ga4.view ga4.cart', '0.0'],
  ['legacy: in order at the second attempt', shop, 'ga4.purchase ga4.view ga4.cart ga4.purchase', 'fine'],
  ['legacy: other events in between', shop, 'm.a ga4.view ga4.cart ga4.view m.b ga4.purchase m.c', 'fine'],
  ['legacy: in order by time', shop, 'ga4.view ga4.purchase ga4.cart<2', 'fine'],
  ['legacy: the same step twice', legacy('a.b', 'a.b'), 'a.b', '0.0'],
  ['legacy: the same step twice, sent twice', legacy('a.b', 'a.b'), 'a.b a.b', 'fine'],
  ['legacy: a single step', legacy('a.b'), 'a.b', 'fine'],
  ['legacy: steps with only a vendor or an event', legacy('a.', '.z'), 'b.y a.y b.z', 'fine'],
]

test('at least 60 test sessions exist, with unique names', () => {
  expect(new Set(CASES.map(([name]) => name)).size).toBe(CASES.length)
  expect(CASES.length).toBeGreaterThanOrEqual(60)
})

test.each(CASES)('the reference returns the expected verdict: %s', (_, spec, text, verdict) => {
  expect(verdictOn(spec, arrived([sessionOf(text)]))).toBe(verdict)
})

test.each(CASES)('the plan returns the expected verdict: %s', (_, spec, text, verdict) => {
  expect(walkOf(spec, arrived([sessionOf(text)]))).toBe(verdict)
})

test('one scan of a history, half in Parquet and half in the spool, returns the verdicts of all test sessions', async () => {
  const domains = CASES.map((_, index) => `dom_${index}`)
  const events = arrived(CASES.map(([, , text], index) => sessionOf(text, { domainId: domains[index] ?? '' })))
  const [first, ...others] = CASES.map(([, spec], index) =>
    journeyAlert(spec, { domainId: domains[index] ?? '' }, `alr_${index}`),
  )
  if (!first) throw new Error('no test cases')
  using history = await warehouseWith(events)
  const findings = await walkAll(history, [first, ...others])
  const found = CASES.map(([name], index) => [name, findings[`alr_${index}`]?.map(({ occurrences }) => occurrences)])
  expect(found).toEqual(
    CASES.map(([name, , , verdict]) => [name, verdict === 'fine' || verdict === 'unreached' ? [] : [1]]),
  )
})

test('the plan and the reference agree on random journeys and sessions', () => {
  fc.assert(
    fc.property(aSpec, aSession, (spec, text) => {
      const events = arrived([sessionOf(text)])
      expect(walkOf(spec, events)).toBe(verdictOn(spec, events))
    }),
    { numRuns: 3000 },
  )
})

describe('the plan of a journey', () => {
  test('contains each matcher once', () => {
    const { matchers } = planOf(stepped([on('a.b'), wants('a.b'), wants('c.')], [on('a.b'), inOrder('c.')]))
    expect(matchers.map(({ vendor, event }) => [vendor, event])).toEqual([
      ['a', 'b'],
      ['c', null],
    ])
  })

  test('treats an empty string as absent', () => {
    const [empty, absent] = [{ vendor: 'a', event: '', label: '' }, { vendor: 'a' }].map((expectation) =>
      planOf(stepped([start, expectation])),
    )
    expect(empty).toEqual(absent)
  })
})

describe('the evaluation of a session', () => {
  const plan = planOf(funnel)
  const walked = (shape: string) => judgeSession(plan, shapeFrom(shape))

  test('finds the unmet expectation', () => {
    // /cart, view_cart, /pay, add_payment, /thanks, purchase, Purchase
    expect(walked('0,1;3;2')).toMatchObject({ reached: 2, unmet: { step: 1, expect: 0, at: 2, misplaced: false } })
    expect(walked('0,1;2,3;4;5')).toMatchObject({ reached: 3, starts: [0, 1, 2], unmet: { step: 2, expect: 1, at: 2 } })
    expect(walked('')).toEqual({ reached: 0, starts: [], unmet: null })
    expect(judgeSession(planOf(twice), [])).toMatchObject({
      reached: 1,
      unmet: { step: 0, expect: 0, anchor: null, at: -1 },
    })
  })

  test('distinguishes a wrong order from missing events', () => {
    const misplaced = (spec: JourneySpec, shape: string) =>
      judgeSession(planOf(spec), shapeFrom(shape)).unmet?.misplaced
    expect(misplaced(ordered, '1;0;2')).toBe(true)
    expect(misplaced(ordered, '0;2')).toBe(false)
    expect(misplaced(twice, '0')).toBe(false)
    expect(misplaced(stepped([start, wants('a.b'), inOrder('c.d')]), '1')).toBe(false)
    expect(misplaced(shop, '1;0;2')).toBe(true)
    expect(misplaced(shop, '0;2;1')).toBe(false)
  })
})
