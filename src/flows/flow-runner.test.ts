import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryDb, type TestClock, testBox, testClock } from '../../test/fixtures.ts'
import { temporaryFolder } from '../../test/run-program.ts'
import { testApp } from '../../test/test-app.ts'
import { noteChange } from '../changes/store.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { secretBox } from '../core/secret-box.ts'
import { createDomain } from '../domains/store.ts'
import { listIssues } from '../issues/list-issues.ts'
import { createOrg } from '../org/store.ts'
import { FlowRuns } from './flow-runner.ts'
import type { FlowTestInput } from './flow-test.ts'
import { planRuns } from './plan-runs.ts'
import { readFlowTest } from './read-flow-test-input.ts'
import { RunFiles } from './run-files.ts'
import { runEvent, stepResult } from './run-result.fixture.ts'
import { cancelRun, factsOf, failInterruptedRuns, findRun, listRuns, queueRun, removeOldRuns } from './run-store.ts'
import {
  createFlowTest,
  deleteFlowTest,
  dropUnreadableSecrets,
  findFlowTest,
  listFlowTests,
  openSecrets,
  storedFlowTest,
  updateFlowTest,
} from './store.ts'
import type { WalkMessage, WalkPlan } from './walk-plan.ts'

const STEPS = [
  { type: 'navigate', url: 'https://shop.example/' },
  { type: 'click', selectors: ['#buy'] },
]
const INPUT: FlowTestInput = {
  name: 'Buy',
  recording: { title: 'Buy', steps: STEPS },
  expectations: [{ step: 1, vendor: 'Google Analytics 4', event: 'purchase' }],
}
const button = { role: 'button', name: 'Buy', tag: 'button', text: 'Buy' }
const done: WalkMessage = { kind: 'done', error: null, errors: [], pausedMs: 40 }
const opened: WalkMessage = { kind: 'step', step: stepResult({ index: 0, type: 'navigate' }), element: null }
const clicked: WalkMessage = { kind: 'step', step: stepResult({ index: 1 }), element: button }
const bought: WalkMessage = { kind: 'event', event: runEvent({ step: 1, event: 'purchase' }) }
const GOOD = [opened, bought, clicked, done]
const MISSING = [opened, clicked, done]
const healed: WalkMessage = {
  kind: 'step',
  step: stepResult({ index: 1, status: 'healed', healed: { before: '#buy', after: 'text/Buy' } }),
  element: button,
}

/** A scripted attempt: sends these messages, ends with an error, or runs until it is stopped. */
type Walk = readonly WalkMessage[] | { told: readonly WalkMessage[]; error: string } | 'until it is stopped'

/** Sets up flow tests whose attempts are scripted. Scripts are used in the given order. */
function world() {
  const db = memoryDb()
  const clock = testClock()
  const { id: orgId } = createOrg(db, testBox, clock, { name: 'Acme' })
  const folder = temporaryFolder()
  const files = new RunFiles(folder.path, () => 30)
  const walks: Walk[] = []
  const plans: WalkPlan[] = []
  const faults: unknown[] = []
  const own = { chromium: '/c', folder: '/f', outboundAllow: [], outboundProxy: '', outboundCa: '' }
  const browsers = {
    async run({
      plan,
      onStart,
      onMessage,
      stopping,
    }: Parameters<ConstructorParameters<typeof FlowRuns>[0]['browsers']['run']>[0]) {
      onStart()
      plans.push(plan(own) as WalkPlan)
      const walk = walks.shift() ?? GOOD
      if (walk === 'until it is stopped') {
        await new Promise((resolve) => stopping.addEventListener('abort', resolve))
        return { error: 'it was stopped because the server shut down' }
      }
      for (const message of 'told' in walk ? walk.told : walk) onMessage(message)
      return { error: 'told' in walk ? walk.error : null }
    },
  }
  const flowRuns = new FlowRuns({
    db,
    box: testBox,
    clock,
    files,
    browsers: browsers as never,
    rulesOf: () => ({ judge: async (events) => events.map(() => []), alertOf: () => null, privacy: PLAIN_PRIVACY }),
    privacyOf: () => PLAIN_PRIVACY,
    enqueue: () => {},
    report: (error) => void faults.push(error),
  })
  const parts = { db, box: testBox, clock }
  const make = (input: Partial<FlowTestInput> = {}) => {
    const whole = { ...INPUT, ...input }
    return createFlowTest(parts, orgId, readFlowTest(whole, clock.now()), whole.secrets ?? {})
  }
  const put = (id: string, input: Partial<FlowTestInput> = {}) =>
    updateFlowTest(parts, { orgId, id }, readFlowTest({ ...INPUT, ...input }, clock.now()), input.secrets)
  const queue = (testId: string) =>
    queueRun(db, clock.now(), findFlowTest(db, { orgId, id: testId }), { trigger: 'api', region: 'local' }).id
  const run = async (testId: string, ...next: Walk[]) => {
    walks.push(...next)
    const id = queue(testId)
    flowRuns.start()
    await flowRuns.idle()
    clock.advance(MINUTE_MS)
    return { ...findRun(db, { orgId, id }), ...factsOf(db, id) }
  }
  const issues = () => listIssues(db, orgId, { sort: 'lastSeenAt' }).items
  return { db, clock, orgId, files, folder, walks, plans, faults, flowRuns, make, put, queue, run, issues }
}

