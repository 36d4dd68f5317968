import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createKey } from '../../src/org/api-key-store.ts'
import { addMember, createOrg, createUser } from '../../src/org/store.ts'
import { storeAudit } from '../audits/finished-audit.fixture.ts'
import { aRun, storeRun } from '../flows/finished-run.fixture.ts'
import { type TestApp, testApp } from '../test-app.ts'
import { readEventStream, type StreamSubscription } from './event-stream-client.ts'

/* Events about changes in an organization, of every kind and cause, as received by callers. */

const alert = {
  name: 'No addresses',
  alertType: 'data_validation',
  severity: 'critical',
  conditions: { logic: 'any', items: [{ parameter: '*', op: 'contains_email' }] },
  period: '1h',
  channels: [{ type: 'email', target: 'ann@example.com' }],
}

async function listen(world: TestApp, as = world.owner.apiKey): Promise<StreamSubscription> {
  const headers = { authorization: `Bearer ${as}` }
  return readEventStream(await world.app.fetch(new Request('http://localhost/v1/stream', { headers })))
}

/** Performs a call and returns the events received during it, as `kind id`. */
async function heardOf(stream: StreamSubscription, act: () => Promise<unknown>): Promise<string[]> {
  const before = stream.changes.length
  await act()
  await stream.changesWhen('a change', ({ length }) => length > before)
  return stream.changes.slice(before).map(({ event, data }) => `${event} ${data.id}${data.deleted ? ' deleted' : ''}`)
}

async function taken(answer: Promise<{ status: number; body: { id: string } }>) {
  const { status, body } = await answer
  expect([body, status < 300]).toEqual([body, true])
  return body
}

test('everything that users create, change and delete is streamed immediately', async () => {
  await using world = await testApp({ chromium: '/nowhere/chromium' })
  const stream = await listen(world)
  const call = (method: string, path: string, body?: object) =>
    taken(world.call(method, path, body ? { body } : {})) as Promise<{ id: string }>
  let id = ''
  const made = (path: string, body: object) => async () => {
    id = (await call('POST', path, body)).id
  }

  const shop = await heardOf(stream, made('/v1/domains', { name: 'Shop' }))
  const domainId = id
  expect(shop).toContain(`domain ${domainId}`)
  const of = (path: string, body?: object, method = 'PUT') =>
    heardOf(stream, () => call(method, `/v1/domains/${domainId}${path}`, body))
  expect(await of('', { name: 'Shop 2' })).toContain(`domain ${domainId}`)
  expect(await of('/hostnames/shop.example', { status: 'denied' })).toContain(`domain ${domainId}`)
  const setting = { domainId, vendor: 'Shop', event: 'buy' }
  for (const mode of ['muted', 'off', 'auto']) {
    const put = () => call('PUT', '/v1/auto/signals', { ...setting, mode })
    expect(await heardOf(stream, put)).toEqual([`signal ${domainId}`])
  }

  expect(await heardOf(stream, made('/v1/alerts', alert))).toEqual([`alert ${id}`])
  const off = () => call('PUT', `/v1/alerts/${id}/enabled`, { enabled: false })
  expect(await heardOf(stream, off)).toEqual([`alert ${id}`])
  expect(await heardOf(stream, () => call('DELETE', `/v1/alerts/${id}`))).toEqual([`alert ${id} deleted`])

  const release = { domainId, source: 'release', ref: 'v2', title: 'Release 2' }
  expect(await heardOf(stream, made('/v1/changes', release))).toEqual([`change ${id}`])
  const hook = { provider: 'webhook', config: { url: 'https://hooks.example.com/a' } }
  expect(await heardOf(stream, made('/v1/integrations', hook))).toEqual([`integration ${id}`])
  const gone = () => call('DELETE', `/v1/integrations/${id}`)
  expect(await heardOf(stream, gone)).toEqual([`integration ${id} deleted`])

  const { orgId } = world.owner
  const runs = [
    () => storeAudit(world.app.db, world.clock.now(), { orgId, name: 'All pages' }),
    () => storeRun(world, { ...aRun(), findings: [] }, { orgId }),
  ]
  for (const store of runs) {
    const stored = async () => {
      id = store()
    }
    expect(await heardOf(stream, stored)).toContain(`run ${id}`)
  }
  expect(await of('', undefined, 'DELETE')).toContain(`domain ${domainId} deleted`)
})

