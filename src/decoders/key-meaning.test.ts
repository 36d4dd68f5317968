import { expect, test } from 'bun:test'
import type { ValueKind } from './decoder.ts'
import { decoders } from './index.ts'
import { kindOf, meaningOf } from './key-meaning.ts'

const documented = decoders.flatMap(({ vendor, keys = [] }) => keys.map((reference) => ({ vendor, ...reference })))

test('the keys of the 25 most common vendors are documented, each by a public page', () => {
  expect(new Set(documented.map(({ vendor }) => vendor)).size).toBeGreaterThanOrEqual(25)
  for (const { url } of documented) expect(new URL(url).protocol).toBe('https:')
})

test('meanings are short, and not sentences', () => {
  for (const { vendor, meanings } of documented) {
    for (const [key, [, meaning]] of Object.entries(meanings)) {
      expect([vendor, key, meaning.length <= 100 && !/\.$|`/.test(meaning) && meaning.trim() === meaning]).toEqual([
        vendor,
        key,
        true,
      ])
    }
  }
})

const GA4 = 'Google Analytics 4'

test.each<[string, string, ValueKind | null, string]>([
  [GA4, 'cid', 'identifier', 'Client ID: the browser, from the cookie _ga'],
  [GA4, 'sct', 'number', 'Number of the session for this client: 1 for the first'],
  [GA4, '_s', 'number', 'Number of the hit on this page load'],
  [GA4, 'gcd', 'code', 'Default and updated consent for each type of consent mode, one letter per type'],
  [GA4, 'ep.transaction_id', 'identifier', 'ID of the order'],
  [GA4, 'epn.value', 'amount', 'Monetary value of the event'],
  [GA4, 'transaction_id', 'identifier', 'ID of the order'],
  [GA4, 'ep.percent_scrolled', 'number', 'Share of the page that was scrolled, in percent'],
  [GA4, 'epn.stock', 'number', 'Numeric parameter of the event, set by the site'],
  [GA4, 'ep.color', null, 'Parameter of the event, set by the site'],
  [GA4, 'ep.order_id', 'identifier', 'Parameter of the event, set by the site'],
  [GA4, 'items.12.price', 'amount', 'Price of one item'],
  [GA4, 'items.0.item_category2', 'text', 'Further level of the item’s category'],
  ['Google Universal Analytics', 'pr3id', 'identifier', 'ID of the product (SKU)'],
  ['Google Universal Analytics', 'cd', 'text', 'Name of the screen'],
  ['Google Universal Analytics', 'cd14', 'text', 'Custom dimension'],
  ['Meta Pixel', 'cd[contents][0][id]', 'identifier', 'ID of the product'],
  ['Meta Pixel', 'cd[shop_branch]', null, 'Parameter of the event, set by the site'],
  ['Meta Pixel', 'user_data.em.0', 'identifier', 'E-mail address, hashed'],
  ['Adobe Analytics', 'v0', 'text', 'Code of the campaign'],
  ['Adobe Analytics', 'v12', 'text', 'eVar: conversion variable'],
  ['Adobe Analytics', 'c.page.type', null, 'Context data, set by the site'],
  ['Piwik PRO', 'ec_id', 'identifier', 'ID of the order'],
  ['RudderStack', 'properties.products.1.price', 'amount', 'Price of one product'],
  ['Shop', 'consent.ad_storage', 'code', 'Consent stated in the request'],
])('%s %s: %s, %s', (vendor, key, kind, meaning) => {
  expect(kindOf(vendor, key)).toBe(kind)
  expect(meaningOf(vendor, key)?.meaning).toBe(meaning)
})

test.each(['cd', 'ep.', '__proto__', 'constructor', ''])(
  'the key %j of an unknown vendor, or one that is not documented, has no meaning',
  (key) => {
    expect(meaningOf('Shop', key)).toBeNull()
    expect(kindOf('Shop', key)).toBeNull()
    if (key !== 'cd') expect(meaningOf(GA4, key)).toBeNull()
  },
)

test.each([
  ['order_id', true],
  ['user.id', true],
  ['userId', true],
  ['orderID', true],
  ['data[id]', true],
  ['product_ids.0', true],
  ['id', true],
  ['uuid', true],
  ['paid', false],
  ['valid', false],
  ['grid', false],
  ['id_card_shown', false],
])('a key whose name ends in ID is an identifier for any vendor: %s %p', (key, isIdentifier) => {
  expect(kindOf('Shop', key)).toBe(isIdentifier ? 'identifier' : null)
})
