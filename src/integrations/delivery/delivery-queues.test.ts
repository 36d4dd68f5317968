import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { SECOND_MS } from '../../core/clock.ts'
import type { Transition } from '../../issues/issue.ts'
import type { Db } from '../../store/database.ts'
import { insertIntegration } from '../store.ts'
import {
  claimNext,
  laneOf,
  orgsWaiting,
  type Queue,
  queuesWaiting,
  RoundRobin,
  recoverInterrupted,
} from './delivery-queues.ts'
import { hook, mail, outboxFixture } from './outbox.fixture.ts'
import { recordOutcome } from './record-attempt.ts'

const parts = { jitter: () => 0, mailConfigured: false }
const webhookAt = (target: string) => ({ type: 'webhook' as const, target })

/** Inserts pending deliveries directly into the table. */
function fill(db: Db, count: number, row: (index: number) => { orgId: string; target: string; dueAt: number }) {
  const insert = db.prepare(
    `INSERT INTO delivery (id, orgId, transition, noticeKey, transitionKey, channelType, channelTarget, message, status,
       attempts, dueAt, createdAt)
     VALUES (@id, @orgId, 'opened', @id, @id, 'webhook', @target, '{}', 'pending', 0, @dueAt, 0)`,
  )
  db.transaction(() => {
    for (let index = 0; index < count; index++) insert.run({ id: `dlv_${index}`, ...row(index) })
  })()
}

describe('the lane of a channel', () => {
  const { db, box, orgId, people } = outboxFixture()
  const { id } = insertIntegration(db, box, {
    orgId,
    provider: 'webhook',
    label: 'On call',
    config: { url: 'https://calls.example.com/a' },
    secrets: {},
    createdAt: 0,
  })
  test.each([
    ['webhook', 'https://Hooks.example.com:8443/a?b', 'http', 'https://hooks.example.com:8443'],
    ['webhook', 'https://hooks.example.com./a', 'http', 'https://hooks.example.com'],
    ['webhook', 'https://user:pass@[2001:db8::1]/', 'http', 'https://[2001:db8::1]'],
    ['webhook', 'http://0x7f.1/', 'http', 'http://127.0.0.1'],
    ['webhook', id, 'http', 'https://calls.example.com'],
    ['webhook', 'int_gone', 'http', ''],
    ['webhook', 'no URL', 'http', ''],
    ['email', 'ann@example.com', 'mail', ''],
    ['email', 'owners', 'mail', ''],
  ] as const)('for %s %s is %s with origin %j', (channelType, channelTarget, kind, origin) => {
    expect(laneOf(db, { orgId, channelType, channelTarget })).toEqual({ orgId, kind, origin })
  })

  test("has no origin for another organization's integration", () => {
    expect(laneOf(db, { orgId: people.mallory.orgId, channelType: 'webhook', channelTarget: id }).origin).toBe('')
  })
})

describe('a dispatcher round', () => {
  const targets = (queues: { queue: Queue }[]) => queues.map(({ queue }) => queue.channelTarget.slice(-1))

  test('returns each queue with a due delivery once', () => {
    const { db, clock, issue, tell } = outboxFixture()
    for (const id of ['iss_1', 'iss_2'])
      tell('opened', issue(id), { channels: ['a', 'b'].map((end) => webhookAt(`https://x.example/${end}`)) })
    tell('opened', issue('iss_3'), { channels: [webhookAt('https://x.example/c')], delayMs: 1 })
    expect(targets(new RoundRobin(db).next(clock.now()))).toEqual(['a', 'b'])
    clock.advance(1)
    expect(targets(new RoundRobin(db).next(clock.now()))).toEqual(['a', 'b', 'c'])
  })

  test('starts after the most recently served queue', () => {
    const { db, clock, issue, tell } = outboxFixture()
    tell('opened', issue(), { channels: ['a', 'b', 'c'].map((end) => webhookAt(`https://x.example/${end}`)) })
    const rounds = new RoundRobin(db)
    const [, second] = rounds.next(clock.now())
    if (second) rounds.served(second)
    expect(targets(rounds.next(clock.now()))).toEqual(['c', 'a', 'b'])
  })

  test('reaches each of 10,000 queues of one organization, in bounded pages', () => {
    const { db, clock, orgId, people, issue, tell } = outboxFixture()
    fill(db, 10_000, (index) => ({ orgId, target: `https://h${index}.example/`, dueAt: 0 }))
    const neighbour = people.mallory.orgId
    db.prepare('UPDATE delivery SET orgId = ? WHERE id = ?').run(neighbour, 'dlv_77')
    tell('opened', issue(), { channels: [mail] })
    const rounds = new RoundRobin(db)
    const seen = new Set<string>()
    for (let round = 0; round < 22; round++) {
      const waiting = rounds.next(clock.now())
      expect(waiting.length).toBeLessThanOrEqual(1000)
      // Every round includes the other organization.
      expect(waiting.filter((one) => one.orgId === neighbour)).toHaveLength(1)
      for (const { queue } of waiting) seen.add(queue.channelTarget)
    }
    expect(seen.size).toBe(10_001)
  })

  test('reaches each of 1,000 organizations', () => {
    const { db, clock } = outboxFixture()
    const columns = (db.prepare('PRAGMA table_info(org)').all() as { name: string }[]).map(({ name }) => name)
    const copied = columns.map((name) => (name === 'id' ? '@id' : name)).join()
    const copy = db.prepare(`INSERT INTO org (${columns.join()}) SELECT ${copied} FROM org LIMIT 1`)
    for (let index = 0; index < 1000; index++) copy.run({ id: `org_${index}` })
    fill(db, 1000, (index) => ({ orgId: `org_${index}`, target: 'https://x.example/', dueAt: 0 }))
    const rounds = new RoundRobin(db)
    const seen = new Set<string>()
    for (let round = 0; round < 16; round++) for (const { orgId } of rounds.next(clock.now())) seen.add(orgId)
    expect(seen.size).toBe(1000)
  })
})

