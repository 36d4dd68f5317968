import { expect, test } from 'bun:test'
import { displayTypeOf } from './google-tag-manager/tag-list.ts'
import { Refused } from './slack/slack-errors.ts'
import { requireSuccess } from './teams/bot-connector.ts'

/* Codes and types of the other side may be called as a property that every object of JavaScript has. */

test("a code of Slack's that nobody knows has no hint", () => {
  expect(new Refused('constructor', null).message).toBe('Slack refused: constructor')
})

test('a code of Teams that nobody knows has no meaning', () => {
  const body = JSON.stringify({ error: { code: 'constructor', message: 'no' } })
  const answer = { status: 500, headers: {}, body }
  expect(() => requireSuccess(answer)).toThrow(expect.objectContaining({ name: 'CallFailed' }))
})

test('a type of Tag Manager that nobody knows is called as it is', () => {
  expect(displayTypeOf('constructor', new Map())).toBe('constructor')
})
