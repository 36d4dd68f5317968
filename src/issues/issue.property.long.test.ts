import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Finding, Window } from '../alerts/finding.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Db } from '../store/database.ts'
import { databaseWithOrgs, evaluationOf, findingOf, NOON, validationAlert, volumeAlert } from './issue.fixture.ts'
import { ISSUE_STATUSES, type IssueStatus, type NotificationRequest, type Transition } from './issue.ts'
import { issueKindOf } from './issue-kinds.ts'
import type { AlertFacts } from './reconcile-issues.ts'
import { applyFindings, findIssue, setStatus } from './store.ts'

const SUBJECTS = ['', 'ga4 purchase', 'ga4 view']
const LONGEST_WAIT_MS = 10 * SECOND_MS

/** Optional fields of generated findings. In production, only anomaly alerts set `continues` or `explainedBy`. */
const MARKS = [{}, {}, { continues: true as const }, { explainedBy: '' }]
type Fire = { subject: string; occurrences: number; marks: (typeof MARKS)[number] }
type Step =
  | { do: 'evaluate'; fires: Fire[]; whole: boolean; inRunWindow: boolean }
  | { do: 'hand'; pick: number; to: IssueStatus }
  | { do: 'wait'; ms: number; caughtUp: boolean }

const fire = fc.record({
  subject: fc.constantFrom(...SUBJECTS),
  occurrences: fc.integer({ min: 1, max: 9 }),
  marks: fc.constantFrom(...MARKS),
})
const mostly = fc.constantFrom(true, true, true, false)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('evaluate' as const),
      fires: fc.array(fire, { maxLength: 3 }),
      whole: mostly,
      inRunWindow: mostly,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('hand' as const), pick: fc.nat(), to: fc.constantFrom(...ISSUE_STATUSES) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(0, SECOND_MS, LONGEST_WAIT_MS, DAY_MS, 8 * DAY_MS),
      caughtUp: mostly,
    }),
  },
)

interface World {
  db: Db
  alert: AlertFacts
  now: Instant
  windowStartAt: Instant
  judgedThrough: Instant
  orders: NotificationRequest[]
  /** Time at which each notification was requested. */
  givenAt: Instant[]
  /** Expected counts by subject. */
  counted: Map<string, number>
  /** For each subject, the issue whose occurrences were last counted, and the window. */
  countedIn: Map<string, string>
}

const enqueueOf = (world: World) => (order: NotificationRequest) => {
  world.orders.push(order)
  world.givenAt.push(world.now)
}

type Row = { id: string; subject: string; status: IssueStatus; occurrences: number }
const rowsOf = (world: World) =>
  world.db.prepare<[], Row>('SELECT id, subject, status, occurrences FROM issue ORDER BY id').all()

/**
 * Returns the next window, as the scheduler does: windows are in order, each violation is evaluated once, and
 * thresholds evaluate only whole windows.
 */
function nextWindow(world: World, whole: boolean): Window {
  const end = world.windowStartAt + HOUR_MS
  const part = world.judgedThrough + MINUTE_MS
  const complete = whole || world.alert.alertType === 'volume_threshold' || part >= end
  return { from: world.judgedThrough, to: complete ? end : part, complete }
}

function evaluate(world: World, { fires, whole, inRunWindow }: Extract<Step, { do: 'evaluate' }>): void {
  const { alert, windowStartAt } = world
  const window = nextWindow(world, whole)
  world.now = Math.max(world.now, window.to)
  const isAnomaly = alert.alertType === 'volume_anomaly'
  const findings: Finding[] = fires.map(({ marks, ...one }) =>
    findingOf({ ...one, ...(isAnomaly ? marks : {}), firstAt: window.from, lastAt: window.to - 1 }),
  )
  const before = new Map(rowsOf(world).map((row) => [row.subject, row]))
  const ordersBefore = world.orders.length
  applyFindings(
    world.db,
    { ...evaluationOf({ alert }), window, windowStartAt, findings, inRunWindow, now: world.now },
    enqueueOf(world),
  )
  if (!inRunWindow) expect(world.orders).toHaveLength(ordersBefore)
  for (const [subject, fired] of Map.groupBy(findings, (finding) => finding.subject)) {
    const occurrences = fired.reduce((sum, finding) => sum + finding.occurrences, 0)
    const isNews = fired.some(({ continues, explainedBy }) => !continues && explainedBy === undefined)
    noteCounted(world, { subject, occurrences, inRunWindow, isNews, wasUnsettled: isUnsettled(before.get(subject)) })
    // Findings that continue or are explained do not change the status.
    if (isNews) continue
    const after = rowsOf(world).findLast((row) => row.subject === subject)
    expect([after?.id, after?.status]).toEqual([before.get(subject)?.id, before.get(subject)?.status])
  }
  world.judgedThrough = window.to
  if (window.complete) world.windowStartAt = window.to
}

const isUnsettled = (row: Row | undefined) => row !== undefined && row.status !== 'resolved'