test('changes of an issue and its deliveries are streamed with the fields that lists need', async () => {
  await using world = await testApp(
    {},
    { transport: { send: async () => ({ kind: 'status', status: 200, headers: {}, body: '' }) } },
  )
  const stream = await listen(world)
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const { body: rule } = await world.call('POST', '/v1/alerts', { body: { ...alert, domainId: domain.id } })
  await world.collect(domain.token, { events: [{ vendor: 'Shop', event: 'buy', params: { to: 'ann@example.com' } }] })
  world.clock.advance(1000)
  await world.run('flush', 'evaluate', 'deliver')
  const { id } = (await world.call('GET', '/v1/issues')).body.issues[0]
  const of = (kind: string) => stream.changes.filter(({ event }) => event === kind).map(({ data }) => data)
  await stream.changesWhen('the issue', () => of('issue').length > 0)
  const now = world.clock.now()
  expect(of('issue').at(-1)).toEqual({
    id,
    status: 'open',
    severity: 'critical',
    alertId: rule.id,
    domainId: domain.id,
    updatedAt: now,
  })
  await stream.changesWhen('the delivery', () => of('delivery').length > 0)
  const [delivery] = (await world.call('GET', '/v1/notifications/deliveries')).body.deliveries
  expect(of('delivery').at(-1)).toEqual({ id: delivery.id, issueId: id, status: delivery.status, updatedAt: now })
  await world.call('POST', '/v1/issues/bulk', { body: { ids: [id], status: 'acknowledged' } })
  await stream.changesWhen('the acknowledgement', () => of('issue').at(-1)?.status === 'acknowledged')
  expect(of('domain').map((data) => data.id)).toContain(domain.id)
})

test('each organization receives only its own changes', async () => {
  await using world = await testApp()
  const { app, clock } = world
  const homes = ['One', 'Two', 'Three'].map((name) => {
    const { id: orgId } = createOrg(app.db, app.box, clock, { name })
    const { id: userId } = createUser(app.db, clock, { email: `${name}@example.com` })
    addMember(app.db, clock, { orgId, userId, role: 'owner' })
    const as = createKey(app.db, clock, { userId, orgId, name: 'key', expiresInDays: null }).secret
    return { as, domains: [] as string[], alerts: [] as string[], own: new Set<string>() }
  })
  const streams = await Promise.all(homes.map(({ as }) => listen(world, as)))
  let names = 0
  const acts = fc.constantFrom('domain', 'alert', 'rename', 'signal', 'drop', 'refused')
  const steps = fc.array(fc.record({ act: acts, at: fc.nat(homes.length - 1), which: fc.nat(5) }), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(steps, async (some) => {
      for (const { act, at, which } of some) {
        const home = homes[at] ?? homes[0]
        if (!home) continue
        const { as, domains, alerts, own } = home
        const call = (method: string, path: string, body: object) => world.call(method, path, { as, body })
        const domainId = domains[which % domains.length]
        const alertId = alerts[which % alerts.length]
        const name = `Name ${++names}`
        if (act === 'domain') {
          const { body } = await call('POST', '/v1/domains', { name })
          domains.push(body.id)
          own.add(body.id)
        } else if (act === 'alert') {
          const { body } = await call('POST', '/v1/alerts', { ...alert, name })
          alerts.push(body.id)
          own.add(body.id)
        } else if (act === 'rename' && domainId) await call('PUT', `/v1/domains/${domainId}`, { name })
        else if (act === 'signal' && domainId) {
          await call('PUT', '/v1/auto/signals', {
            domainId,
            vendor: 'Shop',
            mode: 'muted',
            sensitivity: 2 + (names % 7),
          })
        } else if (act === 'drop' && alertId) {
          await world.call('DELETE', `/v1/alerts/${alertId}`, { as })
          alerts.splice(alerts.indexOf(alertId), 1)
        } else if (act === 'refused' && domainId) {
          // The caller belongs to another organization and learns nothing from the response.
          const other = homes[(at + 1) % homes.length]?.as ?? ''
          expect((await world.call('PUT', `/v1/domains/${domainId}`, { as: other, body: { name } })).status).toBe(404)
        }
      }
      for (const [index, { as, own }] of homes.entries()) {
        // Makes one last change in each organization. When it has been received, all earlier events have been received
        // too.
        const { body } = await world.call('POST', '/v1/domains', { as, body: { name: `Last ${++names}` } })
        own.add(body.id)
        const stream = streams[index]
        await stream?.changesWhen('the last domain', (changes) => changes.some(({ data }) => data.id === body.id))
        const heard = new Set(stream?.changes.map(({ data }) => data.id))
        expect([...heard].sort()).toEqual([...own].sort())
      }
    }),
    { numRuns: 15 },
  )
})
