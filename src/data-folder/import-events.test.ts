import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { TEST_START, testClock } from '../../test/fixtures.ts'
import { temporaryFolder } from '../../test/run-program.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { SEGMENTS as ALL_SEGMENTS, DERIVED_SEGMENTS, type StoredEvent } from '../core/event.ts'
import { createDomain, setHostnameStatus } from '../domains/store.ts'
import { initialize } from '../org/store.ts'
import { query } from '../warehouse/query.ts'
import { parquetOf } from './import-events.fixture.ts'
import { type Imported, importEvents } from './import-events.ts'
import { openAllStores } from './open-folder.ts'

const NOW = TEST_START
const SEGMENTS = ALL_SEGMENTS.filter((name) => !DERIVED_SEGMENTS.some((derived) => derived === name))
const reports = {
  report(error: unknown) {
    throw error
  },
  log: { info() {}, warn() {} },
  notifyOperator() {},
}

/** A data folder with two domains in one organization. One of the domains denies a host. */
async function openFixture() {
  const folder = temporaryFolder()
  const clock = testClock(NOW)
  const stores = await openAllStores(join(folder.path, 'data'), clock, reports)
  const { db, box, warehouse } = stores
  const owner = { orgName: 'Acme', email: 'a@example.com', password: null }
  const { orgId } = await initialize(db, box, clock, owner)
  const ids = ['a', 'b'].map((name) => createDomain(db, clock, orgId, { name }))
  const [first = '', second = ''] = ids
  setHostnameStatus(db, { orgId, id: first }, 'denied.example', 'denied')
  return {
    folder: folder.path,
    orgId,
    first,
    second,
    stores,
    take(file: string, domainId: string | null = null): Promise<Imported> {
      const order = { files: [file], domainId, from: NOW - 90 * DAY_MS, now: NOW, progress() {} }
      return importEvents(stores, order)
    },
    /** Returns whole events in order. */
    events: (): Promise<StoredEvent[]> =>
      warehouse.query(
        query('test', {
          orgId: null,
          window: { from: 0, to: Number.MAX_SAFE_INTEGER },
          write: () => ({ sql: 'SELECT * EXCLUDE (violated) FROM events ORDER BY seq', wholeParams: true }),
        }),
      ),
    [Symbol.asyncDispose]: async () => {
      await stores.spool.close()
      stores.close()
      folder[Symbol.dispose]()
    },
  }
}

const long = (length: number) => 'x'.repeat(length)
const texts = fc.constantFrom(
  '',
  ' ',
  'a',
  'ä😀',
  "it's",
  '"',
  '\\',
  '\u0000',
  long(100),
  long(101),
  long(200),
  long(201),
)
const numbers = fc.constantFrom(0, 1, -1, 0.5, 42.5, 1e6, 1e6 + 1, 1e21, 2 ** 53)
const values = fc.constantFrom<unknown>(
  '',
  'x',
  'é',
  '5.0',
  '12:30.50',
  '"',
  '{"a": 1}',
  '\u0000',
  long(4000),
  long(4001),
  0,
  1,
  -1,
  42.5,
  42,
  1e21,
  1e-7,
  0.1,
  1 / 3,
  123456789012345,
  1234567890123456,
  -0,
  true,
  false,
  null,
)
const nested = fc.oneof(
  { weight: 6, arbitrary: values },
  fc.constantFrom<unknown>({}, [], { id: 7, deep: { x: 'y' } }, [1, [2]], { 'a.b': 1 }),
)
const keys = fc.constantFrom(
  'a',
  'A',
  'value',
  'transaction_id',
  'a.b',
  '',
  ' ',
  '$x',
  'é',
  long(200),
  long(201),
  '__proto__x',
)

/** A line in a file: usually valid, often unusual, sometimes invalid. */
const aLine = (domains: readonly string[]) =>
  fc.record(
    {
      receivedAt: fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: NOW - 3 * HOUR_MS, max: NOW }) },
        fc.constantFrom(NOW + 1, NOW - 91 * DAY_MS, -5, NOW - 1.5, (NOW - MINUTE_MS) / 1000),
      ),
      vendor: fc.oneof({ weight: 5, arbitrary: fc.constantFrom('Google Analytics 4', 'Meta Pixel') }, texts),
      domainId: fc.constantFrom(...domains, ...domains, 'dom_other'),
      id: texts,
      ts: fc.oneof(
        fc.integer({ min: 0, max: NOW + 2 * DAY_MS }),
        // One minute ago, in every unit.
        fc.constantFrom(-1, 0.5, 5000, 20_260_101, ...[0.001, 1, 1000].map((unit) => (NOW - MINUTE_MS) * unit)),
      ),
      env: fc.constantFrom('prod', 'dev', 'test'),
      event: texts,
      account: texts,
      kind: fc.constantFrom('event', 'hit', 'tag', 'library', 'other'),
      host: fc.constantFrom(
        'shop.example',
        'Shop.Example',
        'denied.example',
        '127.1',
        'a b',
        '',
        'xn--a',
        'é.example',
        'x.',
      ),
      path: fc.constantFrom('/', '/a?b=c', '/a#b', '', '/ä', 'x'),
      title: texts,
      sessionId: texts,
      customerId: texts,
      status: fc.constantFrom('ok', 'failure', 'exception', 'timeout', 'blocked', 'bad'),
      execMs: numbers,
      durMs: numbers,
      bytes: numbers,
      version: numbers,
      weight: numbers,
      browser: fc.constantFrom('Safari', 'Chrome', "it's", ''),
      browserVersion: fc.constantFrom('18', '126', '1'.repeat(21)),
      os: fc.constantFrom('iOS', 'Windows', 'é'),
      device: fc.constantFrom('phone', 'desktop', 'tablet', 'bot', 'tv'),
      language: fc.constantFrom('de', 'DE', 'de-CH', 'german', ''),
      country: fc.constantFrom('CH', 'ch', 'CHE'),
      consent: fc.constantFrom('granted', 'denied', 'unknown'),
      visitor: fc.constantFrom('new', 'returning'),
      params: fc.dictionary(keys, nested, { maxKeys: 4, noNullPrototype: true }),
    },
    { requiredKeys: ['receivedAt', 'vendor', 'domainId'] },
  )

