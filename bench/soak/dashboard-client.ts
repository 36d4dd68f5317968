import { MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { sized } from '../tools/bench-size.ts'
import { quantile } from '../tools/percentiles.ts'

/** Time for which each page is open. */
const VISIT_MS = sized(10 * SECOND_MS, 100)
/** Minimum time between two refetches, as in the pages. */
const REFETCH_MS = SECOND_MS
/** Interval at which the live page polls. */
const LIVE_MS = SECOND_MS

/** Paths that a page requests. Those in `list` are requested again when the stream announces a change. */
interface Visit {
  list: string[]
  once?: string[]
  /** Polled while the page is open. */
  poll?: string
}

/** Returns what the pages request, in the order of a tour of the dashboard. `issueId` is null without an issue. */
function tourOf(domainId: string, issueId: string | null, now: number): Visit[] {
  const day = `from=${now - 24 * 60 * MINUTE_MS}&to=${now}`
  const hour = `from=${now - 60 * MINUTE_MS}&to=${now}`
  return [
    {
      list: [
        '/v1/issues?status=open&limit=5',
        '/v1/domains?limit=100',
        '/v1/auto/signals?limit=100',
        '/v1/insights/causes',
        '/v1/insights/scores',
        '/v1/changes?limit=5',
        '/v1/alerts?limit=1',
      ],
      once: ['/v1/insights/volume?hours=24&grain=hour', '/v1/org/value'],
    },
    { list: ['/v1/issues?limit=50', '/v1/alerts?limit=100', '/v1/domains?limit=100'] },
    ...(issueId
      ? [
          {
            list: [`/v1/issues/${issueId}`, `/v1/issues/${issueId}/evidence`, `/v1/issues/${issueId}/comments`],
            once: [`/v1/issues/${issueId}/segments`],
          },
        ]
      : []),
    { list: ['/v1/alerts?limit=100'] },
    { list: ['/v1/auto/signals?limit=100'] },
    { list: [`/v1/domains/${domainId}`], poll: `/v1/domains/${domainId}/live` },
    { list: [], once: [`/v1/events/dictionary?hours=24&domainId=${domainId}`] },
    {
      list: [],
      once: [`/v1/events?limit=50&${hour}&domainId=${domainId}`, `/v1/insights/volume?hours=1&domainId=${domainId}`],
    },
    { list: [], once: [`/v1/journeys/flows?hours=24&domainId=${domainId}`, `/v1/performance/tags?${day}`] },
    {
      list: [],
      once: ['/v1/compliance/groups?by=vendor', `/v1/events/dictionary/flat?hours=24&domainId=${domainId}`],
    },
    { list: ['/v1/notifications/deliveries?limit=50'], once: ['/v1/usage', '/v1/events/rejected?limit=50'] },
  ]
}

/** Response times in ms since the previous call of `take`, and the number of responses other than 2xx. */
export interface ApiInterval {
  requests: number
  failures: number
  p50Ms: number
  p99Ms: number
}

/** Response times of a path in all intervals. */
interface PathTimes {
  path: string
  requests: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

export interface DashboardClient {
  take(): ApiInterval
  /** Returns the slowest paths by p99. Ids are replaced with `{id}`. */
  slowest(count: number): PathTimes[]
  /** Number of events in the change stream, and all response times. */
  readonly streamed: number
  readonly times: readonly number[]
  stop(): Promise<void>
}

/** Starts a client that opens one page after another, follows the change stream and refetches as the pages do. */
export function startDashboardClient(url: string, key: string, domains: readonly string[]): DashboardClient {
  const headers = { authorization: `Bearer ${key}` }
  const end = new AbortController()
  const byPath = new Map<string, number[]>()
  const all: number[] = []
  let recent: number[] = []
  let failures = 0
  let streamed = 0
  let hasChanged = false

  async function get<T>(path: string): Promise<T | null> {
    const at = performance.now()
    try {
      const response = await fetch(url + path, { headers, signal: end.signal })
      const body = await response.json()
      const ms = performance.now() - at
      recent.push(ms)
      all.push(ms)
      const name = path.replace(/\?.*/, '').replace(/\/[a-z]{3}_\w+/g, '/{id}')
      const own = byPath.get(name) ?? []
      byPath.set(name, own)
      own.push(ms)
      if (!response.ok) {
        failures++
        console.log(`  ${response.status} ${path}: ${JSON.stringify(body).slice(0, 200)}`)
      }
      return response.ok ? (body as T) : null
    } catch (error) {
      if (!end.signal.aborted) failures++
      if (!end.signal.aborted) console.log(`  ${path}: ${error}`)
      return null
    }
  }

  const streaming = (async () => {
    while (!end.signal.aborted) {
      try {
        const { body } = await fetch(`${url}/v1/stream`, { headers, signal: end.signal })
        for await (const part of body ?? []) {
          const events = new TextDecoder().decode(part).match(/^event: \w+$/gm) ?? []
          streamed += events.length
          if (events.some((line) => line !== 'event: pulse')) hasChanged = true
        }
      } catch {
        if (!end.signal.aborted) await Bun.sleep(SECOND_MS)
      }
    }
  })()

  const touring = (async () => {
    for (let tour = 0; !end.signal.aborted; tour++) {
      const issues = await get<{ issues: { id: string }[] }>('/v1/issues?limit=50')
      const issueId = issues?.issues[tour % Math.max(1, issues.issues.length)]?.id ?? null
      for (const visit of tourOf(domains[tour % domains.length] ?? '', issueId, Date.now())) {
        if (end.signal.aborted) return
        await open(visit)
      }
    }
  })()

  async function open({ list, once = [], poll }: Visit): Promise<void> {
    const until = performance.now() + VISIT_MS
    hasChanged = false
    await Promise.all([...list, ...once].map((path) => get(path)))
    let since: number | null = null
    while (performance.now() < until && !end.signal.aborted) {
      await Bun.sleep(Math.min(REFETCH_MS, LIVE_MS, VISIT_MS))
      if (poll) {
        const live: { latestSeq: number } | null = await get(poll + (since === null ? '' : `?since=${since}`))
        since = live?.latestSeq ?? since
      }
      if (!hasChanged) continue
      hasChanged = false
      await Promise.all(list.map((path) => get(path)))
    }
  }

  return {
    take() {
      const interval = {
        requests: recent.length,
        failures,
        p50Ms: quantile(recent, 0.5),
        p99Ms: quantile(recent, 0.99),
      }
      recent = []
      failures = 0
      return interval
    },
    slowest: (count) =>
      [...byPath]
        .map(([path, times]) => ({
          path,
          requests: times.length,
          p50Ms: quantile(times, 0.5),
          p99Ms: quantile(times, 0.99),
          maxMs: Math.max(...times),
        }))
        .sort((a, b) => b.p99Ms - a.p99Ms)
        .slice(0, count),
    get streamed() {
      return streamed
    },
    times: all,
    async stop() {
      end.abort()
      await Promise.all([streaming, touring])
    },
  }
}