const plan = ({ db, clock }: { db: ReturnType<typeof memoryDb>; clock: TestClock }, fault: string | null = null) =>
  planRuns({ db, clock, region: 'local', fault: () => fault })

describe('a run', () => {
  test('passes and stores its results, and its test passes', async () => {
    const { make, run, db, orgId } = world()
    const { id } = make()
    const passed = await run(id, GOOD)
    expect(passed).toMatchObject({
      status: 'passed',
      error: null,
      attempts: 1,
      pausedMs: 40,
      findings: [],
      trigger: 'api',
      region: 'local',
      summary: { stepsTotal: 2, stepsPassed: 2, healedSteps: 0, vendorsFired: 1, findings: 0 },
    })
    expect(storedFlowTest(db, { orgId, id })).toMatchObject({ test: { status: 'passed' }, elements: { 1: button } })
  })

  test('is repeated before an issue is opened, and only the last attempt counts', async () => {
    const { make, run, issues } = world()
    const { id } = make({ retries: 2 })
    expect(await run(id, MISSING, MISSING, GOOD)).toMatchObject({ status: 'passed', attempts: 3 })
    expect(issues()).toEqual([])
    expect(await run(id, MISSING, MISSING, MISSING)).toMatchObject({ status: 'failed', attempts: 3, error: null })
    expect(issues()).toMatchObject([{ alertId: id, alertType: 'flow_test', status: 'open', severity: 'medium' }])
    await run(id, GOOD)
    expect(issues()).toMatchObject([{ status: 'resolved' }])
  })

  test('that ended early reports the reason and the steps that it did not reach', async () => {
    const { make, run, issues } = world()
    const { id } = make({ retries: 0 })
    const ended = await run(id, { told: [opened], error: 'it took longer than 150 s' })
    expect(ended).toMatchObject({ status: 'failed', error: 'it took longer than 150 s', pausedMs: null })
    expect(ended.steps.map(({ status }) => status)).toEqual(['passed', 'skipped'])
    expect(ended.findings.map(({ kind }) => kind)).toEqual(['step_failed'])
    expect(issues()).toHaveLength(1)
  })

  test('uses its own values and the current secrets', async () => {
    const { make, put, run, plans, db, orgId } = world()
    const secrets = { password: 'horse' }
    const { id } = make({ variables: { coupon: 'A', password: 'plain' }, secrets })
    await run(id)
    expect(plans[0]).toMatchObject({ values: { coupon: 'A', password: 'horse' }, browsing: { secrets: ['horse'] } })
    expect(JSON.stringify(findFlowTest(db, { orgId, id }))).not.toContain('horse')
    expect(put(id).secrets).toEqual(['password'])
    const two = put(id, { secrets: { password: null, pin: '1234' } })
    expect(two.secrets).toEqual(['password', 'pin'])
    expect(openSecrets(testBox, storedFlowTest(db, { orgId, id }))).toEqual({ password: 'horse', pin: '1234' })
    expect(() => put(id, { secrets: { token: null } })).toThrow(
      'secrets.token: a value is required, because none is stored',
    )
    expect(() => make({ secrets: { token: null } })).toThrow(
      'secrets.token: a value is required, because none is stored',
    )
    expect(put(id, { secrets: { pin: null } }).secrets).toEqual(['pin'])
    expect(put(id, { secrets: {} }).secrets).toEqual([])
    await run(id)
    expect(plans[1]).toMatchObject({ values: {}, browsing: { secrets: [] } })
  })

  test('requires secrets that were lost together with the key of the data folder', () => {
    const { make, db, orgId } = world()
    const { id } = make({ secrets: { password: 'horse' } })
    expect(dropUnreadableSecrets(db, testBox)).toEqual([])
    expect(dropUnreadableSecrets(db, secretBox(Buffer.alloc(32, 8)))).toEqual([{ id, orgId }])
    expect(storedFlowTest(db, { orgId, id })).toMatchObject({ secrets: null, test: { secrets: [] } })
  })

  test('that is interrupted by a shutdown fails at the next start, and a queued run stays queued', async () => {
    const { make, queue, walks, flowRuns, db, orgId, clock } = world()
    const { id } = make()
    walks.push('until it is stopped')
    const [cut] = [queue(id)]
    flowRuns.start()
    const waits = queue(id)
    await flowRuns.close()
    expect(findRun(db, { orgId, id: cut }).status).toBe('running')
    failInterruptedRuns(db, clock.now())
    expect(findRun(db, { orgId, id: cut })).toMatchObject({
      status: 'failed',
      error: 'the server stopped during the run',
    })
    expect(findRun(db, { orgId, id: waits }).status).toBe('queued')
  })

  test('of a deleted test ends without leaving any data', async () => {
    const { make, queue, walks, flowRuns, db, orgId, faults, files, clock } = world()
    const { id } = make()
    walks.push('until it is stopped')
    const runId = queue(id)
    flowRuns.start()
    deleteFlowTest(db, { orgId, id })
    flowRuns.cancel(id)
    await flowRuns.idle()
    expect(existsSync(files.of(runId))).toBe(true)
    await files.retain(db, clock.now())
    expect([existsSync(files.of(runId)), listRuns(db, orgId, { limit: 9 }).items, faults]).toEqual([false, [], []])
  })

  test('that is cancelled ends immediately without a retry', async () => {
    const { make, queue, walks, flowRuns, db, orgId, faults, clock } = world()
    const { id } = make({ retries: 1 })
    walks.push('until it is stopped')
    const [goesOn, waits] = [queue(id), queue(id)]
    flowRuns.start()
    for (const run of [goesOn, waits]) {
      cancelRun(db, { orgId, id: run }, clock.now())
      flowRuns.stop(run)
    }
    await flowRuns.idle()
    flowRuns.start()
    await flowRuns.idle()
    for (const run of [goesOn, waits]) {
      expect(findRun(db, { orgId, id: run })).toMatchObject({ status: 'cancelled', finishedAt: clock.now() })
      expect(() => cancelRun(db, { orgId, id: run }, clock.now())).toThrow('the run has ended')
    }
    expect(faults).toEqual([])
  })

  test('is rejected when 100 runs are already waiting', () => {
    const { make, queue } = world()
    const { id } = make()
    for (let n = 0; n < 100; n++) queue(id)
    expect(() => queue(id)).toThrow('100 runs are already waiting')
  })
})