/** Adds the findings of one subject to the expected counts. */
function noteCounted(world: World, { subject, occurrences, inRunWindow, isNews, wasUnsettled }: Counted): void {
  const { alert, windowStartAt } = world
  const row = rowsOf(world).findLast((one) => one.subject === subject)
  if (!row || (!inRunWindow && (!wasUnsettled || issueKindOf(alert.alertType).messages.countsFirings))) return
  if (!wasUnsettled && !isNews) return
  const place = `${row.id} ${windowStartAt}`
  const isCounted = issueKindOf(alert.alertType).messages.countsFirings && world.countedIn.get(subject) === place
  if (!isCounted) world.counted.set(subject, (world.counted.get(subject) ?? 0) + occurrences)
  world.countedIn.set(subject, place)
}

interface Counted {
  subject: string
  occurrences: number
  inRunWindow: boolean
  isNews: boolean
  wasUnsettled: boolean
}

function changeByHand(world: World, { pick, to }: Extract<Step, { do: 'hand' }>): void {
  const rows = rowsOf(world)
  const row = rows[pick % Math.max(rows.length, 1)]
  if (!row) return
  const before = findIssue(world.db, 'org_a', row.id)
  try {
    setStatus(world.db, { orgId: 'org_a', by: 'usr_1', now: world.now }, row.id, to, enqueueOf(world))
    expect(findIssue(world.db, 'org_a', row.id).status).toBe(to)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect(error.code).toBe('conflict')
    expect(findIssue(world.db, 'org_a', row.id)).toEqual(before)
  }
}

function take(world: World, next: Step): void {
  if (next.do === 'evaluate') evaluate(world, next)
  else if (next.do === 'hand') changeByHand(world, next)
  else {
    world.now += next.ms
    if (!next.caughtUp) return
    const windowStartAt = Math.floor(world.now / HOUR_MS) * HOUR_MS
    if (windowStartAt > world.windowStartAt) world.windowStartAt = world.judgedThrough = windowStartAt
  }
}

const STATUS_AFTER: Record<string, IssueStatus> = {
  opened: 'open',
  reopened: 'open',
  unmuted: 'open',
  acknowledged: 'acknowledged',
  resolved: 'resolved',
  muted: 'muted',
}

function checkIssues(world: World): void {
  const rows = rowsOf(world)
  for (const subject of SUBJECTS) {
    const ofSubject = rows.filter((row) => row.subject === subject)
    expect(ofSubject.filter((row) => row.status !== 'resolved').length).toBeLessThanOrEqual(1)
    expect(ofSubject.reduce((sum, row) => sum + row.occurrences, 0)).toBe(world.counted.get(subject) ?? 0)
  }
  for (const { id, status, occurrences } of rows) {
    const { history, occurrenceSeries } = findIssue(world.db, 'org_a', id)
    expect(occurrenceSeries.reduce((sum, day) => sum + day.count, 0)).toBe(occurrences)
    expect(history.filter((entry) => entry.kind === 'opened')).toHaveLength(1)
    const last = history.findLast((entry) => entry.kind in STATUS_AFTER)
    expect(STATUS_AFTER[last?.kind ?? '']).toBe(status)
  }
}

/** Returns the sent messages about an issue, in the order in which they were sent, after all delays have passed. */
function messagesOf(world: World, issueId: string): Transition[] {
  const sent: { transition: Transition; at: Instant }[] = []
  for (const [index, order] of world.orders.entries()) {
    if (order.issueId !== issueId) continue
    const givenAt = world.givenAt[index] ?? 0
    if (order.kind === 'notify') sent.push({ transition: order.transition, at: givenAt + order.delayMs })
    else while (sent.length > 0 && (sent.at(-1)?.at ?? 0) > givenAt) sent.pop()
  }
  return sent.map((message) => message.transition)
}

function checkMessages(world: World): void {
  const seqs = world.orders.flatMap((order) => (order.kind === 'notify' ? [order.historySeq] : []))
  expect(new Set(seqs).size).toBe(seqs.length)
  for (const { id, status } of rowsOf(world)) {
    const messages = messagesOf(world, id)
    expect(messages.indexOf('opened')).toBe(0)
    expect(messages.lastIndexOf('opened')).toBe(0)
    for (const [index, message] of messages.entries()) {
      const before = messages[index - 1]
      if (message === 'resolved') expect(before).not.toBe('resolved')
      if (message === 'repeated') expect(before).not.toBe('resolved')
    }
    // Muting sends no notification, so a muted issue looks unchanged to recipients.
    if (status !== 'muted') expect(messages.at(-1) === 'resolved').toBe(status === 'resolved')
  }
}

const anomalyAlert: AlertFacts = { ...volumeAlert, id: 'alr_anomaly', alertType: 'volume_anomaly' }

test.each([volumeAlert, anomalyAlert, validationAlert])(
  '$alertType: issue counts and notifications are consistent after any sequence of steps',
  (alert) => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const world: World = {
          db: databaseWithOrgs(),
          alert,
          now: NOON,
          windowStartAt: NOON,
          judgedThrough: NOON,
          orders: [],
          givenAt: [],
          counted: new Map(),
          countedIn: new Map(),
        }
        for (const next of steps) {
          take(world, next)
          checkIssues(world)
        }
        checkMessages(world)
        world.db.close()
      }),
      { numRuns: 120 },
    )
  },
)
