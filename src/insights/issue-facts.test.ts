import { expect, test } from 'bun:test'
import { memoryDb, testClock } from '../../test/fakes.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { issueOfAlert, validationAlert } from '../issues/issue.fixture.ts'
import { factsOf } from './issue-facts.ts'

test('kept counts are asked for once a minute in the first hour of an issue, then once in ten, for each organization', async () => {
  const db = memoryDb()
  const clock = testClock()
  const firstSeenAt = clock.now()
  let asked = 0
  const history = {
    async query<T>(): Promise<T[]> {
      asked++
      return []
    },
  }
  const sources = { db, history, domains: () => [], privacy: () => PLAIN_PRIVACY }
  const issue = (id: string) => issueOfAlert(validationAlert, { id, domainId: 'dom_a', firstSeenAt, evidence: null })
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
  clock.advance(MINUTE_MS)
  expect([await ask(['iss_a']), await ask(['iss_a'])]).toEqual([1, 0])
  clock.advance(2 * HOUR_MS)
  expect(await ask(['iss_a'])).toBe(1)
  clock.advance(9 * MINUTE_MS)
  expect(await ask(['iss_a'])).toBe(0)
  clock.advance(MINUTE_MS)
  expect(await ask(['iss_a'])).toBe(1)
})
