import { describe, expect, test } from 'bun:test'
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { plainEvent } from '../../src/core/event.fixture.ts'
import { plainPage } from '../../src/core/stored-page-view.fixture.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { addMember, createOrg, createUser } from '../../src/org/store.ts'
import type { Flaw } from '../../src/warehouse/duckdb/file-check.ts'
import { HOUR, WarehouseFixture } from '../../src/warehouse/warehouse.fixture.ts'
import { TEST_START } from '../fixtures.ts'
import { type TestApp, testApp } from '../test-app.ts'

/** Kinds of damage by name. Each function damages the file at this path. */
const DAMAGES: [string, (path: string) => void][] = [
  ['deleted', (path) => rmSync(path)],
  ['cut in half', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ['emptied', (path) => truncateSync(path, 0)],
  ...Array.from({ length: 10 }, (_, n): [string, (path: string) => void] => [
    `with one byte flipped at ${n * 10 + 5} %`,
    (path) => flip(path, (n + 0.5) / 10),
  ]),
]

function flip(path: string, place: number): void {
  const bytes = readFileSync(path)
  const at = Math.floor(bytes.length * place)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x15, at)
  writeFileSync(path, bytes)
}

const BATCHES = 20

/** Starts a server and sends it 20 batches of two events. The event ids start with the number of the batch. */
async function collected() {
  const world = await testApp()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  const send = async (batch: number) => {
    const events = ['a', 'b'].map((id) => ({
      id: `${batch}${id}`,
      vendor: 'Shop',
      event: 'buy',
      params: { n: 'x'.repeat(50) },
    }))
    return (await world.collect(domain.token, { batchId: `the-batch-${batch}`, events })).body
  }
  for (let batch = 0; batch < BATCHES; batch++) await send(batch)
  return { world, send }
}

const idsIn = async (world: TestApp): Promise<string[]> => {
  const { status, body } = await world.call('GET', '/v1/events?limit=200')
  expect(status).toBe(200)
  return body.events.map(({ id }: { id: string }) => id)
}

/** Returns the batches whose events are all present. Fails for a partial batch. */
async function batchesIn(world: TestApp): Promise<number[]> {
  const ids = await idsIn(world)
  expect(new Set(ids).size).toBe(ids.length)
  const batches = [...new Set(ids.map((id) => Number.parseInt(id, 10)))].sort((a, b) => a - b)
  expect(ids.length).toBe(2 * batches.length)
  return batches
}

const ALL = Array.from({ length: BATCHES }, (_, batch) => batch)
const spoolFile = (folder: string) => join(folder, 'spool', readdirSync(join(folder, 'spool')).sort()[0] ?? '')
const asideIn = ({ folder }: TestApp) => readdirSync(join(folder, 'damaged'))
const usageIn = async (world: TestApp) => (await world.call('GET', '/v1/usage')).body.totalEvents

describe('a damaged spool file found at startup after a crash', () => {
  test.each(DAMAGES)(
    '(%s) is reported as a loss; all other events are read, and a resent batch is accepted',
    async (name, damage) => {
      const { world, send } = await collected()
      await using _world = world
      await world.crash((folder) => damage(spoolFile(folder)))
      const kept = await batchesIn(world)
      const lost = ALL.filter((batch) => !kept.includes(batch))
      if (name.includes('flipped')) {
        expect(lost.length).toBeLessThanOrEqual(1)
        expect(world.warnings).toHaveLength(1)
        // The flipped byte may be in a line without events.
        const loss = lost.length === 0 ? 'no data lost' : '1 acknowledged batches lost (2 known events)'
        expect(world.warnings[0]).toContain(loss)
        expect(asideIn(world)).toHaveLength(1)
      }
      if (name === 'cut in half') expect(kept.length).toBeGreaterThanOrEqual(8)
      await world.run('flush')
      expect(await batchesIn(world)).toEqual(kept)
      expect(await usageIn(world)).toBe(2 * kept.length)
      for (const batch of ALL) expect(await send(batch)).toEqual({ accepted: 2, rejected: 0, errors: [] })
      expect(await batchesIn(world)).toEqual(ALL)
      world.clock.advance(MINUTE_MS)
      await world.run('flush')
      expect([await batchesIn(world), await usageIn(world)]).toEqual([ALL, 2 * BATCHES])
    },
  )
})

