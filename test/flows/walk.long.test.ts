import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browsing, BrowsingOptions } from '../../src/browser/browsing.ts'
import type { KnownElement } from '../../src/flows/known-element.ts'
import type { RecordedStep } from '../../src/flows/recorder-export.ts'
import type { WalkMessage, WalkPlan } from '../../src/flows/walk-plan.ts'
import { browse } from '../browser/browse.ts'
import { click, open, openWalkFixture, type WalkFixture, walkInFixture } from './walk-fixture.ts'

const PAGES: Record<string, string> = {
  '/': `<title>Shop</title><h1 id=h>Shop</h1>
    <button id=buy onclick="said.push('buy')">Add to basket</button>
    <a id=next href=/next>Next page</a> <a id=gone href=/gone>Gone</a>
    <button id=ask onclick="said.push(confirm('Sure?'))">Ask</button>
    <button id=open onclick="window.open('/popup')">Open</button>
    <button id=off disabled>Off</button>
    <button id=freeze onclick="for(;;){}">Freeze</button>
    <button id=twice ondblclick="said.push('twice')" oncontextmenu="said.push('menu')">Twice</button>
    <input id=email aria-label=E-mail> <select id=size><option>S<option>L</select> <input id=day type=date>
    <div id=box style="height:50px;overflow:auto"><p style="height:900px">long</p></div>
    <span id=over onmouseenter="said.push('over')">Over</span>
    <button class=same>Same</button><button class=same>Same</button>
    <div style="position:relative;width:90px"><button id=under>Under</button><i id=lid style="position:absolute;inset:0">lid</i></div>
    <p style="height:1500px"></p><button id=low onclick="said.push('low')">Low</button>
    <my-host></my-host><iframe srcdoc="<button id=in onclick=&quot;parent.said.push('in')&quot;>Inside</button>"></iframe>
    <script>said=[]; customElements.define('my-host', class extends HTMLElement { connectedCallback() {
      this.attachShadow({mode:'open'}).innerHTML = '<button id=deep>Deep</button>'
      this.shadowRoot.querySelector('button').onclick = () => said.push('deep') } })
      email.onkeydown = (e) => said.push(e.key)</script>`,
  '/next':
    '<title>Next</title><button id=late hidden>Late</button><script>setTimeout(() => late.hidden = false, 800)</script>',
  '/popup': '<title>Popup</title><button id=p onclick="opener.said.push(\'popup\')">In the popup</button>',
  '/renamed': `<button id=new1 onclick="said='healed'">Add to basket</button>`,
  '/doubled': '<button>Add to basket</button><p>x</p><button>Add to basket</button>',
  '/banner': `<div id=cookie-banner style="position:fixed;inset:0;background:#eee"><button onclick="said='no';parentNode.remove()">Reject all</button>
    <button onclick="said='yes';parentNode.remove()">Accept all</button></div><button id=go>Go</button><script>said=''</script>`,
  '/tags': `<button id=pay onclick="setTimeout(() => tag('purchase'), 900)">Pay</button><button id=other onclick="tag('other')">Other</button>
    <input id=pw aria-label=Password><script>tag = (name) =>
      navigator.sendBeacon('https://www.google-analytics.com/g/collect?v=2&tid=G-TEST123&en=' + name + '&ep.typed=' + pw.value)</script>`,
  '/log-in': `<title>Log in</title><button onclick="said='in'">Log in</button><script>said=''</script>`,
  '/onetrust': `<div id=onetrust-banner-sdk><button id=onetrust-accept-btn-handler onclick="said='yes';parentNode.remove()">Fine</button></div><script>said=''</script>`,
}

let walking: WalkFixture
/** The browser shared by all tests, or one created for a single test. */
let browsing: Browsing
beforeAll(async () => {
  walking = await openWalkFixture(PAGES)
  browsing = walking.browsing
})
afterAll(() => walking[Symbol.asyncDispose]())

/** Runs the steps in the shared browser. */
function walked(steps: RecordedStep[], more: Partial<WalkPlan> = {}, onTold?: (message: WalkMessage) => void) {
  return walkInFixture(browsing, steps, { values: { base: walking.base }, ...more }, onTold)
}

const said = () => browsing.page.evaluate('said')

