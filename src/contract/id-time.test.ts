import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { newId } from '../core/id.ts'
import { timeOfId } from './id-time.ts'

test('the creation time of an id can be read from it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (at) => {
      expect(timeOfId('iss', newId('iss', at))).toBe(at)
    }),
  )
})

test.each(['', 'iss_0', 'iss_tooShortAndCapital', newId('alr', 0)])('%p has no creation time of an issue', (id) => {
  expect(timeOfId('iss', id)).toBeNaN()
})
