import { describe, expect, test } from 'bun:test'
import type { CaptureConfig } from '../capture/capture-config.ts'
import { makeCaptureFilter, siteOf } from './capture-filter.ts'

const CONFIG: CaptureConfig = {
  version: 1,
  token: 'pt_1',
  collectUrl: 'https://collect.tags.example/api/v1/events',
  configUrl: 'https://collect.tags.example/t/pt_1.json',
  sampleRate: { prod: 1, dev: 1 },
  kill: false,
  sessionMode: 'memory',
  crossSite: true,
  patterns: ['metrics.shop.example/c*&k=', 'api.shop.example/own'],
  paths: '/g/collect$|\\.php$',
  ignore: '^[^?]*\\.(?:jpg(?:\\?|$)|gif$)',
  pageStats: true,
}

const filter = (change: Partial<CaptureConfig> = {}) =>
  makeCaptureFilter({ ...CONFIG, ...change }, 'www.shop.example', () => 'https://www.shop.example/cart/')

test.each([
  ['www.shop.example', 'shop.example'],
  ['shop.example', 'shop.example'],
  ['a.b.shop.co.uk', 'shop.co.uk'],
  ['shop.co.uk', 'shop.co.uk'],
  ['shop.de', 'shop.de'],
  ['www.shop.de', 'shop.de'],
  ['localhost', 'localhost'],
  ['10.0.0.1', '10.0.0.1'],
  ['[::1]', '[::1]'],
])('the site of %s is %s', (hostname, site) => {
  expect(siteOf(hostname)).toBe(site)
})

describe('captured requests', () => {
  test.each<[string, string | null]>([
    ['https://vendor.example/p?a=1#top', 'https://vendor.example/p?a=1'],
    ['//VENDOR.example/p', 'https://vendor.example/p'],
    ['https://vendor.example/photo.JPG?w=9', null],
    ['https://vendor.example/a.gif', null],
    ['https://vendor.example/a.gif?id=1', 'https://vendor.example/a.gif?id=1'],
    ['https://cdn.shop.example/app.js', null],
    ['/api/login', null],
    ['../g/collect', 'https://www.shop.example/g/collect'],
    ['https://metrics.shop.example/c?a=1&K=2', 'https://metrics.shop.example/c?a=1&K=2'],
    ['https://metrics.shop.example/c?a=1', null],
    ['http://api.shop.example/own/x', 'http://api.shop.example/own/x'],
    ['https://vendor.example/pixel.php', 'https://vendor.example/pixel.php'],
    ['https://collect.tags.example/api/v1/events', null],
    ['https://collect.tags.example/t/pt_1.js', null],
    ['data:image/gif;base64,AAAA', null],
    ['blob:https://vendor.example/1', null],
    ['wss://vendor.example/', null],
    ['https://', null],
  ])('%s is captured as %p', (address, url) => {
    const { wanted, learn } = filter()
    learn({
      hosts: [],
      marks: [['^$', '']],
    })
    expect(wanted(address)?.url ?? null).toBe(url)
  })

  test('are limited to listed vendors if other sites are excluded', () => {
    const { wanted, learn } = filter({ crossSite: false })
    learn({
      hosts: ['vendor.example'],
      marks: [['^$', '']],
    })
    expect(wanted('https://vendor.example/p')).toBeNull()
    expect(wanted('https://vendor.example/g/collect')?.isVendors).toBe(true)
    expect(wanted('https://metrics.shop.example/c?&k=')?.isVendors).toBe(true)
  })
})

test('bodies are captured for vendor hosts once the host list is loaded', () => {
  const { wanted, learn } = filter()
  const withBody = () =>
    [
      'https://api.segment.io/v1/t',
      'https://segment.io/',
      'https://notsegment.io/',
      'https://shop.example/g/collect',
    ].map((address) => wanted(address)?.isVendors)
  expect(withBody()).toEqual([null, null, null, true])
  learn({
    hosts: ['segment.io'],
    marks: [['^$', '']],
  })
  expect(withBody()).toEqual([true, true, false, true])
})

describe('requests recognised by more than their path', () => {
  const MARKS: [string, string][] = [
    ['', '\\n\\{"n":'],
    ['/lib\\.js$', ''],
    ['/v1/track(\\.gif)?$', '\\n\\{"writeKey"'],
    ['^/e$', '^ph\\.[^?]*\\?.*k=1'],
  ]

  test.each<[address: string, body: string | null, isVendors: boolean | null, isSure: boolean]>([
    ['https://rs.shop.example/v1/track', '{"writeKey":"k"}', true, true],
    ['https://dataplane.example/v1/track', '{"writeKey":"k"}', true, true],
    ['https://shop.example/any/path', '{"n":"pageview"}', true, true],
    ['https://rs.shop.example/LIB.js', '', true, true],
    ['https://ph.shop.example/e?k=1', null, true, true],
    // The decision requires the body, which has not been read yet.
    ['https://rs.shop.example/v1/track', null, null, false],
    ['https://dataplane.example/v1/track', null, null, true],
    // Looks like the URL of an image, but is not an image request.
    ['https://tags.shop.example/v1/track.gif', '{"writeKey":"k"}', true, true],
    // Requests to hosts of other sites are captured without their bodies.
    ['https://dataplane.example/v1/track', '{"password":"x"}', false, true],
    ['https://ph.vendor.example/', '{"writeKey":"k"}', false, true],
  ])('%s with the body %p: vendor request %p, certain %p', (address, body, isVendors, isSure) => {
    const { wanted, learn } = filter()
    learn({ hosts: [], marks: MARKS })
    expect(wanted(address, () => body)).toMatchObject({ isVendors, isSure })
  })

  test.each([
    ['/v1/track', '{"password":"x"}'],
    ['/v1/track/more', '{"writeKey":"k"}'],
    ['/e?k=1', ''],
    ['/login', '{"writeKey":"k"}'],
    ['/lib.js.map', ''],
    ['/v1/track.gif', ''],
  ])('a request to %s on the site itself with the body %p is not captured', (address, body) => {
    const { wanted, learn } = filter()
    learn({ hosts: [], marks: MARKS })
    expect(wanted(address, () => body)).toBeNull()
  })

  test('are not captured, and their bodies are not read, before the lists are loaded', () => {
    const { wanted } = filter()
    const read = () => {
      throw new Error('read')
    }
    expect(wanted('/v1/track', read)).toMatchObject({ isVendors: null, isSure: false })
    expect(wanted('/hero.jpg')).toBeNull()
  })
})

test('hosts on other sites are distinguished from hosts of the site and the collector', () => {
  const { foreignHost } = filter()
  const addresses = [
    'https://a.vendor.example/x.jpg',
    'https://cdn.shop.example/',
    'https://collect.tags.example/t/a.js',
    'x:',
  ]
  expect(addresses.map(foreignHost)).toEqual(['a.vendor.example', null, null, null])
})
