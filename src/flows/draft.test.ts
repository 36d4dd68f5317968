import { describe, expect, test } from 'bun:test'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { draftOf, type Sighting, sightingsOfHar } from './draft.ts'
import { checkExpectations } from './match-expectations.ts'
import { parseRecording } from './recorder-export.ts'

const GA4 = 'Google Analytics 4'
const SHOP = 'https://shop.example'
const seen = (at: number, page: string | null, name: string | null = null, params = {}): Sighting => ({
  at,
  pageUrl: page === null ? null : page.startsWith('/') ? SHOP + page : page,
  event: name === null ? null : { vendor: GA4, event: name, account: 'G-1', params },
})
const draft = (...sightings: Sighting[]) => draftOf({ sightings }, 'sessionId', PLAIN_PRIVACY)
const outline = (...sightings: Sighting[]) => {
  const { recording, expectations } = draft(...sightings)
  parseRecording(recording, 'recording')
  checkExpectations(expectations, recording.steps.length)
  return {
    pages: recording.steps.map(({ url }) => String(url).replace(SHOP, '')),
    events: expectations.map(({ step, event }) => `${step} ${event}`),
  }
}

describe('a draft from sightings', () => {
  test.each<[string, Sighting[], string[], string[]]>([
    ['a page', [seen(0, '/')], ['/'], []],
    ['a page with an event', [seen(0, '/', 'page_view')], ['/'], ['0 page_view']],
    [
      'two events on the same page',
      [seen(0, '/', 'page_view'), seen(9, '/', 'scrolled')],
      ['/'],
      ['0 page_view', '0 scrolled'],
    ],
    [
      'two pages',
      [seen(0, '/', 'page_view'), seen(9000, '/cart', 'view_cart')],
      ['/', '/cart'],
      ['0 page_view', '1 view_cart'],
    ],
    [
      'an event from the previous page',
      [seen(0, '/'), seen(9000, '/cart', 'view_cart'), seen(9100, '/', 'left'), seen(9200, '/cart', 'more')],
      ['/', '/cart'],
      ['1 view_cart', '0 left', '1 more'],
    ],
    ['the same page visited again', [seen(0, '/'), seen(5000, '/cart'), seen(60_000, '/')], ['/', '/cart', '/'], []],
    ['an event without a page', [seen(0, '/'), seen(1, null, 'purchase')], ['/'], []],
    [
      'a URL with personal data',
      [seen(0, '/'), seen(5000, '/u/ann@example.com', 'x'), seen(6000, '/b')],
      ['/', '/b'],
      [],
    ],
    ['a masked URL', [seen(0, '/'), seen(5000, '/u/a***@e***.com', 'x')], ['/'], []],
    [
      'a query',
      [seen(0, '/?id=7&gclid=x&utm_source=mail&mail=ann@example.com&s=0123456789012345678901234567890123456789x')],
      ['/?id=7'],
      [],
    ],
    [
      'a file',
      [seen(0, '/'), seen(5000, 'file:///etc/passwd'), seen(6000, 'https://user:word@shop.example/')],
      ['/'],
      [],
    ],
  ])('contains the expected pages and events: %s', (_name, sightings, pages, events) => {
    expect(outline(...sightings)).toEqual({ pages, events })
  })

  test('rejects sightings without a page that can be opened', () => {
    expect(() => draft(seen(0, null))).toThrow('sessionId: contains no page that can be opened')
  })

  test('has at most 200 pages', () => {
    const many = Array.from({ length: 300 }, (_, n) => seen(n * 10_000, `/p/${n}`))
    expect(draft(...many).recording.steps).toHaveLength(200)
  })
})

const entry = (time: string, url: string, more: object = {}) => ({
  pageref: 'p1',
  startedDateTime: `2026-01-05T12:00:${time}Z`,
  request: { url, method: 'GET', headers: [{ name: 'Referer', value: 'https://frame.example/' }] },
  ...more,
})

test('a draft from a HAR contains the pages of its tab in order and the vendor events, but no libraries', () => {
  const collect = 'https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=purchase&cu=EUR'
  const har = {
    log: {
      pages: [
        { id: 'p1', title: `${SHOP}/` },
        { id: 'p2', title: `${SHOP}/thanks` },
      ],
      entries: [
        entry('09', collect, { pageref: 'p2' }),
        entry('01', `${SHOP}/`),
        entry('02', 'https://www.googletagmanager.com/gtag/js?id=G-1'),
        entry('08', `${SHOP}/thanks`, { pageref: 'p2' }),
        null,
      ],
    },
  }
  const { recording, expectations } = draftOf(sightingsOfHar(har, 'har'), 'har', PLAIN_PRIVACY)
  expect(recording.steps.map(({ url }) => url)).toEqual([`${SHOP}/`, `${SHOP}/thanks`])
  expect(expectations).toEqual([
    {
      step: 1,
      vendor: GA4,
      event: 'purchase',
      account: 'G-1',
      data: [{ parameter: 'cu', op: 'equals', values: ['EUR'] }],
    },
  ])
})

test('a request without its body yields no event, but its page is included', () => {
  const collect = 'https://www.google-analytics.com/g/collect?v=2&tid=G-1'
  const sent = entry('02', collect, { pageref: 'p1' })
  const entries = [{ ...sent, request: { ...sent.request, method: 'POST', bodySize: 9 } }]
  const found = sightingsOfHar({ log: { pages: [{ id: 'p1', title: `${SHOP}/` }], entries } }, 'har')
  const reason = 'missing from the recording (9 bytes were sent)'
  expect(draftOf(found, 'har', PLAIN_PRIVACY)).toMatchObject({
    recording: { steps: [{ url: `${SHOP}/` }] },
    expectations: [],
    missingBodies: [{ entry: 0, host: 'www.google-analytics.com', reason }],
  })
})

test.each([null, 7, 'x', {}, { log: null }, { log: { entries: {} } }])('%j is not a HAR', (value) => {
  expect(() => sightingsOfHar(value, 'har')).toThrow('har: is not a HAR: log.entries is missing')
})
