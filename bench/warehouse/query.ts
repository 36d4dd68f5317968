import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { HOUR_MS, systemClock } from '../../src/core/clock.ts'
import { openDatabase } from '../../src/store/database.ts'
import { compactEvents } from '../../src/warehouse/duckdb/compact-events.ts'
import { DuckdbWarehouse } from '../../src/warehouse/duckdb/duckdb-warehouse.ts'
import { Manifest } from '../../src/warehouse/duckdb/manifest.ts'
import { query } from '../../src/warehouse/query.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { medianMs } from '../tools/percentiles.ts'

const EVENTS = sized(2_000_000, 20_000)
const SEGMENT_EVENTS = sized(100_000, 10_000)
const FRESH_EVENTS = sized(10_000, 1000)
const FRESH_FILES = 3
const SPOOL_EVENTS = sized(5_000, 500)
const RUNS = sized(31, 3)
const KEY = 'transaction_id'

const ORG = 'org_01k9m2c4d0e0f0g0h0j0k0m0n0'
const VENDORS = ['Google Analytics 4', 'Meta Pixel', 'Matomo', 'TikTok Pixel', 'Segment']
const NAMES = ['page_view', 'purchase', 'add_to_cart', 'scroll', 'view_item', 'login', 'search']

/** Returns one event in the format of the spool. One event in fifty lacks the key. */
function eventLine(n: number, receivedAt: number): string {
  return JSON.stringify({
    receivedAt,
    orgId: ORG,
    domainId: `dom_01k9m2c4d0e0f0g0h0j0k0m0${n % 20}`,
    host: 'shop.example',
    path: `/product/${n % 500}`,
    sessionId: `s${n % 100_000}`,
    seq: receivedAt * 1000 + (n % 1000),
    id: [`e${n}`],
    vendor: [VENDORS[n % VENDORS.length]],
    event: [NAMES[n % NAMES.length]],
    account: ['G-ABCDE12345'],
    status: ['ok'],
    params: [
      {
        ...(n % 50 === 0 ? {} : { [KEY]: `T-${n % 1000}` }),
        currency: 'EUR',
        value: String(n % 997),
        page_title: 'Checkout',
        client_id: String((n * 7919) % 400_000),
        language: 'en-us',
        item_id: `SKU${n % 300}`,
        coupon: n % 9 === 0 ? 'SPRING' : '',
        step: String(n % 5),
        list: 'related',
        variant: 'b',
        stock: 'yes',
      },
    ],
  })
}

function writeSegment(path: string, first: number, count: number, receivedAt: (n: number) => number): void {
  writeFileSync(path, '')
  for (let start = first; start < first + count; start += 20_000) {
    const end = Math.min(first + count, start + 20_000)
    let text = ''
    for (let n = start; n < end; n++) text += `${eventLine(n, receivedAt(n))}\n`
    appendFileSync(path, text)
  }
}

/** Measures a count by one key in the warehouse, compared with the same count on a plain DuckDB column. */
export async function benchQuery(): Promise<Budget[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-bench-'))
  const events = join(folder, 'events')
  mkdirSync(events)
  const db = openDatabase(join(folder, 'tagwarden.db'))
  const manifest = new Manifest(db)
  const spool: string[] = []
  const warehouse = await DuckdbWarehouse.open({
    folder: events,
    manifest,
    clock: systemClock,
    spoolFiles: () => spool,
  })
  try {
    const now = Date.now()
    const lastHour = Math.floor(now / HOUR_MS) * HOUR_MS - 2 * HOUR_MS
    const inLastHour = (n: number) => lastHour + Math.floor((n / EVENTS) * HOUR_MS)
    let name = 0
    const load = async (first: number, count: number, receivedAt: (n: number) => number) => {
      const segment = { name: String(++name).padStart(12, '0'), path: join(folder, 'segment.ndjson') }
      writeSegment(segment.path, first, count, receivedAt)
      await warehouse.load(
        segment,
        () => {},
        () => {},
      )
    }
    for (let first = 0; first < EVENTS; first += SEGMENT_EVENTS) await load(first, SEGMENT_EVENTS, inLastHour)
    const started = performance.now()
    await compactEvents({ parquet: warehouse.parquet, manifest: manifest, folder: events }, now)
    console.log(`  compacted ${EVENTS} events in ${Math.round(performance.now() - started)} ms`)

    await warehouse.parquet.run(
      `COPY (SELECT * EXCLUDE (params, "p:${KEY}"), "p:${KEY}" AS ${KEY} FROM
       read_parquet('${events}/c*.parquet') ORDER BY receivedAt) TO '${folder}/plain.parquet' (FORMAT parquet, COMPRESSION zstd)`,
    )
    const isBlank = (column: string) => `trim(coalesce(${column}, '')) = ''`
    const engine = await DuckDBInstance.create(':memory:', { threads: String(Math.min(4, availableParallelism())) })
    const duckdb = await engine.connect()
    const plain = async () => {
      const answer = await duckdb.runAndReadAll(
        `SELECT count(*) FROM read_parquet('${folder}/plain.parquet') WHERE ${isBlank(KEY)}`,
      )
      return Number(answer.getRowsJS()[0]?.[0])
    }
    const ours = () =>
      warehouse.query<{ count: number }>(
        query('bench.blank', {
          orgId: ORG,
          window: { from: lastHour, to: now },
          write: ({ dialect }) => ({
            sql: `SELECT count(*) AS count FROM events WHERE ${isBlank(dialect.key(KEY))}`,
            keys: [KEY],
          }),
        }),
      )
    const compactedOnly = {
      plainMs: await medianMs('plain', plain, RUNS),
      oursMs: await medianMs('compacted', ours, RUNS),
    }
    for (let file = 0; file < FRESH_FILES; file++) await load(file * FRESH_EVENTS, FRESH_EVENTS, () => now - 10_000)
    spool.push(join(folder, 'open.ndjson'))
    writeSegment(spool[0] ?? '', 0, SPOOL_EVENTS, () => now - 1000)
    const withFresh = {
      plainMs: await medianMs('plain', plain, RUNS),
      oursMs: await medianMs('with spool and fresh files', ours, RUNS),
    }
    const expected = await plain()
    const [counted] = await ours()
    const beside = (FRESH_FILES * FRESH_EVENTS + SPOOL_EVENTS) / 50
    return [
      budget('counts agree (ours - plain - others)', (counted?.count ?? 0) - expected - beside, 'is', 0),
      budget(
        'one key, 2 M compacted events / plain column',
        compactedOnly.oursMs / compactedOnly.plainMs,
        'at most',
        1.5,
      ),
      budget(
        'one key, with an open spool and fresh files / plain column',
        withFresh.oursMs / withFresh.plainMs,
        'at most',
        5,
      ),
    ]
  } finally {
    warehouse.close()
    db.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
