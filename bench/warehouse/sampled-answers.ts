import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { MINUTE_MS, SECOND_MS, systemClock } from '../../src/core/clock.ts'
import { openStores } from '../../src/data-folder/open-folder.ts'
import { createDomain } from '../../src/domains/store.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { client, makeFolder, start, tagwarden } from '../tools/server.ts'
import { rest } from './api-latency.ts'
import { writePastEvents } from './past-events.ts'

const EVENTS = sized(Number(process.env.BENCH_EVENTS ?? 4_000_000), 20_000)
const DAYS = 6
/** Number of times that each query is sent with each budget, in turns. The median is used. */
const RUNS = sized(3, 1)
/** One in how many sessions the server reads. */
const RATES = [1, 4, 32]

const PATHS = {
  dictionary: '/v1/events/dictionary?hours=168',
  'flat dictionary': '/v1/events/dictionary/flat?hours=168',
  flows: '/v1/journeys/flows?hours=168',
}

interface Answer {
  sampling: { oneIn: number; marginPct: number } | null
}

/**
 * Imports a week of events, and compares dictionaries and flows that read all of them with those from samples of
 * sessions. Compares processor time of the server, because other programs may run.
 */
export async function benchSampledAnswers(): Promise<Budget[]> {
  const { folder, key, remove } = await makeFolder()
  try {
    await importWeek(folder)
    await scanImported(folder)
    const times = new Map<string, number[]>()
    const margins = new Map<number, number>()
    for (let run = 0; run < RUNS; run++) {
      for (const rate of RATES) {
        const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), {
          TAGWARDEN_LOG_LEVEL: 'error',
          TAGWARDEN_QUERY_TIMEOUT_S: '120',
          TAGWARDEN_REQUEST_TIMEOUT_S: '120',
          TAGWARDEN_MAX_EVENTS_READ: String(Math.max(1000, Math.ceil(EVENTS / rate))),
        })
        try {
          const call = client(server.url, key)
          // Opens the engine.
          await call('GET', '/v1/events?limit=1')
          for (const [name, path] of Object.entries(PATHS)) {
            const before = server.cpuMs()
            const { sampling } = await call<Answer>('GET', path)
            const spent = times.get(`${name} ${rate}`) ?? []
            times.set(`${name} ${rate}`, [...spent, server.cpuMs() - before])
            if (sampling) margins.set(sampling.oneIn, sampling.marginPct)
          }
        } finally {
          await server.stop()
        }
      }
    }
    const median = (name: string, rate: number) =>
      (times.get(`${name} ${rate}`) ?? []).toSorted((a, b) => a - b)[Math.floor(RUNS / 2)] ?? Number.NaN
    return Object.keys(PATHS).flatMap((name) => [
      budget(`${name} of all events, s of processor time`, median(name, 1) / SECOND_MS, 'at most', 60),
      ...RATES.slice(1).map((rate) =>
        budget(
          `${name} of 1 in ${rate} sessions (± ${margins.get(rate) ?? 0} %), × all events`,
          median(name, rate) / median(name, 1),
          'at most',
          // Dictionaries mostly read columns, which a sample does not avoid.
          name === 'flows' ? 0.8 : 1.3,
        ),
      ),
    ])
  } finally {
    remove()
  }
}

/** Lets the server finish its background work on the imported events. */
async function scanImported(folder: string): Promise<void> {
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), {
    TAGWARDEN_LOG_LEVEL: 'error',
  })
  try {
    await rest(server)
  } finally {
    await server.stop()
  }
}

async function importWeek(folder: string): Promise<void> {
  const { db } = openStores(folder)
  const orgId = db.prepare<[], string>('SELECT id FROM org').pluck().get() ?? ''
  const domainIds = [createDomain(db, systemClock, orgId, { name: 'shop' })]
  db.close()
  const file = join(folder, 'week.parquet')
  const until = systemClock.now() - MINUTE_MS
  await writePastEvents(file, { events: EVENTS, days: DAYS, until, domainIds, params: 'map' })
  await Bun.spawn(tagwarden('import', 'events', file, '--data', folder), { stdout: 'ignore', stderr: 'inherit' }).exited
  rmSync(file)
}
