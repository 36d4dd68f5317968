import type { AlertInput } from '../../src/alerts/alert.ts'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { quantile } from '../tools/percentiles.ts'

/**
 * Number of batches of ten events per round: the maximum received between two scans, which are ten seconds apart at
 * full load.
 */
const BATCHES = sized(Number(process.env.BENCH_BATCHES ?? 15_000), 20)
const TURNS = sized(Number(process.env.BENCH_TURNS ?? 3), 1)
const EVENTS_A_BATCH = 10
const [LABELS, MEMBERS] = sized([100, 10], [2, 2]) as [number, number]

const VENDORS = ['Google Analytics 4', 'Meta Pixel', 'Matomo']
const EVENTS = ['page_view', 'purchase', 'add_to_cart', 'scroll']

/**
 * Returns the nine parameters of an event. `own` becomes part of each value, so an empty string gives repeating values.
 */
const paramsOf = (n: number, own: string) => ({
  transaction_id: `T-${n}${own}`,
  currency: `EUR${own}`,
  value: `${n}.50${own}`,
  page_location: `https://shop.example/checkout${own && `/${own}`}`,
  page_title: `Checkout${own}`,
  client_id: `1970656995.1795151819${own}`,
  session_id: `1795151819${own}`,
  language: `en-us${own}`,
  screen: `1280x720${own}`,
})

const batchOf = (n: number, areDifferent: boolean) => ({
  batchId: crypto.randomUUID(),
  sessionId: `session-${n}`,
  page: { url: 'https://shop.example/checkout', title: 'Checkout' },
  events: Array.from({ length: EVENTS_A_BATCH }, (_, at) => ({
    vendor: VENDORS[at % 3],
    event: EVENTS[at % 4],
    account: 'G-ABCDE12345',
    status: 'ok',
    params: paramsOf(at, areDifferent ? `${n}x${at}` : ''),
  })),
})

const batchesOf = (areDifferent: boolean) => Array.from({ length: BATCHES }, (_, n) => batchOf(n, areDifferent))

/** Runs the work. Returns the CPU time that all threads of this process use for it, in ms. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

interface ScanFixture {
  app: TestApp
  token: string
}

async function ingest({ app, token }: ScanFixture, batches: readonly object[]): Promise<void> {
  for (const batch of batches) {
    const { status } = await app.collect(token, batch)
    if (status !== 202) throw new Error(`a batch was rejected with status ${status}`)
  }
  app.clock.advance(MINUTE_MS)
  await app.run('flush')
}

/**
 * Measures how much scanning of incoming events, and labels in rules, add to the cost of ingest. The cost is the CPU
 * time of the whole program, which runs in this process. Variants alternate. On a saturated machine, the request rate
 * drops by the same percentage.
 */
export async function benchScan(): Promise<Budget[]> {
  return [
    budget('personal data scan / ingest, repeating values, %', await scanShare(false), 'at most', 5),
    budget('personal data scan / ingest, all values different, %', await scanShare(true), 'at most', 5),
    budget(
      `extra CPU time of ingest with ${LABELS} rules by label vs. by vendor and event, %`,
      await labelShare(),
      'at most',
      5,
    ),
  ]
}

/** Returns the scan's percentage of the CPU time, as the median of all rounds. */
async function scanShare(areDifferent: boolean): Promise<number> {
  await using app = await testApp()
  const { token } = (await app.call('POST', '/v1/domains', { body: { name: 'bench.example' } })).body
  const shares: number[] = []
  for (let turn = 0; turn <= TURNS; turn++) {
    const batches = batchesOf(areDifferent)
    const own = await cpuOf(() => ingest({ app, token }, batches))
    const look = await cpuOf(() => app.run('scan for personal data'))
    console.log(
      `  ${areDifferent ? 'different' : 'repeating'}: ingest ${own.toFixed(0)} ms, scan ${look.toFixed(0)} ms`,
    )
    // The first round is excluded, because it includes starting engines and compiling code.
    if (turn > 0 || TURNS === 1) shares.push((100 * look) / (own + look))
  }
  return quantile(shares, 0.5)
}

/** Returns how much more CPU time ingest uses when rules refer to labels, in percent. */
async function labelShare(): Promise<number> {
  await using byLabel = await testApp()
  await using byName = await testApp()
  const stands = [await openScanFixture(byLabel, true), await openScanFixture(byName, false)] as const
  const ratios: number[] = []
  for (let turn = 0; turn <= TURNS; turn++) {
    const cpu: [number, number] = [0, 0]
    // The order alternates between rounds.
    for (const at of turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const batches = batchesOf(true)
      cpu[at] = await cpuOf(() => ingest(stands[at], batches))
    }
    console.log(`  by label: ingest ${cpu[0].toFixed(0)} ms, by name ${cpu[1].toFixed(0)} ms`)
    if (turn > 0 || TURNS === 1) ratios.push(100 * (cpu[0] / cpu[1] - 1))
  }
  return quantile(ratios, 0.5)
}

/** Creates rules for the same events, specified either by a label or by the names that the label contains. */
async function openScanFixture(app: TestApp, areLabelled: boolean): Promise<ScanFixture> {
  const { id: domainId, token } = (await app.call('POST', '/v1/domains', { body: { name: 'bench.example' } })).body
  for (let n = 0; n < LABELS; n++) {
    const events = Array.from({ length: MEMBERS }, (_, at) => EVENTS[at] ?? `event-${n}-${at}`)
    const members = events.map((event) => ({ vendor: VENDORS[n % 3] ?? '', event }))
    if (areLabelled) await called(app, '/v1/insights/labels/assign', { label: `Label ${n}`, members })
    const rule: Omit<AlertInput, 'filters'> = {
      name: `Rule ${n}`,
      alertType: 'data_validation',
      domainId,
      period: '1h',
      conditions: { logic: 'any', items: [{ parameter: 'transaction_id', op: 'equals', values: [`none-${n}`] }] },
      channels: [{ type: 'email', target: 'ops@example.com' }],
    }
    const scope = areLabelled
      ? { filters: [{ parameter: '$label', op: 'equals', values: [`Label ${n}`] }] }
      : { vendors: [VENDORS[n % 3]], filters: [{ parameter: '$event', op: 'equals', values: events }] }
    await called(app, '/v1/alerts', { ...rule, ...scope })
  }
  return { app, token }
}

async function called(app: TestApp, path: string, body: object): Promise<void> {
  const answer = await app.call('POST', path, { body })
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
}
