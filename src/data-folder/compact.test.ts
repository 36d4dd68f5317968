import { expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { plainEvent } from '../core/event.fixture.ts'
import { plainPage } from '../core/stored-page-view.fixture.ts'
import type { Flaw } from '../warehouse/duckdb/file-check.ts'
import { WarehouseFixture } from '../warehouse/warehouse.fixture.ts'

const files = ({ folder }: TestApp) => readdirSync(join(folder, 'events')).filter((name) => name.endsWith('.parquet'))
const search = async (world: TestApp, query = ''): Promise<object[]> =>
  (await world.call('GET', `/v1/events?limit=200${query}`)).body.events

test('a completed hour is compacted into one file without changing query results', async () => {
  await using world = await testApp()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  for (let part = 0; part < 5; part++) {
    const events = ['view', 'buy'].map((event) => ({
      vendor: part % 2 ? 'Shop' : 'Other',
      event,
      params: { part: String(part), ...(part === 0 ? { Rare: 'needle', rare: 'hay' } : {}) },
    }))
    await world.collect(domain.token, { events })
    world.clock.advance(5 * SECOND_MS)
    await world.run('flush')
  }
  const before = await search(world)
  expect(before).toHaveLength(10)
  expect(files(world)).toHaveLength(5)
  await world.run('compact')
  expect(files(world)).toHaveLength(5)

  world.clock.advance(HOUR_MS + 3 * MINUTE_MS)
  await world.run('compact')
  expect(files(world)).toHaveLength(1)
  expect(await search(world)).toEqual(before)
  expect(await search(world, '&vendor=Shop&event=buy')).toHaveLength(2)
  expect(await search(world, '&q=needle')).toHaveLength(2)

  // Running the job again, even after a restart, changes nothing.
  const compacted = files(world)
  await world.run('compact')
  await world.restart()
  await world.run('compact')
  expect(files(world)).toEqual(compacted)
  expect(await search(world)).toEqual(before)
})

const present = ({ manifest }: WarehouseFixture) => [manifest.files(), manifest.rollups(), manifest.pages()]
const levels = (fixture: WarehouseFixture) => present(fixture).map((files) => files.map(({ level }) => level))

/** Loads consecutive hours that have ended, each with one event and one page. */
async function loadHours(fixture: WarehouseFixture, hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    const receivedAt = fixture.clock.now()
    const answer = { accepted: 1, rejected: 0, errors: [] }
    await fixture.spool.append([plainEvent({ seq: hour + 1, receivedAt })], {
      key: null,
      orgId: 'org_1',
      domainId: 'dom_1',
      receivedAt,
      answer,
      ledger: [],
      pages: [plainPage({ receivedAt })],
    })
    await fixture.flush()
    fixture.clock.advance(HOUR_MS)
  }
  fixture.clock.advance(HOUR_MS)
}

test('a damaged file does not affect other hours, is reported once and then skipped', async () => {
  const reported: Flaw[] = []
  await using fixture = await WarehouseFixture.open({ damaged: (flaws) => void reported.push(...flaws) })
  await loadHours(fixture, 4)
  const { warehouse, manifest, folder } = fixture
  const second = present(fixture).map((files) => files[1]?.path ?? '')
  for (const path of second) writeFileSync(join(folder, path), 'damaged')
  for (let round = 0; round < 2; round++) {
    await warehouse.compact()
    expect(reported.map(({ file, reason }) => [file.path, reason.split(' instead')[0]])).toEqual(
      second.map((path) => [path, 'it has 7 bytes']),
    )
    expect(manifest.damaged().map(({ file }) => file.path)).toEqual(second)
    expect(levels(fixture)).toEqual([
      ['compacted', 'compacted', 'compacted'],
      ['hour', 'hour', 'hour'],
      ['hour', 'hour', 'hour'],
    ])
  }
})
