import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { hourText } from '../core/moment-text.ts'
import { findIssue } from '../issues/store.ts'
import { type EventFields, HOUR } from '../warehouse/warehouse.fixture.ts'
import { EvidenceFixture } from './evidence.fixture.ts'
import { problemOf } from './issue-problem.ts'
import { segmentsOfIssue } from './issue-segments.ts'

let world: EvidenceFixture
beforeEach(async () => {
  world = await EvidenceFixture.open()
})
afterEach(() => world.fixture[Symbol.asyncDispose]())

const SEGMENTS = [
  { browser: 'Safari', browserVersion: '18', os: 'iOS', device: 'phone' },
  { browser: 'Safari', browserVersion: '18', os: 'macOS', device: 'desktop' },
  { browser: 'Chrome', browserVersion: '131', os: 'Android', device: 'phone' },
  { browser: 'Chrome', browserVersion: '131', os: 'Windows', device: 'desktop' },
  { browser: 'Firefox', browserVersion: '133', os: 'Windows', device: 'desktop' },
] as const

const rule = {
  conditions: { logic: 'any' as const, items: [{ parameter: 'value', op: 'is_blank' as const }] },
  filters: [{ parameter: '$event', op: 'equals' as const, values: ['purchase'] }],
}

/** Adds events of 20 sessions per segment at a minute after noon, with parameters that depend on the segment. */
async function addSessions(
  minute: number,
  fields: (segments: StoredEvent['segments'], n: number) => EventFields | null,
) {
  const { clock } = world.fixture
  clock.set(HOUR + minute * MINUTE_MS)
  const events = SEGMENTS.flatMap((segments) =>
    Array.from({ length: 20 }, (_, n): EventFields[] => {
      const own = fields(segments as never, n)
      const place = { orgId: world.people.orgId, domainId: world.domainId, vendor: 'Shop', event: 'purchase' }
      return own ? [{ ...place, sessionId: `${minute} ${segments.os} ${segments.browser} ${n}`, segments, ...own }] : []
    }).flat(),
  )
  await world.fixture.add(events)
}

function answerOf(issueId: string) {
  const { db, clock, warehouse } = world.fixture
  const { orgId } = world.people
  const sources = { db, privacy: () => ({ regions: [], patterns: [] }) as never, retentionMs: 90 * DAY_MS }
  const problem = problemOf(sources, findIssue(db, orgId, issueId), { orgId, now: clock.now() })
  return segmentsOfIssue({ history: warehouse }, problem)
}

test('the segment in which events violate the rule is named, and events out of scope are not counted', async () => {
  const alert = world.watch(rule)
  const isBroken = ({ os }: StoredEvent['segments']) => os === 'iOS'
  for (const minute of [1, 10]) {
    await addSessions(minute, (segments, n) => ({
      params: isBroken(segments) ? {} : { value: '1' },
      violations: isBroken(segments) ? [alert.id] : null,
      event: n === 19 ? 'view' : 'purchase',
    }))
  }
  await world.evaluate(alert, 0, 60)
  const answer = await answerOf(world.issueOf(alert))
  expect(answer).toMatchObject({
    violating: 40,
    healthy: 152,
    segments: [
      { dimension: 'os', value: 'iOS', violating: 40, total: 40, violatingPct: 100, elsewherePct: 0, sharePct: 100 },
    ],
    summary: '100 % of violations come from iOS; elsewhere 0 % of events violate.',
  })
})

