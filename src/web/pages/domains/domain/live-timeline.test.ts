import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Event } from '#client/types.gen'
import {
  addEvents,
  EMPTY_TIMELINE,
  filterEvents,
  MAX_SHOWN,
  MAX_WAITING,
  resume,
  secondsBefore,
  valuesOf,
} from './live-timeline.ts'

const eventOf = (seq: number, values: Partial<Event> = {}) =>
  ({
    seq,
    receivedAt: seq,
    vendor: 'GA4',
    event: 'purchase',
    host: 'shop.example',
    path: '/cart',
    params: { value: '79.90' },
    violations: null,
    ...values,
  }) as Event
const seqs = (events: readonly Event[]) => events.map(({ seq }) => seq)

describe('the timeline', () => {
  test('shows each event once, newest first, in whatever order they arrive', () => {
    const first = addEvents(
      EMPTY_TIMELINE,
      [3, 1, 2].map((seq) => eventOf(seq)),
      { isPaused: false },
    )
    const second = addEvents(
      first,
      [2, 5, 4].map((seq) => eventOf(seq)),
      { isPaused: false },
    )
    expect(seqs(second.shown)).toEqual([5, 4, 3, 2, 1])
    expect(addEvents(second, [eventOf(4)], { isPaused: false })).toBe(second)
  })

  test('does not move while it is paused, and then shows what has waited', () => {
    const before = addEvents(EMPTY_TIMELINE, [eventOf(1)], { isPaused: false })
    const paused = addEvents(before, [eventOf(1), eventOf(2), eventOf(3)], { isPaused: true })
    expect([seqs(paused.shown), seqs(paused.waiting)]).toEqual([[1], [3, 2]])
    expect(resume(paused)).toEqual({ shown: [eventOf(3), eventOf(2), eventOf(1)], waiting: [], dropped: 0 })
  })

  test('is bounded, and every event is shown, waiting or counted as dropped', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 700 }), fc.boolean(), fc.integer({ min: 0, max: 9 })))
    fc.assert(
      fc.property(steps, (given) => {
        let timeline = EMPTY_TIMELINE
        let [last, skippedInAll] = [0, 0]
        for (const [size, isPaused, skipped] of given) {
          const events = Array.from({ length: size }, () => eventOf(++last))
          if (!isPaused) timeline = resume(timeline)
          timeline = addEvents(timeline, events, { isPaused, skipped })
          skippedInAll += skipped
          expect(timeline.shown.length).toBeLessThanOrEqual(MAX_SHOWN)
          expect(timeline.waiting.length).toBeLessThanOrEqual(MAX_WAITING)
          const counted = timeline.shown.length + timeline.waiting.length + timeline.dropped
          expect(counted).toBe(last + skippedInAll)
        }
      }),
      { numRuns: 40 },
    )
  })
})

const events = [
  eventOf(1),
  eventOf(2, { vendor: 'Meta Pixel', event: 'PageView', path: '/Home', params: { em: 'a' } }),
  eventOf(3, { event: 'page_view', params: { value: '5' } }),
]

test.each([
  [{}, [1, 2, 3]],
  [{ vendor: ['GA4'] }, [1, 3]],
  [{ vendor: ['GA4', 'Meta Pixel'], event: ['PageView', 'purchase'] }, [1, 2]],
  [{ vendor: ['GA4'], event: ['PageView'] }, []],
  [{ q: ' PAGE' }, [2, 3]],
  [{ q: '/home' }, [2]],
  [{ q: 'value=79' }, [1]],
  [{ q: 'shop.example/' }, [1, 2, 3]],
])('the filters %j match events %j', (filters, expected) => {
  expect(seqs(filterEvents(events, { q: '', vendor: [], event: [], ...filters }))).toEqual(expected)
})

test('the last minute has an entry for each second, with its violating events', () => {
  const now = 1_767_614_400_500
  const at = (seconds: number) => 1_767_614_400_000 - seconds * 1000
  const seconds = secondsBefore(
    [
      eventOf(1, { receivedAt: at(0) }),
      eventOf(2, { receivedAt: at(0) + 400, violations: ['alr_1'] }),
      eventOf(3, { receivedAt: at(59) }),
      eventOf(4, { receivedAt: at(60) }),
      eventOf(5, { receivedAt: at(-1) }),
    ],
    now,
  )
  expect(seconds).toHaveLength(60)
  expect(seconds[0]).toEqual({ at: at(59), events: 1, violating: 0 })
  expect(seconds.at(-1)).toEqual({ at: at(0), events: 2, violating: 1 })
  expect(seconds.reduce((sum, { events }) => sum + events, 0)).toBe(3)
})

test('the values of a filter include selected ones that have not been seen', () => {
  expect(valuesOf(events, 'vendor', ['Bing'])).toEqual(['Bing', 'GA4', 'Meta Pixel'])
})
