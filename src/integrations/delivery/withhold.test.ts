import { describe, expect, test } from 'bun:test'
import { TEST_START } from '../../../test/fixtures.ts'
import type { AlertInput } from '../../alerts/alert.ts'
import { createAlert } from '../../alerts/alert-store.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../../core/clock.ts'
import type { IssueStatus } from '../../issues/issue.ts'
import { listIssues } from '../../issues/list-issues.ts'
import { addHistory, findIssue, setStatus } from '../../issues/store.ts'
import type { MaintenanceInput } from '../../maintenance/maintenance.ts'
import { createMaintenance, deleteMaintenance, updateMaintenance } from '../../maintenance/store.ts'
import { openDatabase } from '../../store/database.ts'
import { notifier, notifyHeldOpening } from './notifier.ts'
import { hook, outboxFixture } from './outbox.fixture.ts'
import { recordOutcome } from './record-attempt.ts'
import { releaseWithheld } from './release-withheld.ts'
import { recheckWithheld } from './withhold.ts'

const [FROM, TO] = [TEST_START - HOUR_MS, TEST_START + HOUR_MS]
const window: MaintenanceInput = { name: 'Nightly deploy', from: FROM, to: TO, timezone: 'UTC' }
const input: AlertInput = { name: 'Purchase has a value', alertType: 'data_validation', period: '1h', channels: [hook] }

function setUp(alertInput: Partial<AlertInput> = {}) {
  const world = outboxFixture()
  const { db, clock, orgId, people } = world
  const alert = createAlert(db, clock, orgId, { ...input, ...alertInput })
  const issueId = world.issue('iss_1', alert.id)
  const deps = { db, clock, publicUrl: 'https://watch.example' }
  const enqueue = notifier(deps)
  const notify = (transition: 'opened' | 'reopened' | 'repeated') => {
    const finding = world.issueRow()?.evidence ?? null
    const kind = transition === 'repeated' ? 'fired' : transition
    const historySeq = addHistory(db, issueId, kind, null, clock.now())
    enqueue({ kind: 'notify', issueId, historySeq, at: clock.now(), transition, finding, delayMs: 0 })
  }
  const byHand = (to: IssueStatus) =>
    setStatus(db, { orgId, by: people.bob.userId, now: clock.now() }, issueId, to, enqueue)
  const release = (at: Instant = clock.now()) => {
    clock.set(at)
    return releaseWithheld(db, at, (id) => notifyHeldOpening(deps, id))
  }
  const send = () => {
    const sent = world.take()
    const parts = { now: clock.now(), jitter: () => 0, mailConfigured: false }
    for (const delivery of sent) recordOutcome(db, delivery, { verdict: 'delivered', note: null }, parts)
    return sent.map(({ transition }) => transition)
  }
  const create = (values: Partial<MaintenanceInput> = {}) =>
    createMaintenance(db, clock, orgId, { ...window, ...values })
  const kinds = () => world.history().map(({ kind }) => kind)
  const withheld = () => db.prepare('SELECT count(*) FROM withheldIssue').pluck().get()
  return { ...world, alert, issueId, deps, enqueue, notify, byHand, release, send, create, kinds, withheld }
}