/** Column types of a Parquet file that contains these lines. */
const TYPES: Record<string, string> = {
  receivedAt: 'DOUBLE',
  ts: 'DOUBLE',
  execMs: 'DOUBLE',
  durMs: 'DOUBLE',
  bytes: 'DOUBLE',
  version: 'DOUBLE',
  weight: 'DOUBLE',
  ...Object.fromEntries(
    ['vendor', 'domainId', 'id', 'env', 'event', 'account', 'kind', 'host', 'path', 'title', 'sessionId'].map(
      (name) => [name, 'VARCHAR'],
    ),
  ),
  customerId: 'VARCHAR',
  status: 'VARCHAR',
  ...Object.fromEntries(SEGMENTS.map((name) => [name, 'VARCHAR'])),
  params: 'VARCHAR',
}

const stored = ({ seq: _seq, id, ...event }: StoredEvent) => ({ ...event, id: id.startsWith('evt_') ? '' : id })

describe('an imported event', () => {
  test('is stored or rejected identically as an NDJSON line and as a Parquet row', async () => {
    await using probe = await openFixture()
    const lines = fc.sample(aLine([probe.first, probe.second]), { numRuns: 4000, seed: 7 })
    const path = join(probe.folder, 'lines.ndjson')
    await Bun.write(path, lines.map((line) => JSON.stringify(line)).join('\n'))
    const inLines = await probe.take(path)
    const fromLines = await probe.events()
    expect(inLines.imported).toBeGreaterThan(100)
    expect(inLines.refused).toBeGreaterThan(1000)

    // Written a second time with parameters as a string, which the engine reads unchanged.
    const flat = lines.map((line) => JSON.stringify({ ...line, params: line.params && JSON.stringify(line.params) }))
    await Bun.write(path, flat.join('\n'))
    const columns = Object.entries(TYPES).map(([name, type]) => `${name}: '${type}'`)
    const rows = join(probe.folder, 'rows.parquet')
    await parquetOf(
      rows,
      `SELECT * FROM read_json('${path}', format = 'newline_delimited', columns = {${columns.join(', ')}})`,
    )
    await using other = await openFixture()
    // Each folder has different domain ids.
    const own = join(other.folder, 'own.parquet')
    const idOf = `CASE domainId WHEN '${probe.first}' THEN '${other.first}' WHEN '${probe.second}' THEN '${other.second}' ELSE domainId END`
    await parquetOf(own, `SELECT * REPLACE (${idOf} AS domainId) FROM '${rows}'`)
    const inRows = await other.take(own)
    const names = (event: StoredEvent, ids: { first: string; second: string; orgId: string }) => ({
      ...stored(event),
      orgId: 'org',
      domainId: event.domainId === ids.first ? 'first' : 'second',
      // Each organization has a different salt.
      customerId: event.customerId === null ? null : 'hashed',
    })
    const fromRows = await other.events()
    expect(fromRows.map((event) => names(event, other))).toEqual(fromLines.map((event) => names(event, probe)))
    expect({ imported: inRows.imported, refused: inRows.refused }).toEqual({
      imported: inLines.imported,
      refused: inLines.refused,
    })
    expect(inRows.errors.map(({ line, error }) => [line, error])).toEqual(
      inLines.errors.map(({ line, error }) => [line, error]),
    )
  })

  test('from a Parquet file may have a parameter map, timestamps, and null in unknown columns', async () => {
    await using probe = await openFixture()
    const path = join(probe.folder, 'a.parquet')
    await parquetOf(
      path,
      `SELECT make_timestamp(${NOW - HOUR_MS}::BIGINT * 1000) AS receivedAt, 'Shop' AS vendor, NULL::INTEGER AS unknown,
         MAP {'a': 'b', 'c': ''} AS params, 'NaN'::FLOAT AS durMs, 7::TINYINT AS version, 1.5::DECIMAL(4, 2) AS weight`,
    )
    expect(await probe.take(path, probe.second)).toMatchObject({ imported: 1, refused: 0 })
    expect(await probe.events()).toMatchObject([
      {
        receivedAt: NOW - HOUR_MS,
        ts: NOW - HOUR_MS,
        domainId: probe.second,
        params: { a: 'b', c: '' },
        durMs: null,
        version: 7,
        weight: 1.5,
        env: 'prod',
        kind: 'event',
        event: '',
      },
    ])
  })

  test.each(['ndjson', 'parquet'])('has the segments of Google Analytics’ export, from %s', async (form) => {
    await using probe = await openFixture()
    const line = {
      receivedAt: NOW - HOUR_MS,
      vendor: 'Google Analytics 4',
      path: '/p/4711',
      version: 12,
      device: {
        category: 'mobile',
        operating_system: 'Macintosh',
        language: 'de-ch',
        web_info: { browser: 'Safari', browser_version: '18.1' },
      },
      geo: { country: 'Switzerland', city: 'Bern' },
      privacy_info: { analytics_storage: 'Yes', ads_storage: 'No' },
    }
    const path = join(probe.folder, 'a.ndjson')
    await Bun.write(path, JSON.stringify(line))
    const rows = join(probe.folder, 'a.parquet')
    await parquetOf(rows, `SELECT * FROM read_json('${path}', format = 'newline_delimited')`)
    expect(await probe.take(form === 'ndjson' ? path : rows, probe.second)).toMatchObject({ imported: 1, refused: 0 })
    expect(await probe.events()).toMatchObject([
      {
        browser: 'Safari',
        browserVersion: '18',
        os: 'macOS',
        device: 'phone',
        language: 'de',
        country: 'CH',
        consent: 'denied',
        visitor: null,
        release: '12',
        pageGroup: '/p/:id',
      },
    ])
  })

  test('can have its segments in an object, as in the API’s answers', async () => {
    await using probe = await openFixture()
    const path = join(probe.folder, 'a.ndjson')
    const segments = { browser: 'Edge', device: null, country: 'de', release: '1', pageGroup: '/other' }
    await Bun.write(
      path,
      JSON.stringify({ receivedAt: NOW - HOUR_MS, vendor: 'V', path: '/cart', os: 'Windows', segments }),
    )
    expect(await probe.take(path, probe.second)).toMatchObject({ imported: 1, refused: 0 })
    expect(await probe.events()).toMatchObject([
      { browser: 'Edge', os: 'Windows', device: null, country: 'DE', release: null, pageGroup: '/cart' },
    ])
  })

  test('from a Parquet file is rejected for an unknown column, even one named like an Object property', async () => {
    await using probe = await openFixture()
    const path = join(probe.folder, 'a.parquet')
    await parquetOf(path, `SELECT ${NOW - HOUR_MS} AS receivedAt, 'Shop' AS vendor, 'x' AS "constructor"`)
    const { errors } = await probe.take(path, probe.second)
    expect(errors).toMatchObject([{ error: 'constructor: there is no such field' }])
  })

  test('has a unique sequence number in chronological order, even at the same instant as existing events', async () => {
    await using probe = await openFixture()
    const write = (name: string, times: readonly number[]) => {
      const lines = times.map((receivedAt, n) => JSON.stringify({ receivedAt, vendor: name, id: `${name}${n}` }))
      return Bun.write(join(probe.folder, `${name}.ndjson`), lines.join('\n'))
    }
    const at = NOW - 2 * HOUR_MS
    const end = Math.floor(at / HOUR_MS) * HOUR_MS + HOUR_MS - 1
    const sets = {
      dense: Array.from({ length: 3000 }, () => at),
      close: Array.from({ length: 3000 }, (_, n) => at + (n % 4)),
      // The sequence numbers of these events extend into the next hour.
      end: Array.from({ length: 2500 }, () => end),
      next: Array.from({ length: 2500 }, (_, n) => end + (n % 3)),
      back: Array.from({ length: 500 }, (_, n) => NOW - n * MINUTE_MS),
    }
    for (const [name, times] of Object.entries(sets)) {
      await write(name, times)
      await probe.take(join(probe.folder, `${name}.ndjson`), probe.first)
    }
    const events = await probe.events()
    expect(events).toHaveLength(11_500)
    expect(new Set(events.map(({ seq }) => seq)).size).toBe(events.length)
    for (const { seq, receivedAt } of events) expect(seq).toBeGreaterThanOrEqual(receivedAt * 1000)
    for (const own of Map.groupBy(events, ({ vendor }) => vendor).values()) {
      const inTime = own.toSorted(
        (a, b) => a.receivedAt - b.receivedAt || Number(a.id.match(/\d+/)) - Number(b.id.match(/\d+/)),
      )
      expect(own.map(({ id }) => id)).toEqual(inTime.map(({ id }) => id))
    }
    expect(probe.stores.spool.latest.seq).toBe(0)
  })
})
