import { expect, test } from 'bun:test'
import { testApp } from '../../test/test-app.ts'
import { DAY_MS, SECOND_MS } from '../core/clock.ts'

const rule = (name: string, key: string, impactValue?: number) => ({
  name,
  alertType: 'data_validation',
  severity: 'high',
  period: '1h',
  impactValue,
  conditions: { logic: 'any', items: [{ parameter: key, op: 'equals', values: ['bad'] }] },
  channels: [{ type: 'email', target: 'owners' }],
})

test('the value of issues is summed up by outcome', async () => {
  await using world = await testApp()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const value = async () => (await world.call('GET', '/v1/org/value')).body
  expect(await value()).toEqual({
    openValue: 0,
    resolvedValue30d: 0,
    resolvedValueTotal: 0,
    valuedAlerts: 0,
    topIssues: [],
  })
  const worth = [900, 0, undefined, 5000, 40, 7, Number.MAX_SAFE_INTEGER]
  for (const [n, impactValue] of worth.entries()) {
    await world.call('POST', '/v1/alerts', { body: rule(`Rule ${n}`, `k${n}`, impactValue) })
  }
  const params = Object.fromEntries(worth.map((_, n) => [`k${n}`, 'bad']))
  await world.collect(domain.token, { events: [{ vendor: 'GA', event: 'buy', params }] })
  await world.at(world.clock.now() + 10 * SECOND_MS)
  const { issues } = (await world.call('GET', '/v1/issues')).body
  const idOf = (n: number) => issues.find(({ title }: { title: string }) => title.startsWith(`Rule ${n}:`)).id
  const set = (n: number, status: string) => world.call('PATCH', `/v1/issues/${idOf(n)}`, { body: { status } })
  await set(6, 'muted')
  await set(3, 'acknowledged')
  expect(await value()).toMatchObject({
    openValue: 900 + 5000 + 40 + 7,
    valuedAlerts: 5,
    topIssues: [
      { title: expect.stringContaining('Rule 3'), status: 'acknowledged', severity: 'high', impactValue: 5000 },
      { impactValue: 900, occurrences: 1 },
      { impactValue: 40 },
      { impactValue: 7 },
    ],
  })
  await set(0, 'resolved')
  world.clock.advance(31 * DAY_MS)
  await set(5, 'resolved')
  expect(await value()).toMatchObject({ openValue: 5040, resolvedValue30d: 7, resolvedValueTotal: 907 })
  await set(0, 'open')
  expect(await value()).toMatchObject({ openValue: 5940, resolvedValue30d: 7, resolvedValueTotal: 7 })
  const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
  const headers = { 'x-org-id': other.id }
  const { body: theirs } = await world.call('GET', '/v1/org/value', { headers })
  expect(theirs).toMatchObject({ openValue: 0, valuedAlerts: 0, topIssues: [] })
})
