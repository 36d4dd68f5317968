import { expect, test } from 'bun:test'
import { thirdPartyOf } from './third-party-vendor.ts'

test.each([
  ['connect.facebook.net', 'Facebook'],
  ['ajax.googleapis.com', 'Google CDN'],
  ['securepubads.g.doubleclick.net', 'Google/Doubleclick Ads'],
  ['www.shop.example', null],
  ['127.0.0.1', null],
  ['[::1]', null],
  ['localhost', null],
  ['', null],
])('the owner of host %s is %p', (host, name) => {
  expect(thirdPartyOf(host)).toBe(name)
  expect(thirdPartyOf(host)).toBe(name)
})

test('results stay correct for more hosts than the cache can hold', () => {
  for (let n = 0; n < 10_500; n++) expect(thirdPartyOf(`h${n}.shop.example`)).toBeNull()
  expect(thirdPartyOf('connect.facebook.net')).toBe('Facebook')
})
