import { describe, expect, test } from 'bun:test'
import { SECOND_MS } from '../core/clock.ts'
import { receiver } from '../transport/receiver.fixture.ts'
import { groupFixture } from './delivery/group.fixture.ts'
import type { Outcome } from './delivery-outcome.ts'
import type { IntegrationStatus } from './integration.ts'
import { findIntegration, insertIntegration, updateIntegrationStatus } from './store.ts'

function setUp(url: string) {
  const world = groupFixture()
  const { db, box, orgId, clock } = world
  const { id } = insertIntegration(db, box, {
    orgId,
    provider: 'webhook',
    label: 'On call',
    config: { url },
    createdAt: clock.now(),
    secrets: { secret: `whsec_${Buffer.alloc(24, 9).toString('base64')}` },
  })
  return {
    ...world,
    id,
    channel: { type: 'webhook', target: id } as const,
    status: () => findIntegration(db, { orgId, id }).status,
  }
}

test('an integration is failing from the first failed attempt until an attempt succeeds', async () => {
  let code = 503
  await using server = receiver(() => new Response(null, { status: code }))
  const { clock, open, deliver, channel, status } = setUp(server.url)
  open('iss_1', [channel])
  expect(status()).toBe('connected')
  await deliver()
  expect(status()).toBe('failing')
  code = 200
  clock.advance(5 * SECOND_MS)
  await deliver()
  expect(status()).toBe('connected')
})

describe('an integration status', () => {
  const arrived: Outcome = { verdict: 'delivered', note: null }
  const later: Outcome = { verdict: 'retry', reason: 'HTTP 503', retryAfterMs: null }
  const lost: Outcome = { verdict: 'broken', reason: 'HTTP 404' }
  const waits: Outcome = { verdict: 'wait', waitMs: 1 }
  test.each<[IntegrationStatus, Outcome, boolean, IntegrationStatus]>([
    ['disabled', arrived, false, 'disabled'],
    ['disabled', arrived, true, 'connected'],
    ['disabled', later, true, 'disabled'],
    ['disabled', lost, true, 'disabled'],
    ['reauth_required', arrived, false, 'reauth_required'],
    ['incomplete', lost, false, 'incomplete'],
    ['connected', { ...lost, status: 'disabled' }, false, 'disabled'],
    ['connected', waits, false, 'connected'],
    ['failing', waits, false, 'failing'],
    ['failing', { verdict: 'stopped' }, false, 'failing'],
    ['connected', lost, false, 'failing'],
  ])('changes from %s on %j (as a test: %p) to %s', (before, outcome, isTest, after) => {
    const { db, id, status } = setUp('https://a.example')
    db.prepare('UPDATE integration SET status = ?').run(before)
    updateIntegrationStatus(db, id, outcome, { isTest })
    expect(status()).toBe(after)
  })
})
