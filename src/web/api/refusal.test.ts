import { expect, test } from 'bun:test'
import { refusalFor } from './refusal.ts'

test.each<[string, string | null, string]>([
  ['email: is no e-mail address', 'email', 'is no e-mail address'],
  ['`email`: is no e-mail address', 'email', 'is no e-mail address'],
  ['items[0].name: is too long', 'items[0].name', 'is too long'],
  ['other: is too long', null, 'other: is too long'],
  ['the disk is full', null, 'the disk is full'],
  ['email', null, 'email'],
  ['', null, ''],
])('%j is about %p', (sentence, field, rest) => {
  expect(refusalFor(['email', 'items[0].name'], sentence)).toEqual({ field, sentence: rest })
})
