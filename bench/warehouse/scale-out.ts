import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { alertOf } from '../../src/alerts/alert.fixture.ts'
import { measuredTypeOf } from '../../src/alerts/types/index.ts'
import { filtersSql } from '../../src/conditions/condition-sql.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/clock.ts'
import { eventDictionary } from '../../src/insights/event-dictionary.ts'
import type { Sources } from '../../src/insights/insight.ts'
import { sessionFlows } from '../../src/insights/session-flows.ts'
import { openDatabase } from '../../src/store/database.ts'
import { ClickhouseHistory } from '../../src/warehouse/clickhouse/clickhouse-history.ts'
import { insertFiles } from '../../src/warehouse/clickhouse/insert-files.ts'
import { DuckdbWarehouse } from '../../src/warehouse/duckdb/duckdb-warehouse.ts'
import { Manifest } from '../../src/warehouse/duckdb/manifest.ts'
import { query } from '../../src/warehouse/query.ts'
import type { History } from '../../src/warehouse/warehouse.ts'
import { ClickhouseServer, clickhouseProblem } from '../../test/engine/clickhouse-server.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { quantile } from '../tools/percentiles.ts'
import { client, cpuMsOf, load, makeFolder, start, tagwarden } from '../tools/server.ts'
import { fillMonth, MONTH_END } from './generated-month.ts'

const ORG = 'org_bench'
const DOMAINS = ['dom_1', 'dom_2', 'dom_3', 'dom_4']
const HOURS = sized(Number(process.env.BENCH_HOURS ?? 7 * 24), 24)
/** Number of times that each query runs on each engine, in turns. The median is used. */
const RUNS = sized(3, 1)
/** A core of ClickHouse does less. Dictionaries exceed this, because the embedded files store parameters in columns. */
const MAX_RATIO = 5
const ALERTS = sized(1000, 20)
/** One event in this many violates one of a hundred alerts. */
const VIOLATING = 100
const LOAD_SECONDS = sized(Number(process.env.BENCH_SECONDS ?? 10), 0.4)
const LOAD_TURNS = sized(3, 1)

/** Rights and limits that don't restrict the load. */
const NO_LIMITS = { TAGWARDEN_RATE_COLLECT_PER_SECOND: '10000000', TAGWARDEN_LOG_LEVEL: 'error' }

/** The same events in both engines. */
interface BothEngines {
  duckdb: DuckdbWarehouse
  clickhouse: ClickhouseHistory
  server: ClickhouseServer
}

const window = (hours: number) => ({ from: MONTH_END - hours * HOUR_MS, to: MONTH_END })

/** Questions by name. Each runs on both engines. */
const QUESTIONS: Readonly<Record<string, (history: History) => Promise<unknown>>> = {
  'dictionary 24 h': (history) => eventDictionary.answer(sourcesOf(history), { hours: 24 }, CALLER),
  [`dictionary ${HOURS} h`]: (history) => eventDictionary.answer(sourcesOf(history), { hours: HOURS }, CALLER),
  [`by hour with a filter, ${HOURS} h`]: (history) =>
    history.query(
      query('bench.filtered-hours', {
        orgId: ORG,
        window: window(HOURS),
        write(binder) {
          const test = filtersSql([{ parameter: 'currency', op: 'equals', values: ['EUR'] }], binder)
          const hour = binder.dialect.quotient('receivedAt', HOUR_MS)
          return {
            ...test,
            sql: `SELECT ${hour} AS hour, count(*) AS events FROM events WHERE ${test.sql} GROUP BY ${hour}`,
          }
        },
      }),
    ),
  [`top values, ${HOURS} h`]: (history) =>
    history.query(
      query('bench.top-values', {
        orgId: ORG,
        window: window(HOURS),
        write({ dialect }) {
          const key = dialect.key('item_id')
          const sql = `SELECT ${key} AS text, count(*) AS events FROM events WHERE ${key} IS NOT NULL
            GROUP BY text ORDER BY events DESC, text LIMIT 20`
          return { sql, keys: ['item_id'] }
        },
      }),
    ),
  'flows 24 h': (history) => sessionFlows.answer(sourcesOf(history), { hours: 24 }, CALLER),
  'flows 72 h': (history) => sessionFlows.answer(sourcesOf(history), { hours: 72 }, CALLER),
  [`violations of ${ALERTS} alerts, 1 h`]: (history) => judge(history, 1),
  [`violations of ${ALERTS} alerts, ${HOURS} h`]: (history) => judge(history, HOURS),
}

