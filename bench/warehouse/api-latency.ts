import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { MINUTE_MS, SECOND_MS, systemClock } from '../../src/core/clock.ts'
import type { TObject } from '../../src/core/schema.ts'
import { openStores } from '../../src/data-folder/open-folder.ts'
import { createDomain, findDomain } from '../../src/domains/store.ts'
import { insights } from '../../src/insights/index.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { medianMs } from '../tools/percentiles.ts'
import { client, type Measured, makeFolder, start, tagwarden } from '../tools/server.ts'
import { writePastEvents } from './past-events.ts'
import { openPlainMonth, type PlainMonth } from './plain-month.ts'

const EVENTS = sized(Number(process.env.BENCH_EVENTS ?? 10_000_000), 20_000)
const DAYS = sized(30, 1)
const DOMAINS = 4
/** Number of times that each query is sent. The median is used. */
const RUNS = sized(3, 1)
const AT_ONCE = 6
const PROBE_MS = 250
/** A server is considered idle once it has used less than a fifth of a core in every second of this period. */
const [REST_MS, ACTIVE_SHARE, LONGEST_REST_MS] = [sized(8, 0.1) * SECOND_MS, 0.2, sized(5 * MINUTE_MS, SECOND_MS)]
/**
 * A response may take up to this many times as long as the same query in plain DuckDB, if that is longer than the fixed
 * limit.
 */
const TIMES_PLAIN = 1.3
/** Queries with a longer time limit, in ms. */
const SLOWER_MS: Record<string, number> = { '/v1/insights/suggestions': 5 * SECOND_MS }

type Call = ReturnType<typeof client>

/** A query with its default window or its largest one. */
interface Question {
  /** Path of the insight, without parameters. */
  own: string
  /** Path with query parameters. */
  path: string
  window: 'default' | 'largest'
  /** Length of the window; null if the query has no window in hours. */
  hours: number | null
  boundMs: number
}

/** Imports a month with 10 million events into the executable and sends it every query. */
export async function benchApiLatency(): Promise<Budget[]> {
  const { folder, key, remove } = await makeFolder()
  try {
    const { domainIds, token } = makeDomains(folder)
    const { imported, plain } = await importMonth(folder, domainIds)
    const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), {
      TAGWARDEN_LOG_LEVEL: 'error',
      TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000',
    })
    try {
      const call = client(server.url, key)
      const restedMs = await rest(server)
      const questions = questionsFor(domainIds[0] ?? '').slice(0, sized(Number.POSITIVE_INFINITY, 16))
      const answered = await answers(call, questions, plain)
      const beside = await whileSixQuery(call, server, { key, token, domainId: domainIds[0] ?? '' }, answered.slowest)
      return [
        ...imported,
        budget('time from the start until all imported events are scanned, ms', restedMs, 'at most', MINUTE_MS),
        ...answered.budgets,
        ...beside,
        budget('peak memory of the server, MB', server.peakMb(), 'at most', 900),
      ]
    } finally {
      await server.stop()
      plain.close()
    }
  } finally {
    remove()
  }
}

/**
 * Resolves once the server has finished its background work, such as scanning imported events for personal data,
 * consent and releases. Returns the time that this took.
 */
export async function rest(server: Measured): Promise<number> {
  const startedAt = performance.now()
  let activeAt = startedAt
  while (performance.now() - activeAt < REST_MS && performance.now() - startedAt < LONGEST_REST_MS) {
    const before = server.cpuMs()
    await Bun.sleep(SECOND_MS)
    if (server.cpuMs() - before > ACTIVE_SHARE * SECOND_MS) activeAt = performance.now()
  }
  return activeAt - startedAt
}

function makeDomains(folder: string): { domainIds: string[]; token: string } {
  const { db } = openStores(folder)
  const orgId = db.prepare<[], string>('SELECT id FROM org').pluck().get() ?? ''
  const domainIds = Array.from({ length: DOMAINS }, (_, n) =>
    createDomain(db, systemClock, orgId, { name: `shop ${n}` }),
  )
  const { token } = findDomain(db, { orgId, id: domainIds[0] ?? '' }, systemClock.now())
  db.close()
  return { domainIds, token }
}

