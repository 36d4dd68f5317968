import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { ask, askAll, WEBHOOK_SECRET } from '../run-program.ts'
import { moveMark, testApp } from '../test-app.ts'

/** A data folder of a killed server that contains every kind of file. */
export interface KilledFolder {
  path: string
  apiKey: string
  orgId: string
  domainId: string
  /** Token for the collector. */
  token: string
  /** Ids of all events in order. The last event is only in the spool. */
  eventIds: string[]
}

/**
 * Creates a folder at `path`, which must not exist. It contains compacted, merged and new files of events, counts and
 * `pages`, a segment in the spool, encrypted secrets, and an open issue. The latest changes of its database are in the
 * write-ahead log.
 */
export async function killedFolder(path: string): Promise<KilledFolder> {
  await using app = await testApp()
  const now = Date.now()
  app.clock.set(now - 3 * DAY_MS)
  const { body: domain } = await app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  await watchForMail(app.call, domain.id)
  const eventIds: string[] = []
  const send = async (at: number, event = 'purchase') => {
    app.clock.set(at)
    const id = `evt-${String(eventIds.length).padStart(3, '0')}`
    eventIds.push(id)
    const params = event === 'contact' ? { from: 'jane@example.com' } : { value: '42.5' }
    await app.collect(domain.token, {
      batchId: `batch-of-${id}`,
      sessionId: `session-${eventIds.length % 3}`,
      page: { url: 'https://www.shop.example/cart' },
      events: [{ id, vendor: 'Shop', event, params }],
      pageStats: { loaf: true, vendors: [{ host: 'connect.facebook.net', requests: 2, durMs: [10, 12.5] }] },
    })
  }
  const flushed = async (at: number, event?: string) => {
    await send(at, event)
    app.clock.advance(5000)
    await app.run('flush', 'evaluate')
  }
  for (const at of [now - 2 * DAY_MS - HOUR_MS, now - 2 * DAY_MS, now - 2 * HOUR_MS]) await flushed(at)
  await app.run('compact')
  const recent = now - 2 * MINUTE_MS
  for (let n = 0; n < 16; n++) await flushed(recent + n * 1000)
  await app.run('compact')
  await flushed(now - MINUTE_MS, 'contact')
  await send(now - 1000)
  cpSync(app.folder, path, { recursive: true })
  moveMark(app.folder, path)
  return { path, apiKey: app.owner.apiKey, orgId: app.owner.orgId, domainId: domain.id, token: domain.token, eventIds }
}

async function watchForMail(call: Awaited<ReturnType<typeof testApp>>['call'], domainId: string): Promise<void> {
  const { body: integration } = await call('POST', '/v1/integrations', {
    body: { provider: 'webhook', config: { url: 'https://hooks.example.com/tags', secret: WEBHOOK_SECRET } },
  })
  await call('POST', '/v1/alerts', {
    body: {
      name: 'Personal data',
      alertType: 'data_validation',
      severity: 'high',
      domainId,
      period: '1h',
      conditions: { logic: 'any', items: [{ parameter: '*', op: 'contains_email' }] },
      channels: [{ type: 'webhook', target: integration.id }],
    },
  })
}

/** Returns the content of every file in a folder and its subfolders, by path. */
export function bytesOf(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  const files = names.filter((name) => statSync(join(folder, name)).isFile())
  return new Map(files.map((name) => [name, readFileSync(join(folder, name))]))
}

/** Returns the ids of all events that a server returns, in order. */
export async function eventIdsOf(url: string, apiKey: string): Promise<string[]> {
  const events = await askAll<{ id: string }>(url, '/v1/events?from=0', apiKey, 'events')
  return events.map(({ id }) => id).sort()
}

/** Reads all data that must survive a damaged folder, without waiting. */
export async function readableOf(url: string, apiKey: string) {
  const [org, domains, alerts, integrations, issues, eventIds] = await Promise.all([
    ask('GET', `${url}/v1/org`, apiKey),
    ask('GET', `${url}/v1/domains`, apiKey),
    ask('GET', `${url}/v1/alerts`, apiKey),
    ask('GET', `${url}/v1/integrations`, apiKey),
    ask('GET', `${url}/v1/issues`, apiKey),
    eventIdsOf(url, apiKey),
  ])
  const names = (items: { id: string; name?: string }[]) => items.map(({ id, name }) => [id, name])
  return {
    org,
    domains: names(domains.domains),
    alerts: names(alerts.alerts),
    integrations: names(integrations.integrations),
    issues: names(issues.issues),
    eventIds,
  }
}

/**
 * Flips bits of a byte at this fraction of a file. Uses the next byte that is not zero, because most zero bytes are
 * padding.
 */
export function flipByte(path: string, share: number): void {
  const bytes = readFileSync(path)
  const middle = Math.floor(bytes.length * share)
  const found = bytes.subarray(middle).findIndex((byte) => byte !== 0)
  const at = found < 0 ? middle : middle + found
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x15, at)
  writeFileSync(path, bytes)
}
