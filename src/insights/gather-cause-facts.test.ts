import { expect, test } from 'bun:test'
import { memoryDb, testClock } from '../../test/fixtures.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { findingOf, issueOfAlert, validationAlert } from '../issues/issue.fixture.ts'
import type { Query } from '../warehouse/query.ts'
import { factsOf } from './gather-cause-facts.ts'

test('failures are recounted when events clearly increase, and every minute (after the first hour, every 10 minutes)', async () => {
  const db = memoryDb()
  const clock = testClock()
  const firstSeenAt = clock.now()
  let vendorEvents = 1000
  let asked = 0
  const history = {
    async query<T>({ name }: Query): Promise<T[]> {
      if (name === 'insights.vendor-failures') asked++
      if (name !== 'insights.tag-manager-reports') return []
      const counts = { reportsBefore: 0, reportsSince: 0, allBefore: 0, allSince: 0, vendorEvents }
      return ['iss_a', 'iss_b'].map((id) => ({ id, ...counts })) as T[]
    },
  }
  const sources = { db, history, domains: () => [], privacy: () => PLAIN_PRIVACY }
  const evidence = findingOf({ vendor: 'GA' })
  const issue = (id: string) => issueOfAlert(validationAlert, { id, domainId: 'dom_a', firstSeenAt, evidence })
  const ask = async (ids: string[], counts: 'fresh' | 'kept' = 'kept', orgId = 'org_a') => {
    const before = asked
    const facts = await factsOf(sources, orgId, ids.map(issue), clock.now(), counts)
    expect(facts.map((one) => one.issue.id)).toEqual(ids)
    return asked - before
  }
  expect([await ask(['iss_a']), await ask(['iss_a']), await ask(['iss_a', 'iss_b']), await ask(['iss_b'])]).toEqual([
    1, 0, 1, 0,
  ])
  expect([await ask(['iss_a'], 'kept', 'org_b'), await ask(['iss_a'], 'fresh')]).toEqual([1, 1])
  vendorEvents = 1010
  expect(await ask(['iss_a'])).toBe(0)
  vendorEvents = 1011
  expect([await ask(['iss_a']), await ask(['iss_a'])]).toEqual([1, 0])
  clock.advance(MINUTE_MS)
  expect([await ask(['iss_a']), await ask(['iss_a'])]).toEqual([1, 0])
  clock.advance(2 * HOUR_MS)
  expect(await ask(['iss_a'])).toBe(1)
  clock.advance(9 * MINUTE_MS)
  expect(await ask(['iss_a'])).toBe(0)
  clock.advance(MINUTE_MS)
  expect(await ask(['iss_a'])).toBe(1)
})