describe('healing', () => {
  test('requires approval, creates a version when approved, and is dropped when the original step works', async () => {
    const { make, run, db, orgId } = world()
    const { id } = make()
    const walked = await run(id, [opened, bought, healed, done])
    expect(walked).toMatchObject({ status: 'passed', summary: { stepsPassed: 2, healedSteps: 1 } })
    const kept = storedFlowTest(db, { orgId, id })
    expect(kept.test.healing).toMatchObject([{ step: 1, before: '#buy', after: 'text/Buy', runId: walked.id }])
    expect(kept.elements).toEqual({})
    await run(id, GOOD)
    expect(findFlowTest(db, { orgId, id }).healing).toEqual([])
  })

  test('does not hide a missing tag', async () => {
    const { make, run } = world()
    const { id } = make({ retries: 0 })
    const walked = await run(id, [opened, healed, done])
    expect(walked).toMatchObject({ status: 'failed', findings: [{ kind: 'missing', event: 'purchase' }] })
  })
})

describe('versions of a test', () => {
  test('are created only when the recording, start page or expectations change', () => {
    const { make, put } = world()
    const { id } = make()
    const versions = [
      put(id, { name: 'Other', retries: 2 }),
      put(id, { startUrl: 'https://preview.example/' }),
      put(id, { startUrl: 'https://preview.example/', expectations: [] }),
      put(id),
      put(id),
    ]
    expect(versions.map(({ version }) => version)).toEqual([1, 2, 3, 4, 4])
  })

  test('have no known elements after the recording changes', async () => {
    const { make, put, run, db, orgId } = world()
    const { id } = make()
    await run(id, GOOD)
    put(id, { recording: { title: 'Buy', steps: [...STEPS, { type: 'close' }] } })
    expect(storedFlowTest(db, { orgId, id })).toMatchObject({ elements: {}, refused: {} })
  })
})

