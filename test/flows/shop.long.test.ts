import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Browsing } from '../../src/browser/browsing.ts'
import { openBrowsing } from '../../src/browser/open-browsing.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { FairQueue } from '../../src/core/fair-queue.ts'
import { deriveExpectations } from '../../src/flows/derive-expectations.ts'
import type { Expectation } from '../../src/flows/expectation.ts'
import { judgeRun } from '../../src/flows/judge-run.ts'
import type { KnownElement } from '../../src/flows/known-element.ts'
import { parseRecording, type RecordedStep } from '../../src/flows/recorder-export.ts'
import { headlineOf } from '../../src/flows/run-headline.ts'
import type { RunEvent, StepResult } from '../../src/flows/run-result.ts'
import { walkIn } from '../../src/flows/walk/walk.ts'
import type { WalkMessage, WalkPlan } from '../../src/flows/walk-plan.ts'
import { browsingOptions } from '../browser/browse.ts'
import { temporaryFolder } from '../run-program.ts'
import { openShop } from './shop.ts'

const GA4 = 'Google Analytics 4'
const open = (path: string): RecordedStep => ({ type: 'navigate', url: `{{shop}}${path}` })
const click = (selectors: unknown[], more: object = {}): RecordedStep => ({
  type: 'click',
  selectors,
  offsetX: 5,
  offsetY: 5,
  ...more,
})
const change = (id: string, value: string): RecordedStep => ({ type: 'change', selectors: [[`#${id}`]], value })
const event = (step: number, name: string, data?: Expectation['data'], vendor = GA4): Expectation => ({
  step,
  vendor,
  event: name,
  withinMs: 1500,
  ...(data && { data }),
})
const price: Expectation['data'] = [
  { parameter: 'cu', op: 'equals', values: ['EUR'] },
  { parameter: 'epn.value', op: 'gt', values: ['0'] },
]
const order: Expectation['data'] = [...price, { parameter: 'ep.transaction_id', op: 'not_blank' }]

/** Parts of a visit, each with its expected events. */
const VISITS = {
  home: {
    steps: [open('/'), click([['aria/Red shoes'], ['#red']])],
    expect: [event(0, 'page_view'), event(1, 'view_item')],
  },
  basket: {
    steps: [open('/product'), click([['buy-box', '#add'], ['pierce/#add'], ['aria/Add to basket']])],
    expect: [event(0, 'view_item'), event(1, 'add_to_cart', price), event(1, 'AddToCart', undefined, 'Meta Pixel')],
  },
  pay: {
    steps: [open('/pay'), click([['#pay'], ['text/Pay now']], { frame: [0] })],
    expect: [event(0, 'begin_checkout'), event(1, 'purchase', order), event(1, 'Purchase', undefined, 'Meta Pixel')],
  },
  tab: {
    steps: [
      open('/'),
      click([['#sale']]),
      click([['buy-box', '#add']], { target: '{{shop}}/product' }),
      { type: 'close', target: '{{shop}}/product/added' },
      click([['#red']]),
    ],
    expect: [event(1, 'view_item'), event(2, 'add_to_cart', price), event(4, 'view_item')],
  },
  login: {
    steps: [open('/login'), change('email', '{{email}}'), change('password', '{{password}}'), click([['#in']])],
    expect: [event(3, 'login')],
  },
} satisfies Record<string, { steps: RecordedStep[]; expect: Expectation[] }>

interface Walked {
  steps: StepResult[]
  events: RunEvent[]
  elements: Record<number, KnownElement>
  errors: readonly string[]
  error: string | null
}

type More = Partial<Pick<WalkPlan, 'consent' | 'elements' | 'refused' | 'values' | 'timeoutMs' | 'expectations'>>

/** Visits spend most of the time waiting, so several run concurrently, each with its own shop and browser. */
const visits = new FairQueue(4)

const walkShop = (visit: keyof typeof VISITS, fault: string, more: More = {}): Promise<Walked> =>
  visits.run(() => walkNow(visit, fault, more))

