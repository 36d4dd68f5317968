import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createAlert } from '../../src/alerts/alert-store.ts'
import { MINUTE_MS, systemClock } from '../../src/core/clock.ts'
import { openStores } from '../../src/data-folder/open-folder.ts'
import { createDomain, findDomain } from '../../src/domains/store.ts'
import { tx } from '../../src/store/database.ts'
import { differentRule } from '../collector/different-rules.ts'
import { BATCH_BODY, BATCH_ID } from '../tools/batch.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { quantile, spreadOf } from '../tools/percentiles.ts'
import { client, makeFolder, start, tagwarden } from '../tools/server.ts'
import { writePastEvents } from './past-events.ts'

/** Size of an installation. Rules and events are distributed evenly over its domains, and events over thirty days. */
interface Point {
  rules: number
  domains: number
  events: number
}

/** The smallest size. Each figure is multiplied in turn while the others stay the same. */
const BASE: Point = sized({ rules: 10, domains: 10, events: 100_000 }, { rules: 1, domains: 1, events: 1000 })
const AXES: Record<keyof Point, readonly number[]> = sized(
  { rules: [10, 100, 1000], domains: [10, 100], events: [10, 100] },
  { rules: [], domains: [], events: [2] },
)
const DAYS = sized(30, 1)
const RUNS = sized(30, 2)
/** Queries that a page sends while a user waits for them. */
const QUESTIONS = {
  'counts by hour': '/v1/insights/volume?hours=720&',
  search: '/v1/events?limit=50&',
  dictionary: '/v1/events/dictionary?hours=24&',
} as const

type Times = Record<'batch' | keyof typeof QUESTIONS, number[]>

/**
 * Measures how the times of a batch and three queries grow with the number of rules, domains and stored events, each
 * varied separately.
 */
export async function benchScalingCurve(): Promise<Budget[]> {
  const base = await measure(BASE)
  const budgets: Budget[] = []
  for (const [axis, factors] of Object.entries(AXES) as [keyof Point, readonly number[]][]) {
    for (const factor of factors) {
      const times = await measure({ ...BASE, [axis]: BASE[axis] * factor })
      if (factor !== factors.at(-1)) continue
      // The time must not grow faster than the amount of data.
      for (const what of Object.keys(times) as (keyof Times)[]) {
        const ratio = quantile(times[what], 0.5) / quantile(base[what], 0.5)
        budgets.push(
          budget(`${what}, median, with ${factor} times the ${axis} / with the fewest`, ratio, 'at most', factor),
        )
      }
    }
  }
  return budgets
}

async function measure(point: Point): Promise<Times> {
  const { folder, key, remove } = await makeFolder()
  try {
    const { domainIds, token } = fill(folder, point)
    await importPast(folder, domainIds, point.events)
    const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), {
      TAGWARDEN_LOG_LEVEL: 'error',
      TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000',
    })
    try {
      const call = client(server.url, key)
      const times: Times = { batch: [], 'counts by hour': [], search: [], dictionary: [] }
      for (let run = 0; run < RUNS; run++) times.batch.push(await timed(() => sendBatch(server.url, token)))
      for (const [what, path] of Object.entries(QUESTIONS) as [keyof typeof QUESTIONS, string][]) {
        const ask = () => call('GET', `${path}domainId=${domainIds[0]}`)
        for (let run = 0; run < RUNS; run++) times[what].push(await timed(ask))
      }
      const { rules, domains, events } = point
      console.log(
        `  ${rules} rules, ${domains} domains, ${events} events: ready after ${server.readyMs.toFixed(0)} ms, ${server.rssMb().toFixed(0)} MB`,
      )
      for (const [what, all] of Object.entries(times)) console.log(`    ${what}: ${spreadOf(all)}`)
      return times
    } finally {
      await server.stop()
    }
  } finally {
    remove()
  }
}

/** Creates the domains and rules. Also returns the token of the first domain. */
function fill(folder: string, { rules, domains }: Point): { domainIds: string[]; token: string } {
  const { db } = openStores(folder)
  const orgId = db.prepare<[], string>('SELECT id FROM org').pluck().get() ?? ''
  const domainIds: string[] = []
  tx(db, () => {
    for (let n = 0; n < domains; n++) domainIds.push(createDomain(db, systemClock, orgId, { name: `shop ${n}` }))
    for (let n = 0; n < rules; n++) {
      createAlert(db, systemClock, orgId, {
        name: `Rule ${n}`,
        alertType: 'data_validation',
        period: '1h',
        domainId: domainIds[n % domains] ?? '',
        channels: [{ type: 'email', target: 'ops@example.com' }],
        ...differentRule(n),
      })
    }
  })
  const { token } = findDomain(db, { orgId, id: domainIds[0] ?? '' }, systemClock.now())
  db.close()
  return { domainIds, token }
}

async function importPast(folder: string, domainIds: readonly string[], events: number): Promise<void> {
  const file = join(folder, 'past.parquet')
  const until = systemClock.now() - MINUTE_MS
  await writePastEvents(file, { events, days: DAYS, until, domainIds, params: 'map' })
  const child = Bun.spawn(tagwarden('import', 'events', file, '--data', folder, '--json'), { stdout: 'pipe' })
  const { imported } = (await new Response(child.stdout).json()) as { imported: number }
  rmSync(file)
  if (imported !== events) throw new Error(`${imported} of ${events} events were imported`)
}

async function sendBatch(url: string, token: string): Promise<void> {
  const body = BATCH_BODY.replace(BATCH_ID, crypto.randomUUID())
  const response = await fetch(`${url}/api/v1/events?token=${token}`, { method: 'POST', body })
  await response.text()
  if (response.status !== 202) throw new Error(`a batch was rejected with status ${response.status}`)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