describe('automatic runs', () => {
  const runsOf = ({ db, orgId }: ReturnType<typeof world>) =>
    listRuns(db, orgId, { limit: 50 }).items.map(({ trigger, status }) => [trigger, status])

  test('start on schedule, and only one run makes up for several missed ones', async () => {
    const around = world()
    const { clock, make, put, flowRuns } = around
    const { id } = make({ schedule: '0 6 * * *', timezone: 'Europe/Berlin' })
    plan(around)
    expect(runsOf(around)).toEqual([])
    clock.advance(3 * DAY_MS)
    plan(around)
    plan(around)
    expect(runsOf(around)).toEqual([['schedule', 'queued']])
    clock.advance(DAY_MS)
    plan(around)
    expect(runsOf(around)).toHaveLength(1)
    flowRuns.start()
    await flowRuns.idle()
    put(id, { schedule: '0 6 * * *', enabled: false })
    clock.advance(DAY_MS)
    plan(around)
    expect(runsOf(around)).toEqual([['schedule', 'passed']])
  })

  test('start after a change to the domain while the change is monitored', () => {
    const around = world()
    const { db, clock, orgId, make } = around
    const [domainId, other] = ['Shop', 'Blog'].map((name) => createDomain(db, clock, orgId, { name }))
    make({ domainId: domainId ?? '', runOnChange: true })
    make({ domainId: domainId ?? '' })
    const change = (id = '', ref: string, occurredAt: number) =>
      noteChange(db, clock.now(), { orgId, domainId: id, source: 'ci', ref, title: ref, occurredAt })
    change(other, 'elsewhere', clock.now())
    change(domainId, 'long ago', clock.now() - DAY_MS)
    plan(around)
    expect(runsOf(around)).toEqual([])
    change(domainId, 'soon', clock.now() + MINUTE_MS)
    plan(around)
    expect(runsOf(around)).toEqual([])
    clock.advance(MINUTE_MS)
    plan(around)
    change(domainId, 'again', clock.now())
    plan(around)
    expect(runsOf(around)).toEqual([['change', 'queued']])
  })

  test('are not queued when no browser can run', () => {
    const around = world()
    around.make({ schedule: '* * * * *' })
    around.clock.advance(HOUR_MS)
    plan(around, 'there is no Chromium')
    expect(runsOf(around)).toEqual([])
  })
})

test('files of runs are deleted before their rows', async () => {
  const { make, run, files, db, orgId, clock } = world()
  const { id } = make()
  const walked = await run(id, GOOD)
  mkdirSync(files.of(walked.id), { recursive: true })
  writeFileSync(join(files.of(walked.id), 'step-1.png'), 'x')
  expect(files.screenshots(walked.id)).toEqual(new Set([1]))
  clock.advance(31 * DAY_MS)
  await files.retain(db, clock.now())
  expect(files.screenshots(walked.id)).toEqual(new Set())
  expect(files.har(walked.id)).rejects.toThrow('kept for 30 days')
  clock.advance(400 * DAY_MS)
  removeOldRuns(db, clock.now())
  expect(() => findRun(db, { orgId, id: walked.id })).toThrow('no such run')
})

test('without Chromium a run is rejected with instructions, and everything else works', async () => {
  await using app = await testApp({ chromium: '/nowhere/chromium' })
  const { id } = (await app.call('POST', '/v1/flows/tests', { body: INPUT })).body
  const refused = await app.call('POST', `/v1/flows/tests/${id}/run`, { body: {} })
  expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining('TAGWARDEN_CHROMIUM') } })
})

test('a list of large tests has shorter pages and includes every test once', () => {
  const { db, orgId, make } = world()
  const large = { title: 'Large', steps: [{ ...STEPS[0], type: 'navigate', note: 'x'.repeat(1_000_000) }] }
  const made = Array.from({ length: 7 }, () => make({ recording: large, expectations: [] }).id).sort()
  const pages: string[][] = []
  let cursor: string | undefined
  do {
    const { items, nextCursor } = listFlowTests(db, orgId, { cursor })
    pages.push(items.map(({ id }) => id))
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
  expect(pages.map(({ length }) => length)).toEqual([5, 2])
  expect(pages.flat()).toEqual(made)
  expect(listFlowTests(db, orgId, { limit: 2 }).items).toHaveLength(2)
})
