import { basename, join } from 'node:path'
import { alertOf } from '../../src/alerts/alert.fixture.ts'
import type { Alert, AlertInput } from '../../src/alerts/alert.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../../src/core/clock.ts'
import type { StoredEvent } from '../../src/core/event.ts'
import { plainPage } from '../../src/core/stored-page-view.fixture.ts'
import type { StoredPage } from '../../src/core/stored-page-view.ts'
import { createDomain } from '../../src/domains/store.ts'
import type { Principal } from '../../src/http/principal.ts'
import type { Sources } from '../../src/insights/insight.ts'
import { SeriesMonitor } from '../../src/signals/series-monitor.ts'
import type { ClickhouseClient } from '../../src/warehouse/clickhouse/clickhouse-client.ts'
import { ClickhouseHistory } from '../../src/warehouse/clickhouse/clickhouse-history.ts'
import { insertFiles } from '../../src/warehouse/clickhouse/insert-files.ts'
import { HOUR, WarehouseFixture } from '../../src/warehouse/warehouse.fixture.ts'
import { cast } from '../fixtures.ts'
import { BothEngines } from './both-engines.ts'
import { ClickhouseServer } from './clickhouse-server.ts'
import { type EventOrigin, generateBatches } from './generated-events.ts'

/** Two days of data in both engines: one organization with two domains, and another organization with one. */
export interface EngineFixture {
  both: BothEngines
  fixture: WarehouseFixture
  orgId: string
  /** The two domains of the first organization, then the domain of the other one. */
  domainIds: readonly [string, string, string]
  /** Contains all events. Starts and ends on the hour. */
  window: { from: Instant; to: Instant }
  alert(input: Partial<AlertInput>, id?: string): Alert
  principal: Principal
  sources: Sources
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens the fixture with about this number of events, and ClickHouse with this number of shards. */
export async function openEngineFixture(asked: { events: number; shards: number }): Promise<EngineFixture> {
  const fixture = await WarehouseFixture.open()
  const { db, clock } = fixture
  const { alice, mallory } = cast(db, clock)
  const { orgId, userId } = alice
  const shop = (name: string, of = orgId) => createDomain(db, clock, of, { name })
  const domainIds = [shop('Shop'), shop('Blog'), shop('Other', mallory.orgId)] as const
  const places: EventOrigin[] = domainIds.map((domainId, at) => ({ orgId: at === 2 ? mallory.orgId : orgId, domainId }))
  const pages = await measure(fixture, places)
  await fill(fixture, places, asked.events)
  const servers = await ClickhouseServer.open(asked.shards)
  const [server] = servers
  if (!server) throw new Error('a cluster has at least one server')
  await insertAll(server.client, fixture.events, pages)
  const report = (error: unknown) => console.error(error)
  const both = new BothEngines(fixture, new ClickhouseHistory({ client: server.client, clock, report }))
  const to = Math.ceil((clock.now() + 1) / HOUR_MS) * HOUR_MS
  const seriesMonitor = new SeriesMonitor({ warehouse: both, gapsOf: () => [], settingsOf: () => [] })
  const watched = domainIds.slice(0, 2).map((id) => ({ id, createdAt: 0 }))
  return {
    both,
    fixture,
    orgId,
    domainIds,
    window: { from: HOUR, to },
    alert: (input, id = 'alr_1') =>
      alertOf({ name: 'A', alertType: 'data_validation', period: '1h', channels: [], ...input }, id, orgId),
    principal: { via: 'key', userId, orgId, role: 'owner', readOnly: false, keyId: null, sessionId: null },
    sources: {
      db,
      seriesMonitor,
      watermark: () => to,
      retentionMs: 90 * DAY_MS,
      history: both,
      domains: () => watched,
      privacy: () => PLAIN_PRIVACY,
      chart: (series, range) => seriesMonitor.chart({ ...series, orgId, sensitivity: 5, timezone: 'UTC' }, range, to),
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server[Symbol.asyncDispose]()
      await fixture[Symbol.asyncDispose]()
    },
  }
}

/** Stores browser reports for 600 page views. Fractions are multiples of 0.5, so that sums are exact. */
async function measure(fixture: WarehouseFixture, places: readonly EventOrigin[]): Promise<StoredPage[]> {
  const vendors = [
    ['Meta Pixel', 'www.facebook.com'],
    ['Meta Pixel', 'connect.facebook.net'],
    ["it's", 'größe 😀'],
    ['', ''],
  ] as const
  const pages = Array.from({ length: 600 }, (_, page) => {
    const loaf = page % 3 > 0
    const shared = { page, loaf, ...places[page % places.length], receivedAt: HOUR + page, weight: 1 + (page % 2) }
    const own = page % 5 === 0 ? vendors.slice(3) : vendors.slice(page % 4 === 0 ? 1 : 0, 1 + (page % 3))
    return own.map(([vendor, vendorHost], n) => {
      const requests = vendor === '' ? 0 : (page + n) % 4
      return plainPage({
        ...shared,
        vendor,
        vendorHost,
        requests,
        bytes: page % 7 === 0 ? null : page * 31,
        durMs: Array.from({ length: requests }, (_, at) => (page * 7 + at * 13) / 2),
        blockMs: loaf ? ((page * n) % 90) / 2 : null,
      })
    })
  }).flat()
  const { orgId = '', domainId = '' } = places[0] ?? {}
  const answer = { accepted: 0, rejected: 0, errors: [] }
  await fixture.spool.append([], { key: null, orgId, domainId, receivedAt: HOUR, answer, ledger: [], pages })
  return pages
}

/** Stores the events so that each kind of file contains some of them, and the spool contains the last ones. */
async function fill(fixture: WarehouseFixture, places: readonly EventOrigin[], count: number): Promise<void> {
  const batches = generateBatches(HOUR, places, count)
  for (const [n, { at, events }] of batches.entries()) {
    fixture.clock.set(at)
    await fixture.add(events)
    const left = batches.length - n
    if (n % 40 === 39 && left > 5) await fixture.flush()
    if (n % 120 === 119 && left > 40) {
      await fixture.compact(at + MINUTE_MS)
      await fixture.compactCounts(at + MINUTE_MS)
    }
  }
}

/** Inserts all events and pages in ClickHouse, from files as written for a segment. Repeats every insert. */
export async function insertAll(
  client: ClickhouseClient,
  events: readonly StoredEvent[],
  pages: StoredPage[],
): Promise<void> {
  await using staging = await WarehouseFixture.open()
  const answer = { accepted: 0, rejected: 0, errors: [] }
  const batch = { key: null, orgId: 'org_1', domainId: 'dom_1', receivedAt: HOUR, answer, ledger: [] }
  await staging.spool.append([], { ...batch, pages })
  await Promise.all(events.map((event) => staging.spool.append([event], { ...batch, receivedAt: event.receivedAt })))
  await staging.flush()
  const { manifest, folder } = staging
  const names = new Set([...manifest.files(), ...manifest.pages()].map(({ path }) => basename(path)))
  for (const name of [...names, ...names]) {
    const named = (files: readonly { path: string }[]) => {
      const found = files.find(({ path }) => basename(path) === name)
      return found ? join(folder, found.path) : null
    }
    const files = { events: named(manifest.files()), counts: named(manifest.rollups()), pages: named(manifest.pages()) }
    await insertFiles(client, files, name)
  }
}
