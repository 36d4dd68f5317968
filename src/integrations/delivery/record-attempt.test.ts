import { expect, test } from 'bun:test'
import { MINUTE_MS } from '../../core/clock.ts'
import { findIntegration, insertIntegration } from '../store.ts'
import { outboxFixture } from './outbox.fixture.ts'
import { recordOutcome } from './record-attempt.ts'

function claimed() {
  const world = outboxFixture()
  const { db, box, orgId, clock, issue, tell, take } = world
  const integration = { orgId, provider: 'webhook', label: 'On call', config: { url: 'https://a.example' } } as const
  const { id } = insertIntegration(db, box, { ...integration, secrets: {}, createdAt: clock.now() })
  tell('opened', issue(), { channels: [{ type: 'webhook', target: id }] })
  const [delivery] = take()
  if (!delivery) throw new Error('expected a due delivery')
  const parts = { now: clock.now(), jitter: () => 0, mailConfigured: false }
  return { ...world, delivery, parts, status: () => findIntegration(db, { orgId, id }).status }
}

test('a rate-limited delivery does not use up an attempt', () => {
  const { db, delivery, parts, deliveries, take, clock } = claimed()
  recordOutcome(db, delivery, { verdict: 'wait', waitMs: MINUTE_MS }, parts)
  expect(deliveries()).toMatchObject([{ status: 'pending', attempts: 0, dueAt: parts.now + MINUTE_MS }])
  expect(take()).toEqual([])
  clock.advance(MINUTE_MS)
  expect(take()).toHaveLength(1)
})

test.each([
  ['failing', {}],
  ['disabled', { status: 'disabled' }],
  ['reauth_required', { status: 'reauth_required' }],
] as const)('a permanent rejection sets the integration status to %s', (expected, more) => {
  const { db, delivery, parts, status } = claimed()
  recordOutcome(db, delivery, { verdict: 'broken', reason: 'HTTP 410', ...more }, parts)
  expect(status()).toBe(expected)
})
