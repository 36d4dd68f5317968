import { describe, expect, test } from 'bun:test'
import type { CaptureConfig } from '../capture/capture-config.ts'
import { makeFilter, siteOf } from './address.ts'

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
  makeFilter({ ...CONFIG, ...change }, 'www.shop.example', () => 'https://www.shop.example/cart/')

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

describe('captured', () => {
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
  ])('%s: %p', (address, url) => {
    expect(filter().wanted(address)?.url ?? null).toBe(url)
  })

  test('are only listed requests when other sites are left out', () => {
    const { wanted } = filter({ crossSite: false })
    expect(wanted('https://vendor.example/p')).toBeNull()
    expect(wanted('https://vendor.example/g/collect')?.withBody).toBe(true)
    expect(wanted('https://metrics.shop.example/c?&k=')?.withBody).toBe(true)
  })
})

test('bodies are captured for vendors, whose hosts are unknown at first', () => {
  const { wanted, learn } = filter()
  const withBody = () =>
    [
      'https://api.segment.io/v1/t',
      'https://segment.io/',
      'https://notsegment.io/',
      'https://shop.example/g/collect',
    ].map((address) => wanted(address)?.withBody)
  expect(withBody()).toEqual([null, null, null, true])
  learn(['segment.io'])
  expect(withBody()).toEqual([true, true, false, true])
})

test('hosts of other sites are distinguished from the own one and the collector', () => {
  const { foreignHost } = filter()
  const addresses = [
    'https://a.vendor.example/x.jpg',
    'https://cdn.shop.example/',
    'https://collect.tags.example/t/a.js',
    'x:',
  ]
  expect(addresses.map(foreignHost)).toEqual(['a.vendor.example', null, null, null])
})