test('a count that fell is compared with the week before, and a shift of the traffic is recognised', async () => {
  const alert = world.watch({
    alertType: 'volume_threshold',
    volume: { op: 'lte', count: 1000, event: 'purchase' },
    name: 'Few purchases',
  })
  const weekMinutes = (-7 * DAY_MS) / MINUTE_MS
  for (const event of ['purchase', 'page_view']) {
    for (const minute of [1, 20]) await addSessions(weekMinutes + minute, () => ({ event }))
  }
  await addSessions(1, ({ browser }) => (browser === 'Firefox' ? null : { event: 'page_view' }))
  await addSessions(20, ({ browser }) => (browser === 'Firefox' ? null : { event: 'page_view' }))
  for (const minute of [2, 21]) {
    await addSessions(minute, ({ os, browser }) =>
      os === 'Android' || browser === 'Firefox' ? null : { event: 'purchase' },
    )
  }
  await world.evaluate(alert, 0, 60)
  world.fixture.clock.set(HOUR + HOUR_MS - 1)
  const answer = await answerOf(world.issueOf(alert))
  expect(answer.segments).toMatchObject([
    { dimension: 'os', value: 'Android', violating: 40, total: 40, violatingPct: 100 },
  ])
  expect(answer.summary).toContain('are from Android (0 instead of about 40)')
  expect(answer.summary).toContain('other events from Firefox (0 instead of about 40) fell as well')
})

test('sessions that break a journey are compared with those that follow it', async () => {
  const alert = world.watch({
    alertType: 'journey',
    name: 'Purchases reach Meta',
    journey: {
      version: 2,
      steps: [
        {
          anchor: { kind: 'page', path: '/thanks/', op: 'starts_with' },
          expect: [{ vendor: 'Meta Pixel', event: 'Purchase' }],
        },
      ],
    },
  })
  const isBroken = ({ os }: StoredEvent['segments'], n: number) => os === 'iOS' && n % 2 === 0
  const sessionIdOf = ({ os, browser }: StoredEvent['segments'], n: number) => `${os} ${browser} ${n}`
  await addSessions(1, (segments, n) => ({ sessionId: sessionIdOf(segments, n), event: 'view', path: '/' }))
  await addSessions(2, (segments, n) => ({ sessionId: sessionIdOf(segments, n), path: '/thanks/7' }))
  await addSessions(3, (segments, n) =>
    isBroken(segments, n) ? null : { sessionId: sessionIdOf(segments, n), vendor: 'Meta Pixel', event: 'Purchase' },
  )
  await world.evaluate(alert, 0, 60)
  const answer = await answerOf(world.issueOf(alert))
  expect(answer).toMatchObject({
    violating: 10,
    healthy: 90,
    segments: [{ dimension: 'os', value: 'iOS', violating: 10, total: 20, violatingPct: 50, elsewherePct: 0 }],
    summary: '100 % of violations come from iOS; elsewhere 0 % of sessions violate.',
  })
})

test('an hour is named in the time zone of the organization', async () => {
  const alert = world.watch(rule)
  for (const minute of [1, 61, 121, 181]) {
    await addSessions(minute, () => (minute === 61 ? { violations: [alert.id] } : { params: { value: '1' } }))
  }
  await world.evaluate(alert, 0, 240)
  world.fixture.db.prepare(`UPDATE org SET timezone = 'Asia/Kolkata' WHERE id = ?`).run(world.people.orgId)
  const hour = new Date(HOUR + HOUR_MS).toISOString().slice(11, 16)
  const answer = await answerOf(world.issueOf(alert))
  expect(answer.segments).toMatchObject([{ dimension: 'hour', value: hour }])
  expect(answer.summary).toStartWith(
    `100 % of violations come from the hour from ${hourText(HOUR + HOUR_MS, 'Asia/Kolkata')}; elsewhere`,
  )
})

test('nothing is compared for an alert that was deleted', async () => {
  const alert = world.watch(rule)
  await addSessions(1, () => ({ violations: [alert.id] }))
  await world.evaluate(alert, 0, 60)
  const id = world.issueOf(alert)
  world.remove(alert)
  expect(await answerOf(id)).toEqual({
    violating: 0,
    healthy: 0,
    segments: [],
    summary: 'No segment stands out: the alert’s rule is no longer known.',
  })
})
