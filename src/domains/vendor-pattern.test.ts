import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isBlankPattern, vendorsByPattern } from './vendor-pattern.ts'

describe('vendorsByPattern', () => {
  test.each([
    ['metrics.shop.example/c', 'https://metrics.shop.example/collect?v=1', true],
    ['https://metrics.shop.example/c', 'https://metrics.shop.example/collect', true],
    ['//metrics.shop.example', 'http://metrics.shop.example/', true],
    ['METRICS.shop.example', 'https://metrics.SHOP.example/', true],
    ['shop.example/*&k=1', 'https://shop.example/p?a=2&k=1', true],
    ['shop.example/*&k=1', 'https://shop.example/p?k=1', false],
    ['*.shop.example/t', 'https://a.shop.example/t', true],
    ['b*a', 'https://a.example/b', false],
    ['a*a', 'https://a', false],
    ['https', 'https://shop.example/', false],
    ['other.example', 'https://shop.example/?u=other.example', true],
  ])('matches %s in %s: %p', (pattern, url, fits) => {
    const vendorOf = vendorsByPattern([{ vendorName: 'Own', urlPatternMatches: [pattern] }])
    expect(vendorOf(url)).toBe(fits ? 'Own' : null)
  })

  test('returns the first matching vendor', () => {
    const vendorOf = vendorsByPattern([
      { vendorName: 'None' },
      { vendorName: 'A', urlPatternMatches: ['x.example/a', 'x.example/b'] },
      { vendorName: 'B', urlPatternMatches: ['x.example'] },
    ])
    expect(['a', 'b', 'c'].map((path) => vendorOf(`https://x.example/${path}`))).toEqual(['A', 'A', 'B'])
  })

  test('matches parts of a URL joined by wildcards', () => {
    const piece = fc.stringMatching(/^[a-z0-9/?&=._-]{1,30}$/)
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 4 }),
        fc.array(piece, { minLength: 1, maxLength: 4 }),
        (between, parts) => {
          const url = `https://h/${parts.map((part, n) => `${between[n] ?? ''}${part}`).join('')}`
          const pattern = `h/*${parts.join('*')}`
          expect(vendorsByPattern([{ vendorName: 'Own', urlPatternMatches: [pattern] }])(url)).toBe('Own')
        },
      ),
    )
  })
})

test.each(['', ' ', '*', '**', 'https://', '//*'])(
  'the pattern %p is blank because it would match every URL',
  (pattern) => {
    expect(isBlankPattern(pattern)).toBe(true)
  },
)