describe('a maintenance window', () => {
  test('withholds an opening and says why, and announces it when the window ends', () => {
    const { create, notify, send, release, history, withheld, deliveries } = setUp()
    const { id } = create()
    notify('opened')
    expect(send()).toEqual([])
    expect(history().at(-1)).toEqual({
      kind: 'held_back',
      transition: 'opened',
      reason: 'maintenance',
      windowId: id,
      window: 'Nightly deploy',
      until: TO,
    })
    expect(release(TO - 1)).toBe(0)
    expect(send()).toEqual([])
    expect(release(TO)).toBe(1)
    expect(send()).toEqual(['opened'])
    expect([release(TO + MINUTE_MS), withheld(), deliveries().length]).toEqual([0, 0, 1])
  })

  test('records one entry for several repeats, which are not sent later', () => {
    const { create, notify, send, release, kinds } = setUp()
    notify('opened')
    expect(send()).toEqual(['opened'])
    create()
    for (let time = 0; time < 3; time++) notify('repeated')
    expect(kinds().filter((kind) => kind === 'held_back')).toHaveLength(1)
    release(TO)
    expect(send()).toEqual([])
    notify('repeated')
    expect(send()).toEqual(['repeated'])
  })

  test('lets resolutions of announced issues through, and sends none of unannounced ones', () => {
    const announced = setUp()
    announced.notify('opened')
    announced.send()
    announced.create()
    announced.byHand('resolved')
    announced.clock.advance(MINUTE_MS)
    expect(announced.send()).toEqual(['resolved'])
    const silent = setUp()
    silent.create()
    silent.notify('opened')
    silent.byHand('resolved')
    silent.clock.advance(MINUTE_MS)
    expect(silent.send()).toEqual([])
    expect(silent.release(TO)).toBe(1)
    expect(silent.send()).toEqual([])
  })

  test.each<[IssueStatus, 'opened'[]]>([
    ['acknowledged', []],
    ['muted', []],
    ['resolved', []],
    ['open', ['opened']],
  ])('announces nothing that has become %s unless it is open', (status, expected) => {
    const { create, notify, byHand, release, send } = setUp()
    create()
    notify('opened')
    byHand(status)
    release(TO)
    expect(send().filter((transition) => transition !== 'resolved')).toEqual(expected)
  })

  test.each<[string, (world: ReturnType<typeof setUp>, id: string) => void]>([
    ['deleted', ({ db, orgId }, id) => deleteMaintenance(db, { orgId, id })],
    [
      'shortened',
      ({ db, clock, orgId }, id) =>
        void updateMaintenance(db, clock, { orgId, id }, { ...window, to: TEST_START + MINUTE_MS }),
    ],
  ])('that is %s announces at once', (_name, change) => {
    const world = setUp()
    const { id } = world.create()
    world.notify('opened')
    world.clock.advance(2 * MINUTE_MS)
    expect(world.release()).toBe(0)
    change(world, id)
    recheckWithheld(world.db, world.orgId)
    expect(world.release()).toBe(1)
    expect(world.send()).toEqual(['opened'])
  })

  test('that is followed by another keeps withholding', () => {
    const { create, notify, release, send } = setUp()
    create()
    notify('opened')
    create({ from: TO - MINUTE_MS, to: TO + HOUR_MS })
    expect(release(TO)).toBe(0)
    expect(release(TO + HOUR_MS)).toBe(1)
    expect(send()).toEqual(['opened'])
  })

  test('that ends outside the run windows of the alert announces when they begin', () => {
    // The window ends at 13:00.
    const { create, notify, release, send } = setUp({ runWindows: { hours: [14, 13] }, timezone: 'UTC' })
    create()
    notify('opened')
    expect(release(TO)).toBe(0)
    expect(send()).toEqual([])
    expect(release(TO + HOUR_MS)).toBe(1)
    expect(send()).toEqual(['opened'])
  })

  test('for another vendor or domain changes nothing', () => {
    const { create, notify, send, kinds } = setUp()
    create({ vendors: ['Meta Pixel'] })
    notify('opened')
    expect(send()).toEqual(['opened'])
    expect(kinds()).not.toContain('held_back')
  })

  test('announces many issues in small steps, each once', () => {
    const { create, issue, alert, enqueue, release, send, db, clock, issueRow } = setUp()
    create()
    for (let index = 0; index < 120; index++) {
      const issueId = issue(`iss_many${index}`, alert.id)
      const historySeq = addHistory(db, issueId, 'opened', null, clock.now())
      const finding = issueRow(issueId)?.evidence ?? null
      enqueue({ kind: 'notify', issueId, historySeq, at: clock.now(), transition: 'opened', finding, delayMs: 0 })
    }
    expect([release(TO), release(TO), release(TO), release(TO)]).toEqual([50, 50, 20, 0])
    clock.advance(MINUTE_MS)
    expect(send().length + send().length).toBe(120)
  })

  test('is shown on unresolved issues while it is in force', () => {
    const { create, db, orgId, issueId, byHand } = setUp()
    create()
    const maintenance = { name: 'Nightly deploy', until: TO }
    const shown = (at: Instant) => [
      findIssue(db, orgId, issueId, at).maintenance,
      listIssues(db, orgId, {}, at).items[0]?.maintenance,
    ]
    expect(shown(TO - 1)).toEqual([maintenance, maintenance])
    expect(shown(TO)).toEqual([undefined, undefined])
    byHand('resolved')
    expect(shown(TO - 1)).toEqual([undefined, undefined])
  })
})

test('a kill at any point loses no announcement and repeats none', () => {
  // The database after each transaction is what a process finds that was killed after it.
  const { create, notify, release, send, db, clock, deps } = setUp()
  create()
  notify('opened')
  const afterKill = (at: Instant) => {
    const copy = openDatabase(db.serialize())
    let calls = 0
    const dying = () => {
      calls++
      throw new Error('killed')
    }
    if (at >= TO) expect(() => releaseWithheld(copy, at, dying)).toThrow('killed')
    const count = () => copy.prepare('SELECT count(*) FROM delivery').pluck().get()
    expect(count()).toBe(0)
    clock.set(at)
    const own = { ...deps, db: copy }
    for (let run = 0; run < 3; run++) releaseWithheld(copy, at, (id) => notifyHeldOpening(own, id))
    expect([at, count(), calls]).toEqual([at, at >= TO ? 1 : 0, at >= TO ? 1 : 0])
  }
  afterKill(TO - 1)
  afterKill(TO)
  afterKill(TO + 10 * HOUR_MS)
  release(TO)
  expect(send()).toEqual(['opened'])
})
