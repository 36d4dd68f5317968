import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { EVERY_KIND } from '../../src/flows/recorder-export.fixture.ts'
import { parseRecording, type RecordedStep } from '../../src/flows/recorder-export.ts'
import { STEP_TYPES } from '../../src/flows/recording-steps.ts'
import { browsingOptions } from '../browser/browse.ts'
import { click, open, openWalkFixture, type WalkFixture } from './walk-fixture.ts'

/* Where a step runs: tab, frame and device. Also tests pages that respond with an error. */

const TAGS = `<script>said = []; tag = (name) =>
  navigator.sendBeacon('https://www.google-analytics.com/g/collect?v=2&tid=G-TEST123&en=' + name)</script>`
const BUTTON = '<button class=pay onclick="top.said.push(location.pathname + self.name)">Pay</button>'
const frame = (path: string, more = '') => `<iframe src="${path}" width=300 height=100 ${more}></iframe>`

const PAGES = {
  '/every/': `<title>Every</title><input id=it oncontextmenu="window.open('/every/popup')"><i id=it hidden></i>
    ${frame('/every/outer')}<p style="height:2000px">`,
  '/every/popup': '<title>Popup</title>',
  '/every/outer': `<div id=it style="height:20px;overflow:auto"><p style="height:900px"></div>
    ${frame('/every/none')}${frame('/every/inner')}`,
  '/every/none': '<p>none</p>',
  '/every/inner': '<button id=it ondblclick="top.said = [\'twice\']">It</button>',

  '/links': `${TAGS}<a id=shop target=_blank href=/shop>Shop</a><a id=own target=_blank rel=noopener href=/shop>Shop</a>`,
  '/shop': `${TAGS}<title>The shop</title><script>tag('shop')</script>
    <a id=shoe href=/shoe>Shoe</a>`,
  '/shoe': `${TAGS}<title>The shoe</title><script>tag('shoe')</script><button id=buy onclick="tag('buy')">Buy</button>`,

  '/framed': `${TAGS}${frame('/card')}${frame('/code')}`,
  '/framed/shifted': `${TAGS}${frame('/advert')}${frame('/card')}${frame('/code')}`,
  '/framed/fewer': `${TAGS}${frame('/code')}`,
  '/framed/named': `${TAGS}${frame('about:blank', 'srcdoc="x"')}${frame('/card', 'name=second')}${frame('/card', 'name=first')}`,
  '/framed/names': `${TAGS}${frame('/card', 'name=first')}${frame('/card', 'name=second')}`,
  '/below': `${TAGS}<p style="height:2500px"></p><iframe src="/tall" width=400 height=3000></iframe>`,
  '/tall': `<p style="height:2500px"></p><iframe src="/card" width=300 height=50 style="padding:9px"></iframe>
    <p style="height:400px"></p>`,
  '/card': BUTTON,
  '/code': BUTTON,
  '/advert': BUTTON,

  '/touched': `${TAGS}<meta name=viewport content="width=device-width"><button id=it>It</button><script>
    for (const type of ['touchstart', 'mousedown', 'click', 'contextmenu'])
      it.addEventListener(type, (event) => said.push([type, event.pointerType].filter(Boolean).join(' ')))</script>`,

  '/missing': { status: 404, html: '<title>Not here</title><h1>Not here</h1>' },
  '/empty': { status: 404, html: '' },
  '/broken': { status: 500, html: '' },
  '/to': '<a id=missing href=/missing>Missing</a>',
}

let walking: WalkFixture
beforeAll(async () => {
  walking = await openWalkFixture(PAGES)
})
afterAll(() => walking[Symbol.asyncDispose]())

const said = () => walking.browsing.page.evaluate('said')

test('every kind of step with every field works in one recording', async () => {
  const there = JSON.parse(JSON.stringify(EVERY_KIND).replaceAll('http://shop.example/', `${walking.base}/every/`))
  const recording = parseRecording(there, 'recording')
  const { statuses, error } = await walking.walked([], { recording })
  expect(error).toBeNull()
  expect(statuses).toEqual(recording.steps.map(() => 'passed'))
  expect(new Set(recording.steps.map(({ type }) => type))).toEqual(new Set(STEP_TYPES))
  expect(await said()).toEqual(['twice'])
  expect(walking.browsing.tabs()).toHaveLength(1)
})

describe('a link that opens a tab', () => {
  const inTab = (path: string, step: RecordedStep): RecordedStep => ({ ...step, target: `{{base}}${path}` })

  test.each(['#shop', '#own'])('(%s) runs later steps in the new tab and captures their tags', async (link) => {
    const { statuses, events, error } = await walking.walked([
      open('/links'),
      click(link),
      inTab('/shop', { ...click('aria/Shoe'), assertedEvents: [{ type: 'navigation' }] }),
      inTab('/shoe', click('#buy')),
      inTab('/shoe', { type: 'close' }),
      { type: 'waitForElement', selectors: [link] },
    ])
    expect(error).toBeNull()
    expect(statuses).toEqual(['passed', 'passed', 'passed', 'passed', 'passed', 'passed'])
    expect(events.map(({ step, event, path }) => [step, event, path])).toEqual([
      [1, 'shop', '/shop'],
      [2, 'shoe', '/shoe'],
      [3, 'buy', '/shoe'],
    ])
  })
})

