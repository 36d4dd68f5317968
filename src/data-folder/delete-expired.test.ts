import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../core/clock.ts'

/**
 * Stores one event per day for this number of days, ending with the current day, and moves the events to the warehouse.
 */
async function daysOf(world: TestApp, days: number) {
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  for (let day = 0; day < days; day++) {
    if (day > 0) world.clock.advance(DAY_MS)
    await world.collect(domain.token, {
      batchId: `day-${day}-batch`,
      events: [{ vendor: 'Shop', event: `day ${day}` }],
    })
    world.clock.advance(5 * SECOND_MS)
    await world.run('flush')
  }
  return domain
}

async function daysLeft(world: TestApp): Promise<string[]> {
  const { body } = await world.call('GET', '/v1/events?from=0')
  return body.events.map(({ event }: { event: string }) => event).reverse()
}

describe('retained data', () => {
  test('includes events within the configured retention period', async () => {
    await using world = await testApp({ retentionDays: '3' })
    await daysOf(world, 6)
    await world.run('retain')
    expect(await daysLeft(world)).toEqual(['day 3', 'day 4', 'day 5'])
    world.clock.advance(DAY_MS)
    await world.run('retain')
    expect(await daysLeft(world)).toEqual(['day 4', 'day 5'])
    expect(world.warnings).toEqual([])
    const { body: usage } = await world.call('GET', '/v1/usage')
    expect(usage.totalEvents).toBe(6)
  })

  test('includes batches for a day, so that repeats are recognized', async () => {
    await using world = await testApp()
    const { token } = await daysOf(world, 1)
    const repeat = async () => {
      await world.collect(token, { batchId: 'day-0-batch', events: [{ vendor: 'Shop', event: 'repeat' }] })
      return (await daysLeft(world)).filter((event) => event === 'repeat').length
    }
    world.clock.advance(23 * HOUR_MS)
    await world.run('retain')
    expect(await repeat()).toBe(0)
    world.clock.advance(2 * HOUR_MS)
    await world.run('retain')
    expect(await repeat()).toBe(1)
  })

  test('includes no data of a deleted organization', async () => {
    await using world = await testApp()
    const { db } = world.app
    const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
    const inOther = { headers: { 'x-org-id': other.id } }
    const { body: domain } = await world.call('POST', '/v1/domains', { ...inOther, body: { name: 'Shop' } })
    await world.collect(domain.token, { events: [{ vendor: 'Shop' }, {}] })
    world.clock.advance(5 * SECOND_MS)
    await world.run('flush')
    world.clock.advance(2 * HOUR_MS)
    await world.run('compact')
    await world.collect(domain.token, { events: [{ vendor: 'Shop' }, {}] })
    expect((await world.call('DELETE', '/v1/org?name=Other', inOther)).status).toBe(200)
    // Acknowledged events are stored even if their organization has been deleted since.
    world.clock.advance(5 * SECOND_MS)
    await world.run('flush')
    world.clock.advance(2 * HOUR_MS)
    await world.run('compact')
    const counts = () =>
      ['eventFile', 'usage'].map((table) =>
        db.prepare(`SELECT count(*) FROM ${table} WHERE orgId = ?`).pluck().get(other.id),
      )
    expect(counts()).toEqual([2, 1])
    await world.run('retain')
    expect(counts()).toEqual([0, 0])
    expect(readdirSync(join(world.folder, 'events')).filter((name) => name.endsWith('.parquet'))).toEqual([])
  })

  test('includes counts by minute for 400 days, longer than events, but none of a deleted organization', async () => {
    await using world = await testApp({ retentionDays: '3' })
    const { db } = world.app
    const { token } = await daysOf(world, 1)
    const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
    const inOther = { headers: { 'x-org-id': other.id } }
    const { body: domain } = await world.call('POST', '/v1/domains', { ...inOther, body: { name: 'Shop' } })
    await world.collect(domain.token, { events: [{ vendor: 'Shop' }] })
    world.clock.advance(5 * SECOND_MS)
    await world.run('flush')
    world.clock.advance(DAY_MS)
    await world.collect(token, { events: [{ vendor: 'Shop' }] })
    world.clock.advance(5 * SECOND_MS)
    await world.run('flush', 'compact')
    const kept = () => db.prepare('SELECT orgId, level FROM rollupFile ORDER BY level, orgId').all()
    const files = () => readdirSync(join(world.folder, 'events', 'counts'))
    expect(kept()).toEqual([
      { orgId: world.owner.orgId, level: 'day' },
      { orgId: other.id, level: 'day' },
      { orgId: world.owner.orgId, level: 'fresh' },
    ])
    await world.call('DELETE', '/v1/org?name=Other', inOther)
    await world.run('retain')
    expect(kept()).toHaveLength(2)
    world.clock.advance(5 * DAY_MS)
    await world.run('compact', 'retain')
    expect(db.prepare('SELECT count(*) FROM eventFile').pluck().get()).toBe(0)
    expect([kept().length, files().length]).toEqual([2, 2])
    world.clock.advance(393 * DAY_MS)
    await world.run('retain')
    expect([kept().length, files().length]).toEqual([2, 2])
    world.clock.advance(DAY_MS)
    await world.run('retain')
    expect([kept().length, files().length]).toEqual([1, 1])
    world.clock.advance(DAY_MS)
    await world.run('retain')
    expect([kept(), files()]).toEqual([[], []])
  })

  test('includes counters, ledger, history and finished deliveries for 400 days', async () => {
    await using world = await testApp()
    const { db } = world.app
    const { token } = await daysOf(world, 1)
    await world.call('POST', '/v1/alerts', {
      body: {
        name: 'Any event',
        alertType: 'data_validation',
        conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
        period: '1h',
        channels: [{ type: 'webhook', target: 'https://hooks.invalid/a' }],
      },
    })
    await world.collect(token, { page: { url: 'https://shop.example/' }, events: [{ vendor: 'Shop' }, {}] })
    world.clock.advance(5 * SECOND_MS)
    await world.run('flush', 'evaluate')
    db.exec(`UPDATE delivery SET status = 'failed'`)
    const kept = () =>
      ['usage', 'hostnameUsage', 'rejection', 'delivery', 'issueHistory'].map(
        (table) => `${table} ${db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()}`,
      )
    await world.run('retain')
    expect(kept()).toEqual(['usage 1', 'hostnameUsage 1', 'rejection 1', 'delivery 1', 'issueHistory 1'])
    world.clock.advance(3 * DAY_MS)
    await world.run('retain')
    expect(kept()).toEqual(['usage 1', 'hostnameUsage 0', 'rejection 1', 'delivery 1', 'issueHistory 1'])
    world.clock.advance(396 * DAY_MS)
    await world.run('retain')
    expect(kept()).toContain('delivery 1')
    db.exec(`UPDATE delivery SET status = 'pending'`)
    world.clock.advance(2 * DAY_MS)
    await world.run('retain')
    expect(kept()).toEqual(['usage 0', 'hostnameUsage 0', 'rejection 0', 'delivery 1', 'issueHistory 0'])
    db.exec(`UPDATE delivery SET status = 'failed'`)
    await world.run('retain')
    expect(kept()).toContain('delivery 0')
  })
})
