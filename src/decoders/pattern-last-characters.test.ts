import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { pathsFor } from './decoder-cases.ts'
import { decoders } from './index.ts'
import { lastCharacterOf, lastCharacters } from './pattern-last-characters.ts'

describe('the required last characters of a path', () => {
  test.each<[RegExp, string | null]>([
    [/\/hit\.xiti$/, 'i'],
    [/^\/collect\/?$/, 't'],
    [/\/(?:track|page)\/?$/, 'ke'],
    [/\/(?<kind>a|b)$/, 'ab'],
    [/\/v1\/(?:x\/)?event$/, 't'],
    // Further characters may follow, or the pattern has alternatives.
    [/\/collect/, null],
    [/\/i\.gif$|\/x/, null],
    [/\/(?:a|b)\/c$|^d$/, null],
    // The last character is not a literal.
    [/\/p\d$/, null],
    [/\/p\w+$/, null],
    [/\/[abc]$/, null],
    [/\/(?:[abc]|d)$/, null],
    [/\/ab?$/, null],
    [/\/a{2}$/, null],
    [/\/(?:a(?:b|c)|d)$/, null],
    [/\/events$/i, null],
    [/(?<!x)$/, null],
    [/^/, null],
  ])('are determined for the pattern %s', (pattern, expected) => {
    expect(lastCharacters(pattern)).toBe(expected)
  })

  test('ignore a trailing slash', () => {
    expect(['/', '/a', '/a/', '/a.js'].map(lastCharacterOf)).toEqual(['', 'a', 'a', 's'])
  })

  test('include the last character of every path that a decoder matches', () => {
    const patterns = decoders.flatMap(({ routes }) => routes.map(({ path }) => path)).filter(lastCharacters)
    const tries = fc.constantFrom(...patterns).chain((pattern) => fc.tuple(fc.constant(pattern), pathsFor(pattern)))
    let fitting = 0
    fc.assert(
      fc.property(tries, ([pattern, path]) => {
        if (!pattern.test(path)) return true
        fitting++
        return lastCharacters(pattern)?.includes(lastCharacterOf(path))
      }),
      { numRuns: 2000 },
    )
    expect(fitting).toBeGreaterThan(1000)
  })
})