test('every kind of step works', async () => {
  const { steps, error } = await walked(
    [
      { type: 'setViewport', width: 500, height: 500 },
      { type: 'emulateNetworkConditions', download: 1_000_000, upload: 1_000_000, latency: 1 },
      open(),
      { type: 'waitForElement', selectors: ['.same'], count: 2, operator: '==', properties: { tagName: 'BUTTON' } },
      click('aria/Add to basket'),
      { type: 'doubleClick', selectors: ['#twice'], offsetX: 3, offsetY: 3 },
      { ...click('#twice'), button: 'secondary' },
      { type: 'hover', selectors: ['text/Over'] },
      click('xpath///*[@id="low"]'),
      click(['my-host', '#deep']),
      { ...click('#in'), frame: [0] },
      { type: 'change', selectors: ['aria/E-mail'], value: '{{who}}' },
      { type: 'keyDown', key: 'Tab' },
      { type: 'keyUp', key: 'Tab' },
      { type: 'change', selectors: ['#size'], value: 'L' },
      { type: 'change', selectors: ['#day'], value: '2026-01-05' },
      { type: 'scroll', selectors: ['#box'], y: 100 },
      { type: 'scroll', y: 0 },
      { type: 'waitForExpression', expression: 'new Promise((done) => setTimeout(() => done(size.value === "L")))' },
      click('#open'),
      { ...click('#p'), target: '{{base}}/popup' },
      { type: 'close', target: '{{base}}/popup' },
    ],
    { values: { base: walking.base, who: 'ab' } },
  )
  expect(error).toBeNull()
  expect(steps.map(({ status }) => status)).toEqual(Array(22).fill('passed'))
  expect(await said()).toEqual(['buy', 'twice', 'menu', 'over', 'low', 'deep', 'in', 'a', 'b', 'Tab', 'popup'])
  expect(await browsing.page.evaluate('[email.value, day.value, box.scrollTop]')).toEqual(['ab', '2026-01-05', 100])
})

test('a step waits for a new page and its slow elements, and a dialog is answered and recorded', async () => {
  const { steps, errors } = await walked([
    open(),
    click('#ask'),
    { ...click('#next'), assertedEvents: [{ type: 'navigation' }] },
    click('#late'),
  ])
  expect(steps.map(({ status }) => status)).toEqual(['passed', 'passed', 'passed', 'passed'])
  expect(errors).toContain('The page asked “Sure?”; the dialog was answered with OK')
})

