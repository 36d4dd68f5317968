import { expect, test } from 'bun:test'
import { AppError, messageOf } from './error.ts'

test.each<[string, unknown]>([
  ['broken', new Error('broken')],
  ['name: is taken', new AppError('conflict', 'name: is taken')],
  ['a text', 'a text'],
  ['undefined', undefined],
  ['null', null],
])('the message %p of whatever was thrown', (message, thrown) => {
  expect(messageOf(thrown)).toBe(message)
})
