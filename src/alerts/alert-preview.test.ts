import { describe, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'

const channels = [{ type: 'email', target: 'ann@example.com' }]
const rule = {
  name: 'Rule',
  alertType: 'data_validation',
  conditions: { logic: 'any', items: [{ parameter: 'to', op: 'contains_email' }] },
  period: '1h',
  channels,
}

async function shop(world: TestApp) {
  const { body } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const send = (events: object[]) => world.collect(body.token, { sessionId: 's', events })
  const ask = (what: 'preview' | 'backtest', more: object, as = world.owner.apiKey) =>
    world.call('POST', `/v1/alerts/${what}`, { as, body: { rule, ...more } })
  return { domainId: body.id as string, send, ask }
}

describe('a preview', () => {
  test('counts the findings of the last hours and shows the newest events, masked', async () => {
    await using world = await testApp()
    const { send, ask } = await shop(world)
    await send([{ id: 'old', vendor: 'Shop', event: 'a', params: { to: 'ann@example.com' } }])
    world.clock.advance(3 * HOUR_MS)
    await world.run('flush')
    for (let n = 0; n < 25; n++) {
      world.clock.advance(MINUTE_MS)
      await send([
        { id: `bad${n}`, vendor: 'Shop', event: 'a', params: { to: `ann${n}@example.com` } },
        { id: `good${n}`, vendor: 'Shop', event: 'a', params: { to: 'nobody' } },
      ])
    }
    const { status, body } = await ask('preview', { hours: 2 })
    expect([status, body.scanned, body.matched, body.windowHours]).toEqual([200, 50, 25, 2])
    expect(body.samples.map(({ id }: { id: string }) => id)).toEqual(
      Array.from({ length: 20 }, (_, index) => `bad${24 - index}`),
    )
    expect(JSON.stringify(body)).not.toContain('@example.com')
    expect((await ask('preview', {})).body).toMatchObject({ scanned: 51, matched: 26, windowHours: 24 })
    // The preview stored nothing.
    expect((await world.call('GET', '/v1/alerts')).body.alerts).toEqual([])
    expect((await world.call('GET', '/v1/issues')).body.issues).toEqual([])
  })

  test('counts a sampled event with its weight, in both scanned and matched', async () => {
    await using world = await testApp()
    const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Sampled' } })
    const events = ['ann@example.com', 'bob@example.com', 'nobody'].map((to) => ({
      vendor: 'S',
      event: 'a',
      params: { to },
    }))
    await world.collect(domain.token, { sampleRate: 0.1, events })
    const { body } = await world.call('POST', '/v1/alerts/preview', { body: { rule, hours: 1 } })
    expect(body).toMatchObject({ scanned: 30, matched: 20 })
  })

  test('checks individual events when the SQL is not exact', async () => {
    await using world = await testApp()
    const { send, ask } = await shop(world)
    const conditions = { logic: 'any', items: [{ parameter: 'tel', op: 'contains_phone' }] }
    await send([
      { vendor: 'Shop', event: 'a', params: { tel: '+1 506 234 5678' } },
      { vendor: 'Shop', event: 'a', params: { tel: '+1 506 234 567' } },
    ])
    const { body } = await ask('preview', { rule: { ...rule, conditions } })
    expect(body).toMatchObject({ scanned: 2, matched: 1, samples: [{ params: { tel: '***78' } }] })
  })

  test.each([
    ['volume_threshold', { op: 'gte', count: 3 }, [1, 2, 4]],
    ['tag_volume_change', { direction: 'decrease', percent: 50 }, [1, 3]],
  ])('of %s lists the windows that would have fired, newest first', async (alertType, volume, hoursAgo) => {
    await using world = await testApp()
    const { send, ask, domainId } = await shop(world)
    for (const count of [30, 2, 40, 20]) {
      await send(Array.from({ length: count }, () => ({ vendor: 'Shop', event: 'a' })))
      world.clock.advance(HOUR_MS)
    }
    const { conditions, ...plain } = rule
    const { body } = await ask('preview', { rule: { ...plain, alertType, volume }, hours: 4 })
    const now = world.clock.now()
    const from = body.samples.map((sample: { from: number }) => (now - sample.from) / HOUR_MS)
    expect(body.samples.every((sample: { domainId: string }) => sample.domainId === domainId)).toBe(true)
    expect(body.matched).toBe(from.length)
    expect(from).toEqual(hoursAgo)
  })
})

test.each(['preview', 'backtest'] as const)(
  'a %s names the error in the rule, and is available to read-only keys',
  async (what) => {
    await using world = await testApp()
    const { ask } = await shop(world)
    const wrong: [object, string][] = [
      [{ rule: { ...rule, period: '5x' } }, 'rule.period: '],
      [{ rule: { ...rule, domainId: 'dom_none' } }, 'rule.domainId: no such domain'],
      [{ rule: { ...rule, conditions: undefined } }, 'rule.conditions: '],
      [{ rule: 5 }, 'rule: '],
      [what === 'preview' ? { hours: 169 } : { days: 8 }, what === 'preview' ? 'hours: ' : 'days: '],
    ]
    for (const [more, error] of wrong) {
      const answer = await ask(what, more)
      expect([answer.status, answer.body.error.slice(0, error.length)]).toEqual([400, error])
    }
    const { body: key } = await world.call('POST', '/v1/keys', {
      body: { name: 'r', expiresInDays: null, readOnly: true },
    })
    expect((await ask(what, {}, key.secret)).status).toBe(200)
  },
)
