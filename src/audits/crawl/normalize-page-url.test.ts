import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { familyOf, pageAddress, siteOf } from './normalize-page-url.ts'

const SHOP = 'https://shop.example'

test.each<[string, string | null]>([
  ['https://SHOP.example/A/b?x=1#top', `${SHOP}/A/b?x=1`],
  ['https://shop.example:443/', `${SHOP}/`],
  ['http://shop.example:8080/', 'http://shop.example:8080/'],
  ['https://shop.example./', `${SHOP}/`],
  ['https://shop.example', `${SHOP}/`],
  ['https://shop.example/?', `${SHOP}/`],
  ['https://shop.example/a/../b/./c', `${SHOP}/b/c`],
  // Parameters that identify the source of a visit.
  ['https://shop.example/?utm_source=mail&utm_campaign=x&id=3', `${SHOP}/?id=3`],
  ['https://shop.example/?gclid=a&fbclid=b&msclkid=c&_gl=d&mc_eid=e', `${SHOP}/`],
  ['https://shop.example/?GCLID=a', `${SHOP}/`],
  ['https://shop.example/?utm_source', `${SHOP}/`],
  ['https://shop.example/?gclid_of_mine=1', `${SHOP}/?gclid_of_mine=1`],
  // Session ids.
  ['https://shop.example/cart;jsessionid=1F0C8D3A?x=1', `${SHOP}/cart?x=1`],
  ['https://shop.example/cart;JSESSIONID=1F0C8D3A/more', `${SHOP}/cart/more`],
  ['https://shop.example/?PHPSESSID=abc&id=3', `${SHOP}/?id=3`],
  ['https://shop.example/?sid=0123456789abcdef0', `${SHOP}/?`.slice(0, -1)],
  ['https://shop.example/?sid=17', `${SHOP}/?sid=17`],
  ['https://shop.example/?s=a-long-word-to-search-for', `${SHOP}/?s=a-long-word-to-search-for`],
  ['https://shop.example/(S(3keuf0551sktxb45kd1wft55))/default.aspx', `${SHOP}/default.aspx`],
  // Parameters are sorted by name. Parameters with the same name keep their order.
  ['https://shop.example/?b=2&a=1', `${SHOP}/?a=1&b=2`],
  ['https://shop.example/?a=2&b=0&a=1', `${SHOP}/?a=2&a=1&b=0`],
  ['https://shop.example/?b&&a=', `${SHOP}/?a=&b`],
  ['https://shop.example/?q=a+b&p=%41', `${SHOP}/?p=A&q=a+b`],
  ['https://shop.example/??a', `${SHOP}/??a`],
  ['https://shop.example/?q=%zz', `${SHOP}/?q=%zz`],
  // Equivalent forms of a path.
  ['https://shop.example/%7euser/caf%c3%a9/%2f', `${SHOP}/~user/caf%C3%A9/%2F`],
  ['https://shop.example/café', `${SHOP}/caf%C3%A9`],
  // URLs that are not pages.
  ['mailto:ann@example.com', null],
  ['javascript:void(0)', null],
  ['ftp://shop.example/', null],
  ['https://ann:secret@shop.example/', null],
  ['https://', null],
  ['', null],
  [`https://shop.example/${'a'.repeat(2000)}`, null],
  [`https://shop.example/${'a/b/'.repeat(4)}`, null],
  ['https://shop.example/a/b/a/b/a/b/', `${SHOP}/a/b/a/b/a/b/`],
  [`https://shop.example/${Array.from({ length: 21 }, (_, n) => n).join('/')}`, null],
])('the page URL of %s is %p', (text, expected) => {
  expect(pageAddress(text)).toBe(expected)
})

test('a relative URL is resolved against its page', () => {
  expect(pageAddress('../b?utm_source=x', `${SHOP}/a/c/`)).toBe(`${SHOP}/a/b`)
  expect(pageAddress('//other.example/x', SHOP)).toBe('https://other.example/x')
})

test('normalising a normalised URL changes nothing', () => {
  const text = fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.webPath(), fc.string())
  fc.assert(
    fc.property(text, (one) => {
      const address = pageAddress(one, SHOP)
      if (address !== null) expect(pageAddress(address)).toBe(address)
    }),
    { numRuns: 2000 },
  )
})

test('tracking parameters never change the page, and other parameters are preserved', () => {
  const words = fc.stringMatching(/^[a-z]{1,6}$/)
  fc.assert(
    fc.property(fc.uniqueArray(words, { maxLength: 5 }), fc.array(words, { maxLength: 3 }), words, (own, of, value) => {
      const query = own.map((name) => `own_${name}=${value}`)
      const tracked = [...query, ...of.map((name) => `utm_${name}=${value}`), 'gclid=1'].sort()
      expect(pageAddress(`${SHOP}/p?${tracked.join('&')}`)).toBe(pageAddress(`${SHOP}/p?${query.join('&')}`))
      for (const name of own) expect(pageAddress(`${SHOP}/p?${tracked.join('&')}`)).toContain(`own_${name}=`)
    }),
  )
})

test.each([
  ['https://shop.example/a', 'shop.example'],
  ['http://www.shop.example/a', 'shop.example'],
  ['http://127.0.0.1:8080/a', '127.0.0.1:8080'],
  ['https://blog.shop.example/', 'blog.shop.example'],
])('the site of %s is %s', (address, site) => {
  expect(siteOf(address)).toBe(site)
})

test.each<[string, string, boolean]>([
  ['/calendar/2031/4', '/calendar/2032/11', true],
  ['/calendar/2031/04/17', '/calendar/2031/05/01', true],
  ['/events?month=4&year=2031', '/events?month=5&year=2031', true],
  ['/events?date=2031-04-17', '/events?date=2031-04-18', true],
  ['/list?color=red&size=4', '/list?order=price&size=5', true],
  ['/product?id=1', '/product?id=2', true],
  ['/product?id=1', '/product?name=2', false],
  ['/product/1', '/product/2', true],
  ['/product/red', '/product/blue', false],
  ['/blog/2031/04/a-title', '/blog/2031/04/another', false],
])('%s and %s belong to the same family: %p', (one, other, alike) => {
  expect(familyOf(SHOP + one).name === familyOf(SHOP + other).name).toBe(alike)
})

test.each<[string, number | null]>([
  ['/calendar/2031/4', 24],
  ['/archive/2031', null],
  ['/list?color=red&size=4', 20],
  ['/product?id=1', 500],
  ['/product/1', null],
  ['/', null],
])('the maximum number of pages in the family of %s is %p', (path, pagesMax) => {
  expect(familyOf(SHOP + path).pagesMax).toBe(pagesMax)
})