const CALLER = {
  principal: {
    via: 'key',
    userId: 'usr_1',
    orgId: ORG,
    role: 'owner',
    readOnly: false,
    keyId: null,
    sessionId: null,
  },
  now: MONTH_END,
} as const

function sourcesOf(history: History): Sources {
  const db = openDatabase(':memory:')
  const none = () => Promise.reject(new Error('no signals are measured'))
  return {
    db,
    history,
    seriesMonitor: { chart: none, charts: none, forHistory: none, signals: none, verdicts: none } as never,
    watermark: () => MONTH_END,
    retentionMs: 90 * DAY_MS,
    maxEventsRead: Number.POSITIVE_INFINITY,
    domains: () => DOMAINS.map((id) => ({ id, createdAt: 0 })),
    privacy: () => PLAIN_PRIVACY,
    chart: none,
  }
}

const alerts = Array.from({ length: ALERTS }, (_, n) =>
  alertOf(
    {
      name: `Rule ${n}`,
      alertType: 'data_validation',
      domainIds: [DOMAINS[n % DOMAINS.length] ?? ''],
      conditions: { logic: 'any', items: [{ parameter: 'value', op: 'equals', values: [String(n)] }] },
      period: '1h',
      channels: [{ type: 'email', target: 'ops@example.com' }],
    },
    `alr_${n}`,
    ORG,
  ),
)

async function judge(history: History, hours: number): Promise<void> {
  const type = measuredTypeOf('data_validation')
  const whole = { ...window(hours), complete: true }
  const domains = DOMAINS.map((id) => ({ id, createdAt: 0 }))
  const rows = await history.query<unknown>(type.measure(alerts, whole, domains))
  for (const alert of alerts) type.judge(alert, rows, whole, domains)
}

/** Compares the embedded engine and one ClickHouse server. */
export async function benchScaleOut(): Promise<Budget[]> {
  const problem = clickhouseProblem()
  if (problem !== null) throw new Error(`ClickHouse can't be loaded: ${problem}`)
  const [server] = await ClickhouseServer.open()
  if (!server) throw new Error('no server')
  try {
    return [...(await compareHistories(server)), ...(await compareIngest(server))]
  } finally {
    await server[Symbol.asyncDispose]()
  }
}

async function compareHistories(server: ClickhouseServer): Promise<Budget[]> {
  const root = mkdtempSync(join(tmpdir(), 'tagwarden-bench-'))
  const folder = join(root, 'events')
  mkdirSync(folder)
  const db = openDatabase(join(root, 'tagwarden.db'))
  const manifest = new Manifest(db)
  const clock = { now: () => MONTH_END }
  const limits = { timeoutMs: 300_000 }
  const duckdb = await DuckdbWarehouse.open({ folder, manifest, clock, spoolFiles: () => [], ...limits })
  try {
    let insertMs = 0
    const violations = `CASE WHEN n % ${VIOLATING} = 0 THEN ['alr_' || (n // ${VIOLATING} % ${ALERTS / 10})] END`
    const events = await fillMonth(duckdb, manifest, folder, {
      orgId: ORG,
      domainIds: DOMAINS,
      hours: HOURS,
      violations,
      async written(files, hour) {
        const before = cpuMsOf(server.pid)
        await insertFiles(server.client, { ...files, pages: null }, `hour-${hour}`)
        insertMs += cpuMsOf(server.pid) - before
      },
    })
    const before = cpuMsOf(server.pid)
    await server.client.run('OPTIMIZE TABLE events FINAL')
    const mergeMs = cpuMsOf(server.pid) - before
    const both = { duckdb, clickhouse: new ClickhouseHistory({ client: server.client, clock, ...limits }), server }
    const bytes = {
      duckdb: manifest.files().reduce((sum, file) => sum + file.sizeBytes, 0) / events,
      clickhouse: (await bytesOf(server)) / events,
    }
    const perEvent = (ms: number) => `${((ms * 1000) / events).toFixed(1)} µs`
    console.log(
      `  ${events} events in ${HOURS} h: ${bytes.duckdb.toFixed(1)} bytes an event embedded, ${bytes.clickhouse.toFixed(1)} in ClickHouse, ` +
        `${perEvent(insertMs)} for inserts and merges at the same time, ${perEvent(mergeMs)} for merges afterwards`,
    )
    return [
      budget('bytes an event, embedded', bytes.duckdb, 'at most', 30),
      budget('bytes an event, ClickHouse / embedded', bytes.clickhouse / bytes.duckdb, 'at most', 3),
      budget('insert into ClickHouse, µs of processor time an event', (insertMs * 1000) / events, 'at most', 100),
      ...(await compareQuestions(both)),
    ]
  } finally {
    duckdb.close()
    db.close()
    rmSync(root, { recursive: true, force: true })
  }
}

