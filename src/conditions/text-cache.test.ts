import { expect, test } from 'bun:test'
import { NO_ATOMS, TextCache } from './text-cache.ts'

/** Returns the number of cached texts, out of a thousand texts of 300 characters. */
function knownOf(memory: TextCache, texts: readonly string[]): number {
  let known = texts.length
  for (const text of texts) {
    memory.recall(text, () => {
      known--
      return NO_ATOMS
    })
  }
  return known
}

test('thousands of caches share one budget, and all of them continue to work', () => {
  const texts = Array.from({ length: 500 }, (_, n) => `${n}`.padEnd(300))
  const memories = Array.from({ length: 200 }, () => new TextCache())
  for (const memory of memories) knownOf(memory, texts)
  // 30 million characters have been looked up by now.
  const known = memories.map((memory) => memory.recall('0'.padEnd(300), () => [] as never) === NO_ATOMS)
  expect(known.filter(Boolean).length).toBeLessThan(100)
  const [first = new TextCache()] = memories
  knownOf(first, texts)
  expect(knownOf(first, texts)).toBe(500)
})

test('a failed search is not cached', () => {
  const memory = new TextCache()
  const fail = () => {
    throw new Error('out of time')
  }
  expect(() => memory.recall('a', fail)).toThrow('out of time')
  expect(memory.recall('a', () => NO_ATOMS)).toBe(NO_ATOMS)
})
