import { expect, test } from 'bun:test'
import { AppError, atField, messageOf } from './error.ts'

test.each<[string, unknown]>([
  ['broken', new Error('broken')],
  ['name: is taken', new AppError('conflict', 'name: is taken')],
  ['a text', 'a text'],
  ['undefined', undefined],
  ['null', null],
])('the message %p of whatever was thrown', (message, thrown) => {
  expect(messageOf(thrown)).toBe(message)
})

test('atField puts the field before a refusal, keeps its code, and hands on what is no refusal', () => {
  const refuse = () => {
    throw new AppError('rateLimited', 'comes too often', 5)
  }
  expect(atField('config.url', () => 1)).toBe(1)
  expect(() => atField('config.url', refuse)).toThrow(
    expect.objectContaining({ code: 'rateLimited', message: 'config.url: comes too often', retryAfterS: 5 }),
  )
  const bug = () => {
    throw new TypeError('not a function')
  }
  expect(() => atField('config.url', bug)).toThrow(new TypeError('not a function'))
})
