import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { recordSightings } from '../compliance/store.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'

interface Scores {
  overall: number
  availability: { score: number; detail: string }
  accuracy: { score: number; detail: string }
  compliance: { score: number; detail: string }
}

let world: TestApp
let shop: { id: string; token: string }
let blog: { id: string; token: string }

beforeAll(async () => {
  world = await testApp()
  shop = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  blog = (await world.call('POST', '/v1/domains', { body: { name: 'Blog' } })).body
})
afterAll(() => world[Symbol.asyncDispose]())

const scores = async (query = ''): Promise<Scores> => {
  const { status, body } = await world.call('GET', `/v1/insights/scores${query}`)
  expect({ status, body }).toMatchObject({ status: 200 })
  expect(body.overall).toBe(Math.round((body.availability.score + body.accuracy.score + body.compliance.score) / 3))
  return body
}

/** Sends a batch and flushes it to the warehouse. */
async function send(token: string, events: object[]) {
  await world.collect(token, { events })
  world.clock.advance(10 * SECOND_MS)
  await world.run('flush')
}

const times = (count: number, event: object) => Array.from({ length: count }, () => event)
const ok = [
  ...times(60, { vendor: 'GA', event: 'purchase', status: 'ok', params: { value: '9' } }),
  ...times(40, { vendor: 'Meta', event: 'Purchase', status: 'ok' }),
]

describe('scores', () => {
  test('have zero availability and no data problems without events', async () => {
    expect(await scores()).toEqual({
      overall: 67,
      availability: { score: 0, detail: 'No event was received in the last 24 hours.' },
      accuracy: { score: 100, detail: 'No event broke a rule.' },
      compliance: { score: 100, detail: 'There are no open findings.' },
    })
  })

  test('are high for a healthy domain, even if a second domain has never sent an event', async () => {
    await send(shop.token, ok)
    expect(await scores()).toMatchObject({
      availability: { score: 100, detail: 'All tags work as usual.' },
      accuracy: { score: 100 },
      compliance: { score: 100 },
    })
  })

  test('drop when half of the requests to one of two vendors fail', async () => {
    await send(shop.token, times(40, { vendor: 'Meta', event: 'Purchase', status: 'failure' }))
    // These events have no known status: library loads, other statuses, and requests without a status.
    await send(shop.token, times(40, { vendor: 'GA', event: 'purchase', params: { value: '1' } }))
    const { availability } = await scores()
    expect(availability.score).toBeLessThanOrEqual(95)
    expect(availability.detail).toBe('50 % of Meta events failed on Shop.')
  })

  test('drop when 30 % of the events of an enabled rule violate it', async () => {
    const body = {
      name: 'Has a value',
      alertType: 'data_validation',
      vendors: ['GA'],
      conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
      period: '1h',
      channels: [{ type: 'email', target: 'owners' }],
    }
    const { body: alert } = await world.call('POST', '/v1/alerts', { body })
    await send(shop.token, times(43, { vendor: 'GA', event: 'purchase' }))
    const { accuracy } = await scores()
    expect(accuracy.score).toBeLessThanOrEqual(95)
    expect(accuracy.detail).toBe('30 % of GA purchase events on Shop violate "Has a value".')
    await world.call('PUT', `/v1/alerts/${alert.id}/enabled`, { body: { enabled: false } })
    expect((await scores()).accuracy.score).toBe(100)
    await world.call('PUT', `/v1/alerts/${alert.id}/enabled`, { body: { enabled: true } })
  })

  test('drop with a finding until the finding is ignored', async () => {
    const at = world.clock.now()
    const seen = { orgId: world.owner.orgId, domainId: shop.id, vendor: 'GA', key: 'dl', kind: 'email', count: 1 }
    const sighting = { ...seen, example: 'ann@example.com', firstSeenAt: at, lastSeenAt: at }
    recordSightings(world.app.db, [sighting], { privacyOf: () => PLAIN_PRIVACY })
    const { compliance } = await scores()
    expect(compliance).toEqual({ score: 85, detail: 'An e-mail address in dl of GA on Shop.' })
    const body = { action: 'ignore', vendor: 'GA', key: 'dl' }
    expect((await world.call('POST', '/v1/compliance/pii/action', { body })).status).toBe(200)
    expect((await scores()).compliance.score).toBe(100)
  })

  test('cover only the requested project', async () => {
    const { body: project } = await world.call('POST', '/v1/projects', { body: { name: 'P', domainIds: [blog.id] } })
    expect((await scores(`?projectId=${project.id}`)).availability.score).toBe(0)
    await send(blog.token, ok)
    expect(await scores(`?projectId=${project.id}`)).toMatchObject({
      availability: { score: 100 },
      accuracy: { score: 100 },
    })
    // The average of the mean and the minimum over both domains.
    const all = await scores()
    expect(all.accuracy.score).toBeGreaterThan(85)
    expect(all.accuracy.score).toBeLessThanOrEqual(95)
    expect((await world.call('GET', '/v1/insights/scores?projectId=prj_none')).status).toBe(404)
  })

  test('include collection gaps and domains that have stopped sending events', async () => {
    await world.run('heartbeat')
    world.clock.advance(HOUR_MS)
    await world.run('heartbeat')
    await send(blog.token, ok)
    await send(shop.token, ok)
    expect((await scores()).availability.detail).toContain('could be collected for 4.2 % of the time')
    // A heartbeat every 2 minutes, the longest interval that does not count as a gap.
    for (let beat = 0; beat < 50 * 15; beat++) {
      world.clock.advance(2 * MINUTE_MS)
      if (beat === 25 * 15) await send(blog.token, ok)
      await world.run('heartbeat')
    }
    await world.run('flush')
    const { availability } = await scores()
    expect(availability.detail).toContain('No event was received from Shop in 24 hours')
    expect(availability.score).toBeLessThanOrEqual(50)
  })

  test('cover the last 24 hours', async () => {
    world.clock.advance(DAY_MS)
    await world.run('flush')
    expect(await scores()).toMatchObject({ availability: { score: 0 }, accuracy: { score: 100 } })
  })
})
