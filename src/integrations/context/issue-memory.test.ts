import { expect, test } from 'bun:test'
import { DAY_MS, MINUTE_MS } from '../../core/clock.ts'
import { outboxFixture } from '../delivery/outbox.fixture.ts'
import { shiftAfterClockStep } from '../delivery/outbox.ts'
import { pendingSyncs, saveMemory } from './issue-memory.ts'

/** Database with issues whose status sync to a channel is due. */
function toShow() {
  const world = outboxFixture()
  const { db, clock } = world
  let count = 0
  function due(orgId: string, channelTarget: string, at = 0): string {
    const issueId = world.issue(`iss_${++count}`)
    db.prepare('UPDATE issue SET orgId = ? WHERE id = ?').run(orgId, issueId)
    const channel = { issueId, channelType: 'team_chat', channelTarget }
    saveMemory(db, channel, { memory: {}, integrationId: null, ticketKey: null, now: clock.now() })
    db.prepare('UPDATE issueMemory SET syncAt = ? WHERE issueId = ?').run(at, issueId)
    return issueId
  }
  const first = (limit: number) => pendingSyncs(db, clock.now(), limit).map(({ issueId }) => issueId)
  return { ...world, due, first }
}

test('an organization with very many due syncs does not delay other organizations', () => {
  const { due, first, orgId, people } = toShow()
  for (let n = 0; n < 150; n++) due(orgId, 'https://slow.example/a')
  const theirs = due(people.mallory.orgId, 'https://chat.example/b', 5)
  expect(first(100).slice(0, 2)).toContain(theirs)
})

test('a channel with very many due syncs does not delay other channels', () => {
  const { due, first, orgId } = toShow()
  const longest = due(orgId, 'https://slow.example/a')
  for (let n = 0; n < 150; n++) due(orgId, 'https://slow.example/a', 1)
  const other = due(orgId, 'https://chat.example/b', 5)
  expect(first(100).slice(0, 2)).toEqual([longest, other])
  expect(first(100)).toHaveLength(100)
})

test('syncs are not delayed after the clock is set back', () => {
  const { db, clock, due, first, orgId } = toShow()
  const latestAt = clock.now()
  const issueId = due(orgId, 'https://chat.example/b', latestAt + MINUTE_MS)
  clock.set(latestAt - 365 * DAY_MS)
  shiftAfterClockStep(db, { at: clock.now(), latestAt })
  expect(first(10)).toEqual([])
  clock.advance(MINUTE_MS)
  expect(first(10)).toEqual([issueId])
})