async function walkNow(visit: keyof typeof VISITS, fault: string, { values, ...more }: More): Promise<Walked> {
  using folder = temporaryFolder()
  let browsing: Browsing | null = null
  using shop = openShop(fault, async () => {
    const session = await browsing?.page.createCDPSession()
    await session?.send('Page.crash').catch(() => undefined)
  })
  const { steps, expect: expectations } = VISITS[visit]
  const outboundAllow = ['127.0.0.1', '127.0.0.2']
  const plan: WalkPlan = {
    browsing: await browsingOptions(join(folder.path, 'browser'), { outboundAllow, secrets: ['open sesame'] }),
    recording: parseRecording({ title: 'A visit', timeout: 4000, steps }, 'recording'),
    values: { shop: shop.origin, email: 'ann@shop.test', password: 'open sesame', ...values },
    secretHosts: { password: [new URL(shop.origin).host] },
    expectations,
    labels: {},
    consent: { mode: 'none', selectors: [] },
    elements: {},
    refused: {},
    timeoutMs: 60_000,
    folder: join(folder.path, 'run'),
    ...more,
  }
  await Bun.write(join(plan.browsing.folder, '.made'), '')
  const walked: Walked = { steps: [], events: [], elements: {}, errors: [], error: null }
  const tell = (message: WalkMessage) => {
    if (message.kind === 'event') walked.events.push(message.event)
    else if (message.kind === 'done') Object.assign(walked, { error: message.error, errors: message.errors })
    else {
      walked.steps.push(message.step)
      if (message.element) walked.elements[message.step.index] = message.element
    }
  }
  const { signal } = new AbortController()
  await using opened = await openBrowsing(plan.browsing, signal)
  browsing = opened
  await walkIn(opened, plan, tell, signal)
  return walked
}

const judged = (
  visit: keyof typeof VISITS,
  { steps, events, error }: Walked,
  expectations: readonly Expectation[] = VISITS[visit].expect,
) => judgeRun({ steps, events, error, expectations, labels: {}, privacy: PLAIN_PRIVACY })
const told = (visit: keyof typeof VISITS, walked: Walked, more: More = {}) =>
  judged(visit, walked, more.expectations).map(({ kind, step, event }) =>
    [kind, step, event].filter((part) => part !== null).join(' '),
  )

const neverRemoved: Expectation[] = [...VISITS.basket.expect, { event: 'remove_from_cart', max: 0 }]
const button: KnownElement = { role: 'button', name: 'Add to basket', tag: 'button', text: 'Add to basket' }

