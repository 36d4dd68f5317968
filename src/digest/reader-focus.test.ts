import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AUDIENCES, focusedFirst, matches, type Nameable, parseContext, type Subject } from './reader-focus.ts'

const vendor = (name: string): Nameable => ({ kind: 'vendor', name, members: [{ vendor: name, event: null }] })
const event = (name: string): Nameable => ({ kind: 'event', name, members: [{ vendor: null, event: name }] })
const domain = (name: string): Nameable => ({ kind: 'domain', name, domainId: `dom_${name}` })
const label = (name: string, ...members: { vendor: string; event: string | null }[]): Nameable => ({
  kind: 'label',
  name,
  members,
})

const names = [
  domain('Shop'),
  domain('shop.example'),
  domain('C++ (beta)'),
  vendor('Google'),
  vendor('Google Ads'),
  vendor('Google Analytics 4'),
  vendor('Größe'),
  event('purchase'),
  event('page_view'),
  event('marketing'),
  label('Checkout', { vendor: 'Google Analytics 4', event: 'purchase' }, { vendor: 'Meta Pixel', event: null }),
]

const read = (context: string) => {
  const { audiences, named } = parseContext(context, names)
  return [...audiences, ...named.map(({ name }) => name)].join(', ')
}

describe('parseContext', () => {
  test.each([
    ['', ''],
    ['everything, please', ''],
    ['purchase', 'purchase'],
    ['PURCHASE and shop', 'purchase, Shop'],
    // Names match only as whole words.
    ['purchases, prepurchase, purchase_id, purchase-id', ''],
    ['shopping', ''],
    // The longest name matches first; its parts are not matched again.
    ['Google Analytics 4', 'Google Analytics 4'],
    ['google ads then Google', 'Google Ads, Google'],
    ['Google Analytics 4 and google', 'Google Analytics 4, Google'],
    ['shop.example', 'shop.example'],
    ['about shop.example.', 'shop.example'],
    ['www.shop.example', ''],
    // In order of appearance, without duplicates.
    ['page_view, checkout, purchase, Page_View', 'page_view, Checkout, purchase'],
    // Special characters of regular expressions are treated literally.
    ['only C++ (beta)!', 'C++ (beta)'],
    ['C (beta)', ''],
    ['größe', 'Größe'],
    ['Gro\u0308ße', 'Größe'],
    // Audiences also match in the plural. A name that equals an audience is treated as the audience.
    ['for executives', 'executive'],
    ['Privacy and DEVELOPER', 'privacy, developer'],
    ['marketing: Google Ads', 'marketing, Google Ads'],
    ['executive-summary', ''],
  ])('finds in %j: %s', (context, found) => expect(read(context)).toBe(found))

  test('never throws, and finds only names that are in the context', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.array(fc.string({ maxLength: 12 })), (context, some) => {
        const { named } = parseContext(context, some.map(vendor))
        const text = context.normalize('NFC').toLowerCase()
        for (const { name } of named) expect(text).toContain(name.normalize('NFC').toLowerCase().trim())
        expect(new Set(named).size).toBe(named.length)
      }),
    )
  })

  test('finds every audience by its name', () => {
    for (const audience of AUDIENCES) expect(parseContext(`for ${audience}`, []).audiences).toEqual([audience])
  })
})

test('a subject matches by domain, vendor and event', () => {
  const about = (values: Partial<Subject>): Subject => ({ domainId: null, vendor: null, event: null, ...values })
  const checkout = names.at(-1) as Nameable
  const cases: [Nameable, Subject, boolean][] = [
    [domain('Shop'), about({ domainId: 'dom_Shop' }), true],
    [domain('Shop'), about({ domainId: 'dom_other' }), false],
    [domain('Shop'), about({}), false],
    [vendor('A'), about({ vendor: 'A', event: 'x' }), true],
    [vendor('A'), about({ vendor: 'B' }), false],
    [vendor('A'), about({}), false],
    [event('x'), about({ vendor: 'A', event: 'x' }), true],
    [event('x'), about({ vendor: 'A', event: 'y' }), false],
    [event('x'), about({}), false],
    [checkout, about({ vendor: 'Google Analytics 4', event: 'purchase' }), true],
    [checkout, about({ vendor: 'Google Analytics 4', event: 'page_view' }), false],
    [checkout, about({ vendor: 'Meta Pixel', event: 'Purchase' }), true],
  ]
  for (const [named, what, expected] of cases) expect(matches(named, what)).toBe(expected)
})

test('items are sorted by the first matching name, and the rest stay in order', () => {
  const focus = parseContext('purchase, Google Ads', names)
  const about = (vendor: string, event: string): Subject => ({ domainId: null, vendor, event })
  const list = [about('A', 'x'), about('Google Ads', 'x'), about('B', 'purchase'), about('B', 'x')]
  expect(focusedFirst(list, focus, (one) => one)).toEqual([list[2], list[1], list[0], list[3]] as Subject[])
})
