import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { testClock } from '../../test/fixtures.ts'
import { plainEvent } from '../core/event.fixture.ts'
import { ARMED_MS, LiveBuffer } from './live-buffer.ts'

const event = (seq: number) => plainEvent({ seq, id: `e${seq}` })
const seqs = (events: readonly { seq: number }[]) => events.map(({ seq }) => seq)

describe('the live buffer', () => {
  test('captures from the first read until one minute after the last', () => {
    const clock = testClock()
    const live = new LiveBuffer(clock)
    live.add('dom_1', [event(1)])
    expect(live.read('dom_1', null, 10)).toEqual({
      events: [],
      latestSeq: 0,
      armedUntil: clock.now() + ARMED_MS,
      skipped: 0,
    })
    live.add('dom_1', [event(2), event(3)])
    live.add('dom_2', [event(4)])
    expect(seqs(live.read('dom_1', null, 10).events)).toEqual([2, 3])
    expect(live.read('dom_1', 2, 10)).toMatchObject({ events: [{ seq: 3 }], latestSeq: 3 })
    clock.advance(ARMED_MS)
    live.add('dom_1', [event(5)])
    expect(seqs(live.read('dom_1', 3, 10).events)).toEqual([5])
    clock.advance(ARMED_MS + 1)
    live.add('dom_1', [event(6)])
    expect(live.read('dom_1', 5, 10)).toMatchObject({ events: [], latestSeq: 5 })
  })

  test("returns events since the caller's own `since`, regardless of other callers", () => {
    const live = new LiveBuffer(testClock())
    live.read('dom_1', 900, 10)
    expect(live.read('dom_1', 5, 10)).toMatchObject({ events: [], latestSeq: 5 })
    live.add('dom_1', [event(6), event(7), event(8)])
    expect(live.read('dom_1', 5, 2)).toMatchObject({ events: [{ seq: 6 }, { seq: 7 }], latestSeq: 7 })
    expect(live.read('dom_1', null, 2)).toMatchObject({ events: [{ seq: 7 }, { seq: 8 }], latestSeq: 8 })
    expect(live.read('dom_1', 8, 2)).toMatchObject({ events: [], latestSeq: 8 })
  })

  test('withholds events while those of other processes may follow, and counts those that are skipped', () => {
    const clock = testClock()
    let delayMs = 2000
    const live = new LiveBuffer(clock, () => delayMs)
    const at = (seq: number) => ({ ...event(seq), receivedAt: clock.now() })
    expect(live.watched()).toEqual([])
    const { latestSeq } = live.read('dom_1', null, 10)
    expect(live.watched()).toEqual(['dom_1'])
    const first = at(10)
    live.add('dom_1', [first])
    clock.advance(1000)
    const second = at(20)
    live.add('dom_1', [at(15)], 7)
    live.add('dom_1', [second])
    expect(live.read('dom_1', latestSeq, 10)).toMatchObject({ events: [], skipped: 7 })
    clock.advance(1000)
    expect(live.read('dom_1', latestSeq, 10)).toMatchObject({ events: [{ seq: 10 }], skipped: 0 })
    delayMs = 0
    expect(live.read('dom_1', 10, 10)).toMatchObject({ events: [{ seq: 15 }, { seq: 20 }], skipped: 0 })
    clock.advance(ARMED_MS + 1)
    expect(live.watched()).toEqual([])
  })

  test('assigns an event without an ID the ID under which it is stored', () => {
    const live = new LiveBuffer(testClock())
    live.read('dom_1', null, 1)
    live.add('dom_1', [{ ...event(7), id: '' }])
    expect(live.read('dom_1', null, 1).events).toMatchObject([{ id: 'evt_7' }])
  })

  test('returns each of the last 1,000 events once, in order, to a caller that continues with latestSeq', () => {
    const batches = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 40 })
    fc.assert(
      fc.property(batches, fc.integer({ min: 1, max: 500 }), (sizes, limit) => {
        const live = new LiveBuffer(testClock())
        live.read('dom_1', 0, 1)
        let last = 0
        const groups = sizes.map((size) => Array.from({ length: size }, () => event(++last)))
        // Two groups that were written together.
        for (let n = 0; n < groups.length; n += 2) {
          for (const group of [groups[n + 1], groups[n]]) live.add('dom_1', group ?? [])
        }
        const seen: number[] = []
        for (let since = 0; ; ) {
          const { events, latestSeq } = live.read('dom_1', since, limit)
          if (events.length === 0) break
          seen.push(...seqs(events))
          since = latestSeq
        }
        expect(seen).toEqual(Array.from({ length: Math.min(last, 1000) }, (_, n) => Math.max(0, last - 1000) + n + 1))
      }),
      { numRuns: 50 },
    )
  })

  test('counts the events that a reader has missed, and only these', () => {
    const sizes = fc.array(fc.tuple(fc.integer({ min: 0, max: 1500 }), fc.boolean()), { maxLength: 12 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 1000 }), (bursts, limit) => {
        const live = new LiveBuffer(testClock())
        let since = live.read('dom_1', 0, limit).latestSeq
        let [last, seen, skipped] = [0, 0, 0]
        const read = () => {
          // Another reader doesn't change the result.
          live.read('dom_1', null, 3)
          const view = live.read('dom_1', since, limit)
          since = view.latestSeq
          seen += view.events.length
          skipped += view.skipped
          return view.events.length
        }
        for (const [size, isRead] of bursts) {
          live.add(
            'dom_1',
            Array.from({ length: size }, () => event(++last)),
          )
          if (isRead) read()
        }
        while (read() > 0);
        expect(seen + skipped).toBe(last)
      }),
      { numRuns: 50 },
    )
  })

  test('keeps large events up to a total of eight million characters', () => {
    const live = new LiveBuffer(testClock())
    live.read('dom_1', null, 10)
    const large = (seq: number) => plainEvent({ seq, id: `e${seq}`, params: { a: 'x'.repeat(2 ** 20 - 1) } })
    for (let seq = 1; seq <= 20; seq++) live.add('dom_1', [large(seq)])
    expect(seqs(live.read('dom_1', null, 1000).events)).toEqual([13, 14, 15, 16, 17, 18, 19, 20])
    live.add('dom_1', [plainEvent({ seq: 21, id: 'e21', params: { a: 'b' } })])
    expect(seqs(live.read('dom_1', 12, 1000).events)).toEqual([14, 15, 16, 17, 18, 19, 20, 21])
  })
})
