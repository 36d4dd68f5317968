import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { CHANGE_RETENTION_MS, ChangeLog, MAX_RETAINED } from './change-stream-log.ts'

const numbers = (log: ChangeLog, after: number, most = 100) => log.after(after, most)?.map(({ seq }) => seq) ?? null

test('a stream resumes after any event of its log, and other events are rejected', () => {
  const log = new ChangeLog()
  for (const kind of ['a', 'b', 'c']) log.add(kind, '{}', 1000)
  expect(log.last).toBe(3)
  expect([0, 1, 3].map((seq) => log.seqOf(log.idOf(seq), 1000))).toEqual([0, 1, 3])
  expect(numbers(log, 1)).toEqual([2, 3])
  expect(numbers(log, 0, 2)).toEqual([1, 2])
  expect(numbers(log, 3)).toEqual([])
  const others = [new ChangeLog().idOf(1), log.idOf(4), '', 'x', '1', `${log.idOf(1)}x`, log.idOf(1).slice(1), '.1']
  for (const id of others) expect([id, log.seqOf(id, 1000)]).toEqual([id, null])
})

test('resumes for five minutes after an event, or longer if no event has followed', () => {
  const log = new ChangeLog()
  log.add('a', '{}', 0)
  log.add('b', '{}', 1000)
  expect(log.seqOf(log.idOf(1), 1000 + CHANGE_RETENTION_MS)).toBe(1)
  expect(log.seqOf(log.idOf(1), 1001 + CHANGE_RETENTION_MS)).toBeNull()
  expect(log.seqOf(log.idOf(2), 1001 + CHANGE_RETENTION_MS)).toBe(2)
})

test('retains the most recent events, and reports when some are missing', () => {
  const log = new ChangeLog()
  for (let n = 0; n < 5 * MAX_RETAINED; n++) log.add('a', '{}', 0)
  expect(numbers(log, 5 * MAX_RETAINED - MAX_RETAINED, 1)).toEqual([4 * MAX_RETAINED + 1])
  expect(numbers(log, 1)).toBeNull()
  expect(log.seqOf(log.idOf(1), 0)).toBeNull()
})

test('a reader that resumes receives every event once, or a report that events are missing', () => {
  const acts = fc.array(
    fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 50 }) }),
      fc.record({ pass: fc.integer({ min: 0, max: CHANGE_RETENTION_MS }) }),
      fc.record({ read: fc.integer({ min: 1, max: 30 }) }),
      fc.constant({ resume: true as const }),
    ),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(acts, (steps) => {
      const log = new ChangeLog()
      const times: number[] = []
      let [now, place] = [0, 0]
      for (const step of steps) {
        if ('pass' in step) now += step.pass
        else if ('add' in step) {
          for (let n = 0; n < step.add; n++) log.add('a', '{}', now)
          times.push(...new Array<number>(step.add).fill(now))
        } else if ('read' in step) {
          const read = numbers(log, place, step.read)
          const expected = times.map((_, index) => index + 1).slice(place, place + step.read)
          if (read) expect(read).toEqual(expected)
          place = read ? (read.at(-1) ?? place) : log.last
        } else {
          const at = log.seqOf(log.idOf(place), now)
          const oldest = times[place] ?? now
          expect(at).toBe(now - oldest <= CHANGE_RETENTION_MS ? place : null)
          place = at ?? log.last
        }
      }
    }),
  )
})
