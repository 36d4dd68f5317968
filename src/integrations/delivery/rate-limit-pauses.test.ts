import { describe, expect, test } from 'bun:test'
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import type { Outcome } from '../delivery-outcome.ts'
import { Pauses } from './rate-limit-pauses.ts'

const queue = { orgId: 'org_1', channelTarget: 'https://chat.example/a' }
const other = { orgId: 'org_2', channelTarget: 'https://chat.example/a' }
const first = { ...queue, id: 'dlv_1', seq: 1 }
const second = { ...queue, id: 'dlv_2', seq: 2 }
const wait = (waitMs: number): Outcome => ({ verdict: 'wait', waitMs })

describe('the pause of a queue', () => {
  test.each<[string, Outcome, number]>([
    ['as long as a rate limit lasts', wait(SECOND_MS), SECOND_MS],
    ['the time that the other service asks for', { verdict: 'retry', reason: '', retryAfterMs: 90_000 }, 90_000],
    ['at most five minutes', { verdict: 'retry', reason: '', retryAfterMs: 60 * MINUTE_MS }, 5 * MINUTE_MS],
    ['no pause if a single delivery has to wait', { ...wait(SECOND_MS), onlyThis: true } as Outcome, 0],
    ['no pause if none is requested', { verdict: 'retry', reason: '', retryAfterMs: null }, 0],
    ['no pause after a rejection', { verdict: 'broken', reason: '' }, 0],
    ['no pause after a delivery', { verdict: 'delivered', note: null }, 0],
  ])('has the expected length: %s', (_name, outcome, pauseMs) => {
    const pauses = new Pauses()
    pauses.note(first, outcome, 1000)
    expect(pauses.isPaused(queue, 1000)).toBe(pauseMs > 0)
    expect(pauses.isPaused(queue, 1000 + pauseMs - 1)).toBe(pauseMs > 0)
    expect(pauses.isPaused(queue, 1000 + pauseMs)).toBe(false)
    expect(pauses.isPaused(other, 1000)).toBe(false)
  })
})

test('rate-limited deliveries are sent first after the pause, the oldest first', () => {
  const pauses = new Pauses()
  pauses.note(second, wait(SECOND_MS), 0)
  pauses.note(first, wait(SECOND_MS), 0)
  expect([pauses.firstOf(queue), pauses.firstOf(other)]).toEqual([['dlv_1', 'dlv_2'], []])
  pauses.note({ ...queue, id: 'dlv_3', seq: 3 }, { verdict: 'delivered', note: null }, 0)
  pauses.note(first, { verdict: 'delivered', note: null }, SECOND_MS)
  expect(pauses.firstOf(queue)).toEqual(['dlv_2'])
  pauses.note(second, wait(SECOND_MS), SECOND_MS)
  expect([pauses.firstOf(queue), pauses.isPaused(queue, SECOND_MS)]).toEqual([['dlv_2'], true])
  pauses.note(second, { verdict: 'broken', reason: '' }, 2 * SECOND_MS)
  expect(pauses.firstOf(queue)).toEqual([])
})

test('old pauses are removed', () => {
  const pauses = new Pauses()
  pauses.note(first, wait(SECOND_MS), 0)
  pauses.tidy(SECOND_MS)
  expect(pauses.firstOf(queue)).toEqual(['dlv_1'])
  pauses.tidy(SECOND_MS + 1)
  expect(pauses.firstOf(queue)).toEqual([])
})
