import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { memoryDb, testClock } from '../../test/fixtures.ts'
import { temporaryFolder } from '../../test/run-program.ts'
import { validationInput } from '../alerts/alert.fixture.ts'
import { createAlert } from '../alerts/alert-store.ts'
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { plainEvent } from '../core/event.fixture.ts'
import { hashOf } from '../ingest/batch-hash.ts'
import { SeenBatches } from '../ingest/seen-batches.ts'
import { Spool } from '../ingest/spool.ts'
import { Cluster, type TestCollector } from './cluster.fixture.ts'
import { forward } from './forward-segments.ts'
import { RejectedSegments } from './rejected-segments.ts'
import { stateOf } from './replica.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.open()
})
afterAll(() => cluster[Symbol.asyncDispose]())

const STEPS = 12
const STEP_MS = 5 * MINUTE_MS

test.each([
  ['stopped', 'an hour without control node and ClickHouse'],
  ['cut off', 'an hour in which collectors are cut off'],
])('%s: %s loses and doubles nothing, and alerts once', async (kind) => {
  const { clock, orgId } = cluster
  const domain = cluster.newDomain(kind)
  createAlert(cluster.app.db, clock, orgId, { ...validationInput, domainId: domain.id })
  const [a, b] = [await cluster.newCollector(`${kind}-a`), await cluster.newCollector(`${kind}-b`)]
  const own = [a, b]
  const others = cluster.all().filter((one) => !own.includes(one))
  let violations = 0
  const expected: string[] = []
  const send = async (to: readonly TestCollector[], name: string) => {
    const good = { id: `${kind}-${name}-good`, vendor: 'GA4', event: 'purchase', params: { value: '1' } }
    const bad = { id: `${kind}-${name}-bad`, vendor: 'GA4', event: 'purchase' }
    violations++
    expected.push(bad.id, good.id)
    for (const one of to) {
      expect((await one.send(domain.token, { batchId: `batch-${name}`, events: [good, bad] })).status).toBe(202)
    }
  }
  const occurrences = () => {
    const sql = 'SELECT ifnull(sum(occurrences), 0) FROM issue WHERE domainId = ?'
    return cluster.app.db.prepare(sql).pluck().get(domain.id)
  }
  const second = async () => {
    clock.advance(SECOND_MS)
    for (const one of [...own, ...others]) for (const job of ['sync', 'forward', 'sync']) await one.run(job)
    await cluster.runJob('heartbeat', 'collectors', 'flush', 'evaluate')
  }
  await send([a], 'before')
  for (let n = 0; n < 5; n++) await second()
  expect(occurrences()).toBe(violations)

  if (kind === 'stopped') await cluster.warehouse.kill()
  for (const one of own) one.link = 'cut'
  for (let step = 0; step < STEPS; step++) {
    await send([a], `a${step}`)
    await send([b], `b${step}`)
    await send([a, b], `both${step}`)
    clock.advance(STEP_MS)
    for (const one of own) for (const job of ['forward', 'sync']) await one.run(job)
    if (kind === 'cut off') await cluster.runJob('heartbeat', 'collectors', 'evaluate')
    if (step === STEPS / 2) await a.kill()
  }
  const warningsBefore = cluster.warnings.length
  if (kind === 'stopped') {
    await cluster.restart()
    await cluster.warehouse.start()
  }
  for (const one of own) one.link = 'up'
  for (let n = 0; n < 10; n++) {
    await second()
    expect(occurrences()).toBeLessThanOrEqual(violations)
  }
  expect((await cluster.storedIds(`${kind}-`)).toSorted()).toEqual(expected.toSorted())
  expect(occurrences()).toBe(violations)
  clock.advance(10 * MINUTE_MS)
  await second()
  await second()
  expect(occurrences()).toBe(violations)
  // Collectors that return together with the control node were never absent.
  const told = cluster.warnings.slice(warningsBefore).filter((warning) => warning.includes('no contact with'))
  expect(told).toEqual([])
  const usage = cluster.app.db.prepare('SELECT sum(events) FROM usage WHERE domainId = ?').pluck().get(domain.id)
  expect(usage).toBe(2 * violations)
})

test('batches of waiting segments are not in memory, and their repeats are still recognised', async () => {
  using root = temporaryFolder()
  const folder = join(root.path, 'spool')
  mkdirSync(folder)
  const [db, clock] = [memoryDb(), testClock()]
  const spool = new Spool(folder, clock, { has: () => false, last: null, lastReceivedAt: 0, lastSeq: 0 })
  const batches = new SeenBatches(db, clock)
  const claimed: bigint[][] = []
  let isAway = true
  const deps = {
    db,
    spool,
    batches,
    collector: { recordRefusals: async () => {} },
    control: {
      claim: async ({ hashes }: { hashes: readonly bigint[] }) => {
        if (isAway) throw new AppError('unavailable', 'away')
        claimed.push([...hashes])
        return new Set<bigint>()
      },
      commit: async () => {},
    },
    outlet: {
      insert: async () => ({ content: { counts: [], vendors: [] }, names: { tracked: [], evicted: [] } }),
      namesChanged() {},
      interrupt() {},
      close() {},
    },
    rejected: new RejectedSegments(root.path),
    notifyOperator() {},
    instance: stateOf(db).instance,
    name: 'test',
    folder: root.path,
  }
  const append = async (name: string) => {
    const receivedAt = spool.arrivalAt()
    const answer = { accepted: 1, rejected: 0, errors: [] }
    const origin = { orgId: 'org_1', domainId: 'dom_1', receivedAt }
    const event = plainEvent({ ...origin, seq: spool.nextSeq() })
    await spool.append([event], { key: `dom_1 ${name}`, ...origin, answer, ledger: [] })
    clock.advance(5 * SECOND_MS)
  }
  await append('one')
  await append('two')
  await expect(forward(deps)).rejects.toThrow('away')
  await append('three')
  await expect(forward(deps)).rejects.toThrow('away')
  expect(spool.segments().map(({ batches: { size, knownCount } }) => [size, knownCount])).toEqual([[2, 0]])
  expect(spool.answerOf(hashOf('dom_1 one'))).toBeNull()
  expect(batches.answerOf(hashOf('dom_1 one'))).toEqual({ accepted: 1, rejected: 0, errors: [] })
  isAway = false
  await forward(deps)
  expect(claimed).toEqual([[hashOf('dom_1 one'), hashOf('dom_1 two')], [hashOf('dom_1 three')]])
  expect(spool.segments()).toEqual([])
  await spool.close()
})