const faults: [step: RecordedStep, sentence: RegExp][] = [
  [click('#nowhere'), /^#nowhere was not found on the page; waited 1.5 s$/],
  [click('.same'), /^\.same matches 2 elements/],
  [click('#off'), /^#off is disabled/],
  [click('#under'), /^#under is covered by i#lid \(“lid”\)/],
  [click('#gone'), /gone responded with 404/],
  [{ ...click('#h'), assertedEvents: [{ type: 'navigation' }] }, /^no page opened, although/],
  [{ ...click('#h'), target: 'https://other.example/' }, /is not open$|not there/],
  [{ type: 'waitForExpression', expression: 'false' }, /^the expression did not become true within 1.5 s$/],
  [{ type: 'waitForElement', selectors: ['#nope'] }, /^0 elements match #nope/],
  [{ type: 'change', selectors: ['#size'], value: 'XL' }, /^the list has no option “XL”$/],
  [{ type: 'navigate', url: '{{base}}/file' }, /download/],
  [{ type: 'navigate', url: 'http://nowhere.invalid/' }, /./],
]
test.each(faults)('%j fails with a reason, and later steps are skipped', async (step, sentence) => {
  const { steps, error } = await walked([open(), step, click('#buy')])
  expect(steps.map(({ status }) => status)).toEqual(['passed', 'failed', 'skipped'])
  expect(steps[1]?.error).toMatch(sentence)
  expect(error).toContain('step 2, ')
})

test('a step is healed with another selector unless that selector was rejected', async () => {
  const step = click('#buy', 'aria/Add to basket')
  const healed = await walked([open('/renamed'), step])
  expect(healed.steps[1]).toMatchObject({ status: 'healed', healed: { before: '#buy', after: 'aria/Add to basket' } })
  const refused = await walked([open('/renamed'), step], { refused: { 1: ['aria/Add to basket'] } })
  expect(refused.steps[1]).toMatchObject({ status: 'failed', healed: null })
})

test('an element is found by its known properties, but not if two elements are equally similar', async () => {
  const { elements } = await walked([open(), click('#buy')])
  const known = elements[1] as KnownElement
  expect(known).toEqual({ role: 'button', name: 'Add to basket', tag: 'button', text: 'Add to basket' })
  const healed = await walked([open('/renamed'), click('#buy')], { elements: { 1: known } })
  expect(healed.steps[1]?.healed).toEqual({ before: '#buy', after: 'aria/Add to basket[role="button"]' })
  expect(await said()).toBe('healed')
  const doubled = await walked([open('/doubled'), click('#buy')], { elements: { 1: known } })
  expect(doubled.steps[1]?.error).toMatch(/2 other elements are equally similar/)
})

test.each([
  ['/banner', 'accept', 'yes'],
  ['/banner', 'deny', 'no'],
  ['/banner', 'none', ''],
  ['/onetrust', 'accept', 'yes'],
] as const)('the consent banner on %s with mode %s results in %p', async (path, mode, answer) => {
  await walked([open(path)], { consent: { mode, selectors: [] } })
  expect(await said()).toBe(answer)
})

test('a page with the same title as its button is not mistaken for the button', async () => {
  const { error } = await walked([open('/log-in'), click('aria/Log in')])
  expect([error, await said()]).toEqual([null, 'in'])
})

test('a run ends when its time limit is reached', async () => {
  const { steps, error } = await walked([open(), { type: 'waitForExpression', expression: 'false', timeout: 30_000 }], {
    timeoutMs: 3000,
  })
  expect(steps.map(({ status }) => status)).toEqual(['passed', 'failed'])
  expect(error).toContain('the run exceeded its time limit of 3 s')
})

/** Runs in a new browser, because a page that hangs or crashes delays later steps. */
async function inOwnBrowser<T>(
  work: (own: Browsing) => Promise<T>,
  options: Partial<BrowsingOptions> = {},
): Promise<T> {
  await using own = await browse(options)
  const shared = browsing
  browsing = own
  try {
    return await work(own)
  } finally {
    browsing = shared
  }
}

test('a page in an endless loop fails its step', async () => {
  const { steps } = await inOwnBrowser(() => walked([open(), click('#freeze'), click('#buy')]))
  expect(steps.map(({ status }) => status)).toEqual(['passed', 'failed', 'skipped'])
})

test('a step waits for a late tag, which is assigned to the step that caused it', async () => {
  const expectations = [{ step: 1, vendor: 'Google Analytics 4', event: 'purchase', withinMs: 20_000 }]
  const { told } = await walked([open('/tags'), click('#pay'), click('#other')], { expectations })
  const events = told.flatMap((message) => (message.kind === 'event' ? [message.event] : []))
  expect(events.map(({ event, step, answered }) => [event, step, answered])).toEqual([
    ['purchase', 1, true],
    ['other', 2, true],
  ])
  const done = told.findLast((message) => message.kind === 'done')
  expect(done?.pausedMs).toBeGreaterThan(900)
})

test('a typed secret appears in no message or file', async () => {
  const typing: RecordedStep = { type: 'change', selectors: ['aria/Password'], value: '{{pw}}' }
  const values = { base: walking.base, pw: 's3cret-Pass' }
  const { told, files, steps } = await inOwnBrowser(
    () => walked([open('/tags'), typing, click('#other')], { values }),
    {
      secrets: ['s3cret-Pass'],
    },
  )
  expect(steps.map(({ status }) => status)).toEqual(['passed', 'passed', 'passed'])
  expect(JSON.stringify(told)).not.toContain('s3cret')
  expect(files).not.toContain('s3cret')
  expect(files).toContain('PNG')
})

test('a page crash ends the run', async () => {
  const wait = { type: 'waitForExpression', expression: 'false', timeout: 40_000 }
  const { steps, error } = await inOwnBrowser((own) =>
    walked([open(), wait, click('#buy')], {}, async (message) => {
      if (message.kind !== 'step' || message.step.index !== 0) return
      const session = await own.page.createCDPSession()
      await session.send('Page.crash').catch(() => {})
    }),
  )
  expect(steps.map(({ status }) => status)).toEqual(['passed', 'failed', 'skipped'])
  expect(error).toContain('the page crashed')
})