test('every query for pending deliveries uses an index without sorting', () => {
  const { db } = outboxFixture()
  const asked: string[] = []
  const prepare = db.prepare.bind(db)
  db.prepare = ((sql: string) => {
    asked.push(sql)
    return prepare(sql)
  }) as typeof db.prepare
  orgsWaiting(db, null, 1)
  queuesWaiting(db, 'org', null, 1)
  claimNext(db, { orgId: 'org', channelType: 'webhook', channelTarget: 'x' }, 0)
  expect(asked).toHaveLength(3)
  for (const sql of asked) {
    const named = { orgId: '', after: '', channelTarget: '', now: 0, most: 1 }
    const plan = prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(sql.includes('@') ? [named] : ['', 1])) as {
      detail: string
    }[]
    const steps = plan.map(({ detail }) => detail).filter((detail) => /delivery|one|TEMP/.test(detail))
    expect(steps).not.toEqual([])
    for (const step of steps) {
      expect(step).toMatch(/^SEARCH (delivery|one) USING (INTEGER PRIMARY KEY|.*INDEX deliveryWaiting \(orgId.)/)
    }
  }
})

test('`behind` is 0 only for the first pending delivery of an issue to a channel', () => {
  type Step = 'tell' | 'resolve' | 'claim' | 'deliver' | 'fail' | 'retry' | 'crash' | 'wait'
  const step = fc.constantFrom<Step>('tell', 'resolve', 'claim', 'deliver', 'fail', 'retry', 'crash', 'wait')
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.constantFrom('iss_1', 'iss_2')), { maxLength: 30 }), (steps) => {
      const { db, clock, issue, tell, take, deliveries } = outboxFixture()
      for (const id of ['iss_1', 'iss_2']) issue(id)
      const end = (outcome: Parameters<typeof recordOutcome>[2]) => {
        const delivery = deliveries().find(({ status }) => status === 'sending')
        if (delivery) recordOutcome(db, delivery, outcome, { ...parts, now: clock.now() })
      }
      for (const [what, issueId] of steps) {
        const say = (transition: Transition) => tell(transition, issueId, { channels: [hook, mail] })
        if (what === 'tell') say('reopened')
        if (what === 'resolve') say('resolved')
        if (what === 'claim') take(1)
        if (what === 'deliver') end({ verdict: 'delivered', note: null })
        if (what === 'fail') end({ verdict: 'broken', reason: 'no' })
        if (what === 'retry') end({ verdict: 'retry', reason: 'later', retryAfterMs: null })
        if (what === 'crash') recoverInterrupted(db)
        if (what === 'wait') clock.advance(6 * SECOND_MS)
        const wrong = db
          .prepare(
            `SELECT * FROM delivery AS one WHERE status = 'pending' AND behind <> EXISTS (
               SELECT 1 FROM delivery AS other WHERE other.issueId = one.issueId AND other.channelType = one.channelType
                 AND other.channelTarget = one.channelTarget
                 AND (other.status = 'sending' OR (other.status = 'pending' AND other.seq < one.seq)))`,
          )
          .all()
        expect(wrong).toEqual([])
      }
    }),
    { numRuns: 60 },
  )
})
