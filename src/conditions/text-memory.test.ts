import { expect, test } from 'bun:test'
import { NO_ATOMS, TextMemory } from './text-memory.ts'

/** How many of a thousand texts of 300 letters the memory knows without searching. */
function knownOf(memory: TextMemory, texts: readonly string[]): number {
  let known = texts.length
  for (const text of texts) {
    memory.recall(text, () => {
      known--
      return NO_ATOMS
    })
  }
  return known
}

test('thousands of memories hold no more together than one budget; each works on', () => {
  const texts = Array.from({ length: 500 }, (_, n) => `${n}`.padEnd(300))
  const memories = Array.from({ length: 200 }, () => new TextMemory())
  for (const memory of memories) knownOf(memory, texts)
  // Of 30 million letters.
  const known = memories.map((memory) => memory.recall('0'.padEnd(300), () => [] as never) === NO_ATOMS)
  expect(known.filter(Boolean).length).toBeLessThan(100)
  const [first = new TextMemory()] = memories
  knownOf(first, texts)
  expect(knownOf(first, texts)).toBe(500)
})

test('a search that fails is not remembered', () => {
  const memory = new TextMemory()
  const fail = () => {
    throw new Error('out of time')
  }
  expect(() => memory.recall('a', fail)).toThrow('out of time')
  expect(memory.recall('a', () => NO_ATOMS)).toBe(NO_ATOMS)
})
