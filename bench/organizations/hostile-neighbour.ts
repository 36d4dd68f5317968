import { EXPENSIVE, HANGING_HOOKS, type Hostile } from './neighbours.ts'

/**
 * Runs the hostile organization in a separate process until it is killed: `bun bench/organizations/hostile-neighbour.ts
 * FILE`. FILE contains a `Hostile`. The process does not exceed the rate limits, because it runs on the same machine as
 * the server.
 */
const TEXT_LENGTH = 4000
/**
 * Number of batches sent per second. Each batch has 250 events that contain either strings for which patterns are
 * expensive, or new names.
 */
const HEAVY_A_SECOND = 0.5
const NAMES_A_SECOND = 10
/** Number of previews, backtests and searches that run concurrently. A key is limited to 600 requests per minute. */
const QUESTIONS_AT_ONCE = 8
const QUESTION_PAUSE_MS = 800

const text = 'AB12'.repeat(TEXT_LENGTH / 4)
const value = { parameter: '*', op: 'regex', values: [EXPENSIVE] }
const channels = [{ type: 'email', target: 'ops@example.com' }]
const rule = {
  name: 'Preview',
  alertType: 'data_validation',
  period: '1h',
  channels,
  conditions: { logic: 'any', items: Array.from({ length: 10 }, () => value) },
}

async function main({ url, token, readOnlyKey }: Hostile): Promise<void> {
  const statuses = new Map<string, number>()
  const send = async (what: string, path: string, key: string, body: object | null) => {
    const status = await fetch(url + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }).then(
      async (response) => {
        await response.arrayBuffer()
        return response.status
      },
      () => 0,
    )
    statuses.set(`${what} ${status}`, (statuses.get(`${what} ${status}`) ?? 0) + 1)
  }
  const batch = (events: object[]) => send('batch', '/api/v1/events', token, { batchId: crypto.randomUUID(), events })
  const every = (perSecond: number, work: (n: number) => Promise<void>) => {
    let n = 0
    setInterval(() => void work(n++), 1000 / perSecond)
  }
  every(HEAVY_A_SECOND, () =>
    batch(Array.from({ length: 250 }, (_, n) => ({ vendor: 'V', event: 'e', params: { p: `${text}${n}` } }))),
  )
  every(NAMES_A_SECOND, (n) =>
    batch(
      Array.from({ length: 10 }, (_, place) => ({
        vendor: `vendor ${crypto.randomUUID()}`,
        event: crypto.randomUUID(),
        params: { value: `hang-${(n * 10 + place) % HANGING_HOOKS}-x` },
      })),
    ),
  )
  const questions = [
    () => send('preview', '/v1/alerts/preview', readOnlyKey, { rule, hours: 168 }),
    () => send('backtest', '/v1/alerts/backtest', readOnlyKey, { rule, days: 30 }),
    () => send('search', `/v1/events?q=${'AB12'.repeat(40)}&limit=200`, readOnlyKey, null),
    () => send('signals', '/v1/auto/signals?limit=200', readOnlyKey, null),
  ]
  for (let place = 0; place < QUESTIONS_AT_ONCE; place++) {
    void (async () => {
      for (let n = place; ; n++) {
        await questions[n % questions.length]?.()
        await Bun.sleep(QUESTION_PAUSE_MS)
      }
    })()
  }
  process.on('SIGTERM', () => {
    console.log(`    neighbour: ${[...statuses].map(([what, count]) => `${what}: ${count}`).join(', ')}`)
    process.exit(0)
  })
}

if (import.meta.main) await main((await Bun.file(process.argv[2] ?? '').json()) as Hostile)
