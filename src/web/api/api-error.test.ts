import { expect, test } from 'bun:test'
import { fieldErrorFor } from './api-error.ts'

test.each<[string, string | null, string]>([
  ['email: is not an e-mail address', 'email', 'is not an e-mail address'],
  ['`email`: is not an e-mail address', 'email', 'is not an e-mail address'],
  ['items[0].name: is too long', 'items[0].name', 'is too long'],
  ['other: is too long', null, 'other: is too long'],
  ['the disk is full', null, 'the disk is full'],
  ['email', null, 'email'],
  ['', null, ''],
])('%j is assigned to the field %p', (sentence, field, rest) => {
  expect(fieldErrorFor(['email', 'items[0].name'], sentence)).toEqual({ field, sentence: rest })
})

test('an error in a list item is assigned to the list if the list is a single field', () => {
  const fields = ['items[0].values', 'items']
  expect(fieldErrorFor(fields, 'items[0].values[2]: is not a number').field).toBe('items[0].values')
  expect(fieldErrorFor(fields, 'items[1].values[2]: is not a number').field).toBe('items')
})