describe('a damaged spool file of a running server', () => {
  test.each(DAMAGES)(
    '(%s) is reported as a loss; queries and loading continue, and a resent batch is accepted',
    async (name, damage) => {
      const { world, send } = await collected()
      await using _world = world
      damage(spoolFile(world.folder))
      const before = await idsIn(world)
      world.clock.advance(MINUTE_MS)
      if (name === 'deleted') {
        await expect(world.run('flush')).rejects.toThrow('the segment file is missing')
        world.clock.advance(HOUR_MS)
      }
      await world.run('flush')
      const kept = await batchesIn(world)
      expect(kept.length).toBeLessThan(BATCHES)
      if (name.includes('flipped')) expect([before.length >= 2 * BATCHES - 2, kept.length]).toEqual([true, BATCHES - 1])
      expect(world.warnings).toHaveLength(1)
      expect(world.warnings[0]).toContain(`${BATCHES - kept.length} acknowledged batches lost`)
      for (const batch of ALL) await send(batch)
      expect(await batchesIn(world)).toEqual(ALL)
      world.clock.advance(MINUTE_MS)
      await world.run('flush')
      expect([await batchesIn(world), await usageIn(world)]).toEqual([ALL, 2 * BATCHES])
    },
  )
})

let touched = TEST_START

/**
 * Advances a file's modification time by whole seconds. The engine caches a file's content until the second of its
 * modification time changes.
 */
function touch(path: string): void {
  touched += SECOND_MS
  if (existsSync(path)) utimesSync(path, new Date(touched), new Date(touched))
}

function put(path: string, bytes: Buffer | undefined): void {
  if (bytes) writeFileSync(path, bytes)
  touch(path)
}

const RELATIONS = ['events', 'counts', 'pages'] as const

/** Creates a history with a Parquet file of each kind and merge level. No two files have rows from the same minute. */
async function historyOf(told: Flaw[]) {
  const fixture = await WarehouseFixture.open({ damaged: (flaws) => void told.push(...flaws) })
  const load = async (at: number) => {
    fixture.clock.set(at)
    const batch = {
      key: null,
      orgId: 'org_1',
      domainId: 'dom_1',
      receivedAt: at,
      ledger: [],
      pages: [plainPage({ receivedAt: at })],
    }
    const event = plainEvent({ seq: fixture.spool.nextSeq(), receivedAt: at, params: { text: 'x'.repeat(300) } })
    await fixture.spool.append([event], { ...batch, answer: { accepted: 1, rejected: 0, errors: [] } })
    await fixture.flush()
  }
  const { warehouse, manifest } = fixture
  const merge = () => warehouse.compact()
  for (const before of [75 * DAY_MS, 2 * DAY_MS, 2 * HOUR_MS]) await load(HOUR - before)
  for (let n = 0; n < 16; n++) await load(HOUR + n * MINUTE_MS)
  for (let round = 0; round < 3; round++) await merge()
  await load(HOUR + 20 * MINUTE_MS)
  const grades = [manifest.files(), manifest.rollups(), manifest.pages()].map((files) =>
    [...new Set(files.map(({ level }) => level))].sort(),
  )
  expect(grades).toEqual([
    ['compacted', 'fresh', 'merged'],
    ['day', 'fresh', 'hour', 'merged', 'quarters'],
    ['day', 'fresh', 'hour', 'merged'],
  ])
  return fixture
}

/** Creates another organization and returns its owner's API key. */
function keyOfAnother({ app: { db, box }, clock }: TestApp): string {
  const { id: orgId } = createOrg(db, box, clock, { name: 'Another' })
  const { id: userId } = createUser(db, clock, { email: 'another@example.com', name: null })
  addMember(db, clock, { orgId, userId, role: 'owner' })
  return createKey(db, clock, { userId, orgId, name: 'a key', expiresInDays: null }).secret
}

/** Returns all rows of each relation. */
const answersOf = (fixture: WarehouseFixture) =>
  Promise.all(
    RELATIONS.map(async (over) => {
      const rows = await fixture.query<Record<string, unknown>>(
        `SELECT * FROM ${over}`,
        {},
        { over, wholeParams: over === 'events' },
      )
      return rows.map((row) => JSON.stringify(row)).sort()
    }),
  )