/** Each case has at most one fault, and the findings that must report it. */
const CASES: [name: string, visit: keyof typeof VISITS, fault: string, truth: string[], more?: More][] = [
  ['no fault on the home page', 'home', '', []],
  ['no fault in a shadow tree', 'basket', '', []],
  ['no fault in a cross-origin frame', 'pay', '', []],
  ['no fault in a login', 'login', '', []],
  ['no fault in a tab that a link opens', 'tab', '', []],
  ['a tag is missing', 'home', 'page_view gone', ['missing 0 page_view']],
  ['a tag on the next page is missing', 'home', 'view_item gone', ['missing 1 view_item']],
  ['all tags are missing', 'home', 'tags gone', ['missing 0 page_view', 'missing 1 view_item']],
  ["a button's tag is missing", 'basket', 'add_to_cart gone', ['missing 1 add_to_cart']],
  ["one vendor's tag is missing", 'basket', 'AddToCart gone', ['missing 1 AddToCart']],
  ['a tag in a frame is missing', 'pay', 'purchase gone', ['missing 1 purchase']],
  ['the login tag is missing', 'login', 'login gone', ['missing 3 login']],
  ['a tag is late', 'basket', 'add_to_cart late', []],
  ['a tag is sent when the page unloads', 'home', 'page_view beacon', ['missing 0 page_view']],
  ['a tag is sent by a worker', 'basket', 'add_to_cart worker', []],
  ['a tag is too late', 'basket', 'add_to_cart too late', ['missing 1 add_to_cart']],
  ['a tag has a different name', 'basket', 'add_to_cart renamed', ['missing 1 add_to_cart']],
  [
    'a tag has a different account',
    'basket',
    'add_to_cart account',
    ['missing 1 add_to_cart'],
    { expectations: [{ ...event(1, 'add_to_cart'), account: 'G-SHOP' }] },
  ],
  ['a different currency', 'basket', 'add_to_cart currency', ['wrong_data 1 add_to_cart']],
  ['a missing value', 'basket', 'add_to_cart value', ['wrong_data 1 add_to_cart']],
  ['a missing order id', 'pay', 'purchase id', ['wrong_data 1 purchase']],
  ['an order in a different currency', 'pay', 'purchase currency', ['wrong_data 1 purchase']],
  ['a tag is sent twice', 'basket', 'add_to_cart double', ['duplicate 1 add_to_cart']],
  ["another vendor's tag is sent twice", 'basket', 'AddToCart double', ['duplicate 1 AddToCart']],
  ['an order is sent twice', 'pay', 'purchase double', ['duplicate 1 purchase']],
  ['an unwanted tag', 'basket', 'unwanted', ['unexpected 1 remove_from_cart'], { expectations: neverRemoved }],
  ['an unwanted tag that is not sent', 'basket', '', [], { expectations: neverRemoved }],
  [
    'a tag is sent more often than allowed',
    'basket',
    'add_to_cart double',
    ['unexpected 1 add_to_cart', 'duplicate 1 add_to_cart'],
    { expectations: [{ ...event(1, 'add_to_cart'), max: 1 }] },
  ],
  ['a page is not found', 'basket', 'not found', ['step_failed 0']],
  ['a page is broken', 'basket', 'broken', ['step_failed 0']],
  ['a page hangs', 'basket', 'hang', ['step_failed 0']],
  ['a page freezes', 'home', 'freeze', ['step_failed 0']],
  ['a page freezes on a click', 'basket', 'freeze on click', ['step_failed 1']],
  ['a page crashes on a click', 'basket', 'crash on click', ['step_failed 1']],
  ['a page is slow', 'basket', 'slow', []],
  ['a page is never idle', 'home', 'busy', []],
  ['a page has an error', 'home', 'error', []],
  ['a page shows a message', 'home', 'alert', []],
  ['a page asks for confirmation', 'basket', 'confirm', []],
  ['a page asks for confirmation before the user leaves', 'pay', 'beforeunload', []],
  ['a click downloads a file', 'basket', 'download', []],
  ['a click opens a tab', 'basket', 'new tab', []],
  ['a page redirects to a private address', 'home', 'private', ['step_failed 0']],
  ['a page redirects to a host with an invalid certificate', 'pay', 'certificate', ['step_failed 1']],
  ['a redirect loop', 'pay', 'circle', ['step_failed 1']],
  ['another frame before the intended frame', 'pay', 'advert', []],
  ['a tag in a new tab is missing', 'tab', 'add_to_cart gone', ['missing 2 add_to_cart']],
  ['a button has a different id', 'basket', 'button renamed', []],
  ['a button has a different text', 'basket', 'button reworded', []],
  ['a button is missing', 'basket', 'button gone', ['step_failed 1']],
  ['a healed button appears twice', 'basket', 'button twice', ['step_failed 1'], { elements: { 1: button } }],
  ['a step on a button is healed, and the tag is missing', 'basket', 'renamed, no tag', ['missing 1 add_to_cart']],
  ['a rejected healing', 'basket', 'button renamed', ['step_failed 1'], { refused: { 1: ['aria/Add to basket'] } }],
  ['a banner blocks the tags and hides the page', 'home', 'banner', ['step_failed 1', 'missing 0 page_view']],
  ['a banner is accepted', 'home', 'banner', [], { consent: { mode: 'accept', selectors: [] } }],
  ['a different password', 'login', '', ['missing 3 login'], { values: { password: 'wrong' } }],
]

describe('flow tests of the shop', () => {
  test.concurrent.each(CASES.map(([name, visit, fault, truth, more = {}]) => ({ name, visit, fault, truth, more })))(
    '$name',
    async ({ visit, fault, truth, more }) => {
      const walked = await walkShop(visit, fault, more)
      expect({ told: told(visit, walked, more), walked }).toEqual({ told: truth, walked })
      const statuses = walked.steps.map(({ status }) => status)
      expect(statuses.includes('failed')).toBe(truth.some((one) => one.startsWith('step_failed')))
      if (fault === 'button renamed' && truth.length === 0) expect(statuses).toEqual(['passed', 'healed'])
      expect(JSON.stringify(walked)).not.toContain('open sesame')
    },
  )

  test('there are at least 40 cases', () => expect(CASES.length).toBeGreaterThanOrEqual(40))

  test('expectations derived from a passed run are met on the next visit, and fail if the shop has a fault', async () => {
    const first = await walkShop('pay', '')
    const expectations = deriveExpectations(first.events, PLAIN_PRIVACY).map((one) => ({ ...one, withinMs: 1500 }))
    expect(expectations.length).toBeGreaterThanOrEqual(3)
    const again = await walkShop('pay', '', { expectations })
    expect(judged('pay', again, expectations)).toEqual([])
    const wrong = await walkShop('pay', 'purchase id', { expectations })
    const findings = judged('pay', wrong, expectations)
    expect(headlineOf({ ...wrong, findings })).toBe('Purchase without its transaction id')
  })
})