async function importMonth(
  folder: string,
  domainIds: readonly string[],
): Promise<{ imported: Budget[]; plain: PlainMonth }> {
  const file = join(folder, 'month.parquet')
  const until = systemClock.now() - MINUTE_MS
  await writePastEvents(file, { events: EVENTS, days: DAYS, until, domainIds, params: 'map' })
  const startedAt = performance.now()
  const child = Bun.spawn(tagwarden('import', 'events', file, '--data', folder, '--json'), {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { imported: taken } = JSON.parse(await new Response(child.stdout).text()) as { imported: number }
  await child.exited
  const seconds = (performance.now() - startedAt) / SECOND_MS
  const peakMb = (child.resourceUsage()?.maxRSS ?? 0) / 2 ** 20
  const plain = await openPlainMonth(file, join(folder, 'plain.parquet'))
  rmSync(file)
  const imported = [
    budget('events imported', taken, 'is', EVENTS),
    budget('events imported per second', taken / seconds, 'at least', 50_000),
    budget('peak memory of the import, MB', peakMb, 'at most', 1000),
  ]
  return { imported, plain }
}

/** Query fields that an insight needs, by path. */
const NEEDED: Readonly<Record<string, (domainId: string) => Record<string, string>>> = {
  '/v1/insights/compare': (domainId) => ({ domainId, aEnv: 'prod', bEnv: 'dev' }),
}

/** Returns every insight with its default window and, if it has a window, also with its largest one. */
function questionsFor(domainId: string): Question[] {
  return insights.flatMap(({ path, input }): Question[] => {
    const own = `/v1${path.replace('{id}', domainId)}`
    const boundMs = (fallback: number) => SLOWER_MS[own] ?? fallback
    const properties = (input as TObject | undefined)?.properties ?? {}
    const isNeeded = (input as TObject | undefined)?.required?.includes('domainId')
    const needed = { ...(isNeeded && { domainId }), ...NEEDED[own]?.(domainId) }
    const asked = (query: Record<string, string>) => `${own}?${new URLSearchParams({ ...needed, ...query })}`
    const field = ['hours', 'days'].find((name) => name in properties)
    const most = field && properties[field]?.maximum
    const hoursOf = (hours: number) => (field === 'hours' ? hours : null)
    const question: Question = {
      own,
      path: asked({}),
      window: 'default',
      boundMs: boundMs(SECOND_MS / 2),
      hours: field ? hoursOf(properties[field]?.default) : null,
    }
    if (!field || !most) return [question]
    const largest: Question = {
      own,
      path: asked({ [field]: String(most) }),
      window: 'largest',
      boundMs: boundMs(3 * SECOND_MS),
      hours: hoursOf(most),
    }
    return [question, largest]
  })
}

async function answers(
  call: Call,
  questions: readonly Question[],
  plain: PlainMonth,
): Promise<{ budgets: Budget[]; slowest: string[] }> {
  const largest: { path: string; ms: number }[] = []
  const budgets: Budget[] = []
  for (const { own, path, window, hours, boundMs } of questions) {
    const ms = await medianMs(`${own}, ${window}`, () => call('GET', path), RUNS)
    const plainMs =
      hours === null || !plain.knows(own) ? null : await medianMs('  plain DuckDB', () => plain.ask(own, hours), RUNS)
    const beside = plainMs === null ? '' : ` (${(ms / plainMs).toFixed(2)} × plain DuckDB)`
    const bound = Math.max(boundMs, Math.floor(TIMES_PLAIN * (plainMs ?? 0)))
    budgets.push(budget(`${own}, ${window} window, ms${beside}`, ms, 'at most', bound))
    if (window === 'largest') largest.push({ path, ms })
  }
  const slowest = largest.sort((a, b) => b.ms - a.ms).slice(0, AT_ONCE)
  return { budgets, slowest: slowest.map(({ path }) => path) }
}

/**
 * Measures the time to open an issue and the time of a search while the six most expensive queries are sent
 * continuously.
 */
async function whileSixQuery(
  call: Call,
  server: Measured,
  { key, token, domainId }: { key: string; token: string; domainId: string },
  questions: readonly string[],
): Promise<Budget[]> {
  let isOver = false
  const headers = { authorization: `Bearer ${key}` }
  const asking = questions.map(async (path) => {
    // A query may also be rejected because too many are already running.
    while (!isOver) await fetch(server.url + path, { headers }).then((response) => response.text())
  })
  await call('POST', '/v1/alerts', {
    name: 'Bench',
    alertType: 'data_validation',
    period: '1h',
    domainId,
    conditions: { logic: 'any', items: [{ parameter: 'broken', op: 'equals', values: ['yes'] }] },
    channels: [{ type: 'email', target: 'owners' }],
  })
  const sentAt = performance.now()
  const batch = { events: [{ vendor: 'Bench', event: 'x', params: { broken: 'yes' } }] }
  await fetch(`${server.url}/api/v1/events?token=${token}`, { method: 'POST', body: JSON.stringify(batch) })
  let [openedMs, searchMs] = [0, 0]
  while (openedMs === 0 && performance.now() - sentAt < MINUTE_MS) {
    const askedAt = performance.now()
    await call('GET', `/v1/events?domainId=${domainId}&limit=20`)
    searchMs = Math.max(searchMs, performance.now() - askedAt)
    const { issues } = await call<{ issues: unknown[] }>('GET', '/v1/issues')
    if (issues.length > 0) openedMs = performance.now() - sentAt
    await Bun.sleep(PROBE_MS)
  }
  isOver = true
  await Promise.all(asking)
  return [
    budget(
      `time until an issue opens during the ${AT_ONCE} most expensive queries, ms`,
      openedMs || MINUTE_MS,
      'at most',
      5 * SECOND_MS,
    ),
    budget('slowest search during these queries, ms', searchMs, 'at most', 2 * SECOND_MS),
  ]
}