describe('a damaged Parquet file', () => {
  test('is skipped by a running server, reported once, and used again when the file is restored', async () => {
    const told: Flaw[] = []
    await using fixture = await historyOf(told)
    const whole = await answersOf(fixture)
    for (const file of fixture.manifest.present()) {
      const path = join(fixture.folder, file.path)
      const bytes = readFileSync(path)
      for (const [name, damage] of DAMAGES) {
        fixture.clock.advance(DAY_MS + 1)
        damage(path)
        touch(path)
        // Some flipped bytes are detected only by the checksum.
        await answersOf(fixture)
        await fixture.warehouse.check()
        const case_ = `${file.path} ${name}`
        expect([case_, told.map((flaw) => flaw.file.path)]).toEqual([case_, [file.path]])
        const answers = await answersOf(fixture)
        for (const [n, rows] of answers.entries()) expect(rows.filter((row) => !whole[n]?.includes(row))).toEqual([])
        expect([case_, answers.flat().length]).toEqual([case_, whole.flat().length - file.rows])
        put(path, bytes)
        await fixture.warehouse.check()
        expect(fixture.manifest.damaged()).toEqual([])
        told.length = 0
      }
      expect(await answersOf(fixture)).toEqual(whole)
    }
  })

  test('found at startup is skipped, and used again after a startup with the intact file', async () => {
    const told: Flaw[] = []
    await using fixture = await historyOf(told)
    const whole = await answersOf(fixture)
    for (const [n, files] of [
      fixture.manifest.files(),
      fixture.manifest.rollups(),
      fixture.manifest.pages(),
    ].entries()) {
      const kept = files.map(({ path }) => readFileSync(join(fixture.folder, path)))
      for (const [name, damage] of DAMAGES) {
        for (const { path } of files) {
          damage(join(fixture.folder, path))
          touch(join(fixture.folder, path))
        }
        await fixture.reopen()
        await answersOf(fixture)
        await fixture.warehouse.check()
        expect([name, told.map(({ file }) => file.path).sort()]).toEqual([name, files.map(({ path }) => path).sort()])
        expect(await answersOf(fixture)).toEqual(whole.with(n, []))
        for (const [at, { path }] of files.entries()) put(join(fixture.folder, path), kept[at])
        await fixture.reopen()
        expect(await answersOf(fixture)).toEqual(whole)
        told.length = 0
      }
    }
  })

  test.each(DAMAGES.filter(([name]) => !name.includes('flipped')))(
    '(%s) with events of two organizations does not block the queries of either',
    async (_, damage) => {
      const { world, send } = await collected()
      await using _world = world
      const key = keyOfAnother(world)
      const { body: other } = await world.call('POST', '/v1/domains', { as: key, body: { name: 'b.example' } })
      const sendOther = (id: string) => world.collect(other.token, { events: [{ id, vendor: 'Shop', event: 'buy' }] })
      const othersIn = async () => {
        const { status, body } = await world.call('GET', '/v1/events', { as: key })
        return [status, body.events.map(({ id }: { id: string }) => id)]
      }
      await sendOther('lost')
      world.clock.advance(MINUTE_MS)
      await world.run('flush')
      const path = join(world.folder, 'events', '000000000001.parquet')
      const bytes = readFileSync(path)
      damage(path)
      await send(BATCHES)
      await sendOther('kept')
      expect(await batchesIn(world)).toEqual([BATCHES])
      expect(await othersIn()).toEqual([200, ['kept']])
      expect(world.warnings).toHaveLength(1)
      expect(world.warnings[0]).toContain(
        'an event file is damaged: 41 rows are excluded from results. events/000000000001.parquet (several organizations',
      )
      for (const start of [async () => {}, () => world.restart()]) {
        await start()
        const { status, body } = await world.call('GET', '/readyz')
        expect([status, body]).toMatchObject([200, { ok: true, damagedFiles: ['000000000001.parquet'] }])
        expect((await world.call('GET', '/metrics')).body).toContain('tagwarden_damaged_files 1')
        expect(await batchesIn(world)).toEqual([BATCHES])
        expect(await othersIn()).toEqual([200, ['kept']])
      }
      expect(world.warnings).toHaveLength(1)
      await world.restart(() => writeFileSync(path, bytes))
      expect(await batchesIn(world)).toEqual([...ALL, BATCHES])
      expect(await othersIn()).toEqual([200, ['kept', 'lost']])
      expect((await world.call('GET', '/readyz')).body.damagedFiles).toEqual([])
    },
  )
})
