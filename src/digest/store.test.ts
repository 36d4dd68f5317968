import { expect, test } from 'bun:test'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import { HOUR_MS } from '../core/clock.ts'
import { dueMails, startMail } from './store.ts'

test('an organization with hundreds of digests does not delay other organizations', () => {
  const db = memoryDb()
  const clock = testClock()
  const { orgId, mallory } = cast(db, clock)
  for (let n = 0; n < 300; n++) startMail(db, { orgId, reader: `reader ${n}`, day: 1 }, clock.now())
  clock.advance(1)
  startMail(db, { orgId: mallory.orgId, reader: 'mallory', day: 1 }, clock.now())
  const due = dueMails(db, clock.now(), HOUR_MS, 200)
  expect(due).toHaveLength(200)
  expect(due.findIndex((mail) => mail.orgId === mallory.orgId)).toBe(1)
})
