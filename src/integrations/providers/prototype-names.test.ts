import { expect, test } from 'bun:test'
import { Refused } from './slack/slack-errors.ts'
import { requireSuccess } from './teams/bot-connector.ts'

/* Codes and types from providers can have the same name as a property that every JavaScript object inherits. */

test('an unknown Slack error code has no hint', () => {
  expect(new Refused('constructor', null).message).toBe('Slack rejected the call: constructor')
})

test('an unknown Teams error code has no special meaning', () => {
  const body = JSON.stringify({ error: { code: 'constructor', message: 'no' } })
  const answer = { status: 500, headers: {}, body }
  expect(() => requireSuccess(answer)).toThrow(expect.objectContaining({ name: 'CallFailed' }))
})
