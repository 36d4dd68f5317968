import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Atom } from './atom.ts'
import { UNLIMITED } from './evaluation-time-limit.ts'
import { KeywordAutomaton } from './keyword-automaton.ts'
import { LiteralIndex } from './literal-index.ts'

const atomOf = (op: string, values: string[]) => ({ condition: { parameter: 't', op, values } }) as unknown as Atom

function holds(index: LiteralIndex, text: string): Set<Atom> {
  const held = new Set<Atom>()
  index.find(text, 't', { hold: (atom) => void held.add(atom) }, UNLIMITED)
  return held
}

const aWord = fc.string({ unit: fc.constantFrom('a', 'b', '\u{1f600}', '\ud800'), maxLength: 6 })

test('the automaton finds the same matches as a simple search, including overlapping keywords', () => {
  const story = fc.record({
    words: fc.uniqueArray(aWord.filter(Boolean), { maxLength: 60 }),
    texts: fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\u{1f600}', '\ud83d', 'c'), maxLength: 40 })),
  })
  fc.assert(
    fc.property(story, ({ words, texts }) => {
      const automaton = new KeywordAutomaton(words)
      for (const text of texts) {
        expect(automaton.find(text).sort()).toEqual(words.filter((word) => text.includes(word)).sort())
      }
    }),
    { numRuns: 300 },
  )
})

test('the index agrees with each atom while atoms are added and removed', () => {
  const PLACES = { contains: 'includes', starts_with: 'startsWith', ends_with: 'endsWith' } as const
  const anAtom = fc
    .record({ op: fc.constantFrom('contains', 'starts_with', 'ends_with'), values: fc.array(aWord, { minLength: 1 }) })
    .map(({ op, values }) => atomOf(op, values))
  const story = fc.record({
    atoms: fc.array(anAtom, { minLength: 30, maxLength: 60 }),
    gone: fc.array(fc.nat(59)),
    texts: fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\u{1f600}'), maxLength: 30 }), { minLength: 5 }),
  })
  fc.assert(
    fc.property(story, ({ atoms, gone, texts }) => {
      const index = new LiteralIndex()
      const left = new Set(atoms)
      const check = () => {
        for (const text of texts) {
          const expected = [...left].filter(({ condition: { op, values = [] } }) =>
            values.some((value) => text[PLACES[op as keyof typeof PLACES]](value)),
          )
          expect(holds(index, text)).toEqual(new Set(expected))
        }
      }
      for (const atom of atoms) index.add(atom)
      check()
      for (const place of gone) {
        const atom = atoms[place]
        if (!atom || !left.delete(atom)) continue
        index.remove(atom)
      }
      check()
    }),
    { numRuns: 100 },
  )
})

test('memory for keywords with a common suffix grows in proportion to their characters', () => {
  const index = new LiteralIndex()
  for (let length = 1; length <= 300; length++) index.add(atomOf('contains', ['a'.repeat(length)]))
  for (let n = 0; n < 20; n++) index.add(atomOf('contains', [n + 'a'.repeat(990)]))
  Bun.gc(true)
  const before = heapStats().heapSize
  expect(holds(index, 'a'.repeat(4000)).size).toBe(300)
  Bun.gc(true)
  expect(heapStats().heapSize - before).toBeLessThan(30_000_000)
})
