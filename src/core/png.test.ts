import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodePng } from './png.fixture.ts'
import { encodePng } from './png.ts'

test('every picture is the same again', () => {
  const picture = fc
    .record({ width: fc.integer({ min: 1, max: 9 }), height: fc.integer({ min: 1, max: 9 }) })
    .chain(({ width, height }) => {
      const length = width * height * 4
      const rgba = fc.uint8Array({ minLength: length, maxLength: length })
      return fc.record({ width: fc.constant(width), height: fc.constant(height), rgba })
    })
  fc.assert(fc.property(picture, (one) => expect(decodePng(encodePng(one))).toEqual(one)))
})