describe('a frame whose index has changed since the recording', () => {
  const inFrame = (index: number): RecordedStep => ({ ...click('.pay'), frame: [index] })
  const learned = async (path: string, index: number) => {
    const { elements, statuses } = await walking.walked([open(path), inFrame(index)])
    expect(statuses).toEqual(['passed', 'passed'])
    return { 1: elements[1] ?? { role: '', name: '', tag: '', text: '' } }
  }

  test('is recognised by its URL from the last approved run', async () => {
    const elements = await learned('/framed', 1)
    expect(elements[1]).toMatchObject({ name: 'Pay', frame: { name: '', place: `127.0.0.1:${base()}/code` } })
    const { statuses } = await walking.walked([open('/framed/shifted'), inFrame(1)], { elements })
    expect(statuses).toEqual(['passed', 'passed'])
    expect(await said()).toEqual(['/code'])
  })

  test('is recognised by its name when the URLs are the same', async () => {
    const elements = await learned('/framed/names', 0)
    await walking.walked([open('/framed/named'), inFrame(0)], { elements })
    expect(await said()).toEqual(['/cardfirst'])
  })

  test('is found when no other frame contains such an element', async () => {
    const { statuses } = await walking.walked([open('/framed/fewer'), inFrame(1)])
    expect(statuses).toEqual(['passed', 'passed'])
    expect(await said()).toEqual(['/code'])
  })

  test('is not guessed when several frames are possible', async () => {
    const { steps } = await walking.walked([open('/framed'), inFrame(5)])
    expect(steps[1]).toMatchObject({ status: 'failed', error: expect.stringContaining('the tab has no frame [5]') })
    expect(await said()).toEqual([])
  })
  const base = () => new URL(walking.base).port
})

test('a nested frame far down the page, inside a frame larger than the window, is scrolled into view', async () => {
  await walking.walked([open('/below'), { ...click('.pay'), frame: [0, 0] }])
  expect(await said()).toEqual(['/card'])
})

test('a phone receives touch events, and mouse clicks only when recorded', async () => {
  await using phone = await openWalkFixture(PAGES, { device: 'mobile' })
  const browsing = await browsingOptions('', { device: 'mobile' })
  const steps = (...more: object[]): RecordedStep[] => [
    open('/touched'),
    ...more.map((one) => ({ ...click('#it'), ...one })),
  ]
  const saidBy = async (...more: object[]) => {
    const { statuses } = await phone.walked(steps(...more), { browsing })
    expect(new Set(statuses)).toEqual(new Set(['passed']))
    return phone.browsing.page.evaluate('said')
  }
  const tap = ['touchstart', 'mousedown', 'click touch']
  expect(await saidBy({})).toEqual(tap)
  expect(await saidBy({ deviceType: 'touch', offsetX: 2, offsetY: 2 })).toEqual(tap)
  expect(await saidBy({ type: 'doubleClick', deviceType: 'touch' })).toEqual([...tap, ...tap])
  expect(await saidBy({ deviceType: 'mouse' })).toEqual(['mousedown', 'click mouse'])
})

describe('a step that opens a page', () => {
  const asked = (path: string, status?: number): RecordedStep => ({
    ...open(path),
    assertedEvents: [{ type: 'navigation', url: '', title: '', ...(status && { status }) }],
  })
  const CASES: [name: string, step: RecordedStep, fault: RegExp | null][] = [
    ['fails if the page is missing', asked('/missing'), /^the page http:.*\/missing responded with 404 Not Found$/],
    [
      'fails if the error response has no body',
      asked('/empty'),
      /^the page http:.*\/empty responded with 404 Not Found$/,
    ],
    [
      'fails on a server error',
      asked('/broken'),
      /^the page http:.*\/broken responded with 500 Internal Server Error$/,
    ],
    ['passes if the recording expects the status', asked('/missing', 404), null],
    ['passes without a body if the recording expects the status', asked('/empty', 404), null],
    [
      'fails on a status other than the expected one',
      asked('/broken', 404),
      /responded with 500 Internal Server Error instead of 404$/,
    ],
    [
      'fails if the page opens without the expected error',
      asked('/to', 404),
      /\/to responded with 200 OK instead of 404$/,
    ],
  ]
  test.each(CASES)('%s', async (_, step, fault) => {
    const { steps } = await walking.walked([step])
    expect(steps[0]).toMatchObject(
      fault ? { status: 'failed', error: expect.stringMatching(fault) } : { status: 'passed', error: null },
    )
  })

  test('is checked in the same way when a link opens the page', async () => {
    const link = (status: number) => ({ ...click('#missing'), assertedEvents: [{ type: 'navigation', status }] })
    expect((await walking.walked([open('/to'), link(404)])).statuses).toEqual(['passed', 'passed'])
    expect((await walking.walked([open('/to'), link(410)])).steps[1]?.error).toEndWith(
      'responded with 404 Not Found instead of 410',
    )
  })
})
