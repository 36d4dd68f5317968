import { expect, test } from 'bun:test'
import { displayTypeOf } from './tag-list.ts'

test('the display name of an unknown tag type is the type itself', () => {
  expect(displayTypeOf('constructor', new Map())).toBe('constructor')
})
