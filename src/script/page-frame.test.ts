import { expect, test } from 'bun:test'
import { handClock } from './collector.fixture.ts'
import { makeFrames, pageAddress } from './page-frame.ts'

function setUp() {
  const clock = handClock()
  const document = { title: 'Shop', referrer: 'https://search.example/?q=secret', documentElement: { lang: '' } }
  const location = { href: 'https://shop.example/a?user=ann@example.com#top' }
  const state = { sessionId: '0'.repeat(32), left: [] as string[] }
  const config = { sampleRate: { prod: 1, dev: 0 } }
  const frames = makeFrames({
    ...clock,
    window: { document, navigator: { language: 'de-CH' } },
    location,
    config,
    session: { idAt: () => state.sessionId },
    date: () => clock.now(),
    left: ({ url }) => void state.left.push(url),
  })
  return { ...clock, document, location, config, frames, state }
}

test.each([
  ['https://shop.example/a/b?q=1#c', 'https://shop.example/a/b'],
  ['https://shop.example/#/cart', 'https://shop.example/'],
  ['about:srcdoc', ''],
  ['', ''],
])('the page URL %p is sent as %p', (href, address) => {
  expect(pageAddress(href)).toBe(address)
})

test('a frame is reused until one of its values has changed', () => {
  const { frames, pass, location, config, state } = setUp()
  const first = frames.current()
  expect(first).toMatchObject({
    declared: { env: 'prod' },
    sampleRate: 1,
    isSampled: true,
    language: 'de-CH',
    page: { url: 'https://shop.example/a', referrer: 'https://search.example/', title: 'Shop' },
  })
  pass(1000)
  location.href = 'https://shop.example/a?user=ben'
  frames.tell({ env: 'prod' })
  expect(frames.current()).toBe(first)
  const changes: (() => void)[] = [
    () => frames.tell({ version: 12 }),
    () => frames.tell({ env: 'dev' }),
    () => {
      state.sessionId = 'f'.repeat(32)
    },
    () => {
      config.sampleRate = { prod: 1, dev: 0.5 }
    },
  ]
  let last = first
  for (const change of changes) {
    change()
    const next = frames.current()
    expect(next).not.toBe(last)
    // The page does not change.
    expect(next.page).toBe(first.page)
    last = next
  }
  expect(last).toMatchObject({ declared: { env: 'dev', version: 12 }, sampleRate: 0.5, isSampled: false })
  expect(state.left).toEqual([])
})

test('a new URL starts a new page view, and late entries are assigned to the page view at their time', () => {
  const { frames, pass, location, document, state } = setUp()
  const first = frames.current()
  pass(1000)
  location.href = 'https://shop.example/b'
  document.title = 'Next'
  const second = frames.current()
  expect(second.page).toEqual({ url: 'https://shop.example/b', referrer: 'https://shop.example/a', title: 'Next' })
  expect(state.left).toEqual(['https://shop.example/a'])
  expect([frames.at(0), frames.at(999.9), frames.at(1000), frames.at(5000)]).toEqual([first, first, second, second])
})

test('only the most recent page views are stored', () => {
  const { frames, pass, location } = setUp()
  for (let n = 0; n < 50; n++) {
    location.href = `https://shop.example/${n}`
    frames.current()
    pass(10)
  }
  expect(frames.at(0).page.url).toBe('https://shop.example/30')
})

test('the language is that of the page, or else of the browser', () => {
  const { frames, document, location } = setUp()
  expect(frames.current().language).toBe('de-CH')
  document.documentElement.lang = 'fr'
  location.href = 'https://shop.example/fr'
  expect(frames.current().language).toBe('fr')
})
