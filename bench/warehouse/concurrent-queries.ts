import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SECOND_MS, systemClock } from '../../src/core/clock.ts'
import { openStores } from '../../src/data-folder/open-folder.ts'
import { createDomain, findDomain } from '../../src/domains/store.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { createOrg, createOwner } from '../../src/org/store.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { client, type Measured, start, tagwarden } from '../tools/server.ts'

const QUESTIONS = sized(200, 6)
/** Maximum number of queries that an organization can run concurrently. */
const AT_ONCE = 3
/** Number of API keys used; more than the number of queries that can run concurrently. */
const KEYS = 10
const EVENTS = sized(200_000, 4000)
const BATCH_EVENTS = 500
const PROBE_EVERY_MS = sized(500, 100)
const PROBES = sized(20, 2)
const GIVE_UP_MS = 60 * SECOND_MS
const LOOK_MS = 50

/** A rule that reads every character of every parameter, so that a query occupies a core for many seconds. */
const SLOW_RULE = {
  name: 'Slow',
  alertType: 'data_validation',
  period: '1h',
  channels: [{ type: 'email', target: 'ann@example.com' }],
  conditions: {
    logic: 'any',
    items: [1, 2, 3].map((n) => ({ parameter: '*', op: 'regex', values: [`A[AB12]{${n + 28}}[^B]Q`] })),
  },
}

/** An organization, with its API keys and the token of its property. */
interface Side {
  token: string
  domainId: string
  keys: string[]
}

/** Figures measured while the queries were running. */
interface Seen {
  evaluationAgeMs: number[]
  searchMs: number[]
  rssMb: number[]
  /** Time from aborting all queries until the query engine is idle, in ms. */
  goneMs: number
}

/**
 * Measures how 200 concurrent slow queries from one organization affect alert evaluation, another organization and
 * memory usage.
 */
export async function benchConcurrentQueries(): Promise<Budget[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-questions-'))
  const { asking, other } = makeSides(folder)
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), {
    TAGWARDEN_LOG_LEVEL: 'error',
  })
  try {
    for (const side of [asking, other]) await fill(server.url, side)
    const few = await askAndGiveUp(server, asking, other, AT_ONCE)
    const many = await askAndGiveUp(server, asking, other, QUESTIONS)
    return [
      budget('maximum age of the last evaluation meanwhile, ms', Math.max(...many.evaluationAgeMs), 'at most', 2000),
      budget('slowest search of another organization meanwhile, ms', Math.max(...many.searchMs), 'at most', 2000),
      budget(
        `ratio of peak resident memory, ${QUESTIONS} and ${AT_ONCE} queries`,
        Math.max(...many.rssMb) / Math.max(...few.rssMb),
        'at most',
        1.25,
      ),
      budget('time until the engine has cancelled all aborted queries, ms', many.goneMs, 'at most', 1000),
    ]
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function makeSides(folder: string): { asking: Side; other: Side } {
  const { db, box } = openStores(folder)
  mkdirSync(join(folder, 'events'), { recursive: true })
  const side = (name: string, keys: number): Side => {
    const { id: orgId } = createOrg(db, box, systemClock, { name })
    const { id: userId } = createOwner(db, systemClock, { orgId, email: `${name}@example.com` })
    const domainId = createDomain(db, systemClock, orgId, { name: `${name}.example` })
    const { token } = findDomain(db, { orgId, id: domainId }, systemClock.now())
    const key = () => createKey(db, systemClock, { userId, orgId, name: 'bench', expiresInDays: null }).secret
    return { token, domainId, keys: Array.from({ length: keys }, key) }
  }
  const sides = { asking: side('asking', KEYS), other: side('other', 1) }
  db.close()
  return sides
}

async function fill(url: string, { token }: Side): Promise<void> {
  let seed = 1
  const letter = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return 'AB12'[seed % 4]
  }
  const text = () => Array.from({ length: 60 }, letter).join('')
  for (let sent = 0; sent < EVENTS; sent += BATCH_EVENTS) {
    const events = Array.from({ length: BATCH_EVENTS }, (_, n) => ({
      vendor: 'Shop',
      event: n % 10 ? 'view' : 'purchase',
      params: { a: text(), b: text(), c: `${n}` },
    }))
    const response = await fetch(`${url}/api/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ batchId: `batch-of-the-bench-${sent}`, events }),
    })
    if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`)
    await response.text()
  }
}

async function askAndGiveUp(server: Measured, asking: Side, other: Side, count: number): Promise<Seen> {
  const abort = new AbortController()
  const answers = askAll(server.url, asking, count, abort.signal)
  const seen = await watch(server, other)
  abort.abort()
  const goneMs = await restAfter(server)
  const ended = Object.entries(Object.groupBy(await Promise.all(answers), (how) => how))
  const how = ended.map(([name, those]) => `${those?.length} ${name}`).join(', ')
  const most = Math.max(...seen.rssMb).toFixed(0)
  console.log(
    `  ${count} queries (${how}): peak resident memory ${most} MB, all cancelled after ${goneMs.toFixed(0)} ms`,
  )
  return { ...seen, goneMs }
}

/** Sends previews, a third of which are backtests. No promise rejects, even when its request is rejected or aborted. */
function askAll(url: string, { keys }: Side, count: number, signal: AbortSignal): Promise<string>[] {
  return Array.from({ length: count }, async (_, n) => {
    const headers = { authorization: `Bearer ${keys[n % keys.length]}`, 'content-type': 'application/json' }
    const path = n % 3 === 0 ? 'backtest' : 'preview'
    const body = JSON.stringify({ rule: SLOW_RULE })
    return fetch(`${url}/v1/alerts/${path}`, { method: 'POST', headers, body, signal }).then(
      async (response) => {
        await response.text()
        return `${response.status}`
      },
      () => 'aborted',
    )
  })
}

async function watch(server: Measured, { keys, domainId }: Side): Promise<Omit<Seen, 'goneMs'>> {
  const seen: Omit<Seen, 'goneMs'> = { evaluationAgeMs: [], searchMs: [], rssMb: [] }
  const call = client(server.url, keys[0] ?? '')
  for (let probe = 0; probe < PROBES; probe++) {
    const { lastEvaluationAgeMs } = await call<{ lastEvaluationAgeMs: number }>('GET', '/readyz')
    seen.evaluationAgeMs.push(lastEvaluationAgeMs)
    const askedAt = performance.now()
    await call('GET', `/v1/events?domainId=${domainId}&event=purchase&limit=20`)
    seen.searchMs.push(performance.now() - askedAt)
    seen.rssMb.push(server.rssMb())
    await Bun.sleep(PROBE_EVERY_MS)
  }
  return seen
}

/**
 * Returns the time until the process is idle, in ms. It is idle once it uses less than a third of a core, measured
 * every 50 ms.
 */
async function restAfter(server: Measured): Promise<number> {
  const startedAt = performance.now()
  let [at, used] = [startedAt, server.cpuMs()]
  while (at - startedAt < GIVE_UP_MS) {
    await Bun.sleep(LOOK_MS)
    const [now, usedNow] = [performance.now(), server.cpuMs()]
    if (usedNow - used < (now - at) / 3) return at - startedAt
    at = now
    used = usedNow
  }
  return GIVE_UP_MS
}
