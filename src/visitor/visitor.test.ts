import { expect, test } from 'bun:test'
import { pageGroupOf, releaseOf } from '../core/derived-segments.ts'
import { readLanguage } from './language.ts'
import { consentOf, visitorOf } from './visitor-state.ts'

test.each([
  [null, null],
  ['/', '/'],
  ['', '/'],
  ['/cart', '/cart'],
  ['/cart/', '/cart'],
  ['/product/4711', '/product/:id'],
  ['/product/7/reviews/2', '/product/:id/reviews/:id'],
  ['/1/2/3', '/:id/:id/:id'],
  ['/p/blue-shirt-4711.html', '/p/:id'],
  ['/dp/B08N5WRWNW/ref=x', '/dp/:id/ref=x'],
  ['/orders/9b2c61f0-5d0e-4e59-8c39-0d6f7f4d1a52/edit', '/orders/:id/edit'],
  ['/step-2/html5', '/step-2/html5'],
  ['/u/ann@shop.example/mail', '/u/:id/mail'],
  ['/u/ann%40shop.example', '/u/:id'],
  ['/reset/abcdefghijklmnopqrstuvwxyz', '/reset/:id'],
  ['/cart;jsessionid=8A1F/pay', '/cart/pay'],
  ['/2026/11/28/post', '/:id/:id/:id/post'],
])('the page group of %p is %p', (path, group) => {
  expect(pageGroupOf(path)).toBe(group)
})

test.each([
  [null, null],
  [12, '12'],
  [1.5, '1.5'],
  [1e21, '1e21'],
])('the release of version %p is %p', (version, release) => {
  expect(releaseOf(version)).toBe(release)
})

test.each([
  ['de', 'de'],
  ['de-CH', 'de'],
  ['de_CH', 'de'],
  ['EN-us,en;q=0.9,de;q=0.8', 'en'],
  ['en;q=0.9', 'en'],
  ['gsw-CH', 'gsw'],
  ['', null],
  ['*', null],
  ['c', null],
  ['german', null],
  [null, null],
  [undefined, null],
])('the language in %p is %p', (text, language) => {
  expect(readLanguage(text)).toBe(language)
})

test.each([
  [{}, null],
  [{ 'consent.ad_storage': 'granted', 'consent.analytics_storage': 'granted' }, 'granted'],
  [{ 'consent.ad_storage': 'denied', 'consent.analytics_storage': 'granted' }, 'denied'],
  [{ 'consent.analytics_storage': 'granted', 'consent.ad_user_data': 'denied' }, 'denied'],
  [{ 'consent.ad_storage': 'not set' }, null],
  [{ 'consent.tcf.purposes': '1,3,10' }, 'granted'],
  [{ 'consent.tcf.purposes': '3,10' }, 'denied'],
] as [Record<string, string>, string | null][])('the consent in %j is %p', (params, consent) => {
  expect(consentOf(params)).toBe(consent as ReturnType<typeof consentOf>)
})

test.each([
  [{}, null],
  [{ sct: '1' }, 'new'],
  [{ sct: '2' }, 'returning'],
  [{ _idvc: '1' }, 'new'],
  [{ sct: '0' }, null],
  [{ sct: 'x' }, null],
] as [Record<string, string>, string | null][])('the visitor of %j is %p', (params, visitor) => {
  expect(visitorOf(params)).toBe(visitor as ReturnType<typeof visitorOf>)
})