async function bytesOf({ client }: ClickhouseServer): Promise<number> {
  const [row] = await client.select<{ bytes: number }>(
    "SELECT toInt64(sum(bytes_on_disk)) AS bytes FROM system.parts WHERE active AND table = 'events'",
  )
  return row?.bytes ?? Number.NaN
}

/** Compares the processor time of both processes, because other programs may run. */
async function compareQuestions({ duckdb, clickhouse, server }: BothEngines): Promise<Budget[]> {
  const used = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000 + cpuMsOf(server.pid)
  }
  const ratios: Budget[] = []
  for (const [name, ask] of Object.entries(QUESTIONS)) {
    const times: { own: number[]; other: number[] } = { own: [], other: [] }
    // The first run reads the files and isn't counted.
    for (let run = 0; run <= RUNS; run++) {
      for (const [history, list] of [
        [duckdb, times.own],
        [clickhouse, times.other],
      ] as const) {
        const before = used()
        await ask(history)
        if (run > 0) list.push(used() - before)
      }
    }
    const [own, other] = [quantile(times.own, 0.5), quantile(times.other, 0.5)]
    console.log(`  ${name}: embedded ${own.toFixed(0)} ms, ClickHouse ${other.toFixed(0)} ms of processor time`)
    ratios.push(budget(`${name}, ClickHouse / embedded`, other / own, 'at most', MAX_RATIO))
  }
  return ratios
}

/** Compares the requests per second of a server with each engine, in turns. */
async function compareIngest(clickhouse: ClickhouseServer): Promise<Budget[]> {
  const rates: { files: number[]; clickhouse: number[] } = { files: [], clickhouse: [] }
  const engines = [
    { list: rates.files, env: {} },
    { list: rates.clickhouse, env: { TAGWARDEN_WAREHOUSE: clickhouse.url } },
  ]
  for (let turn = 0; turn < LOAD_TURNS; turn++) {
    for (const { list, env } of engines) list.push(await ingestRate(env))
  }
  const [files, other] = [quantile(rates.files, 0.5), quantile(rates.clickhouse, 0.5)]
  console.log(`  ${Math.round(files)} requests/s embedded, ${Math.round(other)} with ClickHouse on the same machine`)
  return [
    budget('requests/s of a server with ClickHouse on the same machine / embedded', other / files, 'at least', 0.3),
  ]
}

async function ingestRate(env: Record<string, string>): Promise<number> {
  const { folder, key, remove } = await makeFolder()
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), { ...NO_LIMITS, ...env })
  try {
    const { token } = await client(server.url, key)<{ token: string }>('POST', '/v1/domains', { name: 'bench.example' })
    const { requests, failures, seconds } = await load(server.url, {
      token,
      connections: 32,
      seconds: LOAD_SECONDS,
      client: 'ordinary',
    })
    if (failures > 0) throw new Error(`${failures} requests failed`)
    return requests / seconds
  } finally {
    await server.stop()
    remove()
  }
}
