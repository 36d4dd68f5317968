import { expect, test } from 'bun:test'
import { visibleEvents } from './visible-events.ts'

/** Events in the spool are from 50 on, and groups from 80 on are not written yet. */
const spool = { watermark: () => 80, oldestAt: () => 50 as number | null, isWritten: (seq: number) => seq < 800 }

test('events in the spool are visible once they are written', () => {
  const pending = { since: null, visibleSeq: Number.POSITIVE_INFINITY }
  const { watermark, isVisible } = visibleEvents(spool, { readsSpool: true, pending })
  expect([watermark(), isVisible(799), isVisible(800)]).toEqual([80, true, false])
})

test('without reading the spool, events are visible once everything before them is stored', () => {
  const pending = { since: 30 as number | null, visibleSeq: 290 }
  const state = { ...spool }
  const { watermark, isVisible } = visibleEvents(state, { readsSpool: false, pending })
  expect([watermark(), isVisible(290), isVisible(291)]).toEqual([30, true, false])
  pending.since = null
  expect([watermark(), isVisible(291)]).toEqual([50, false])
  state.oldestAt = () => null
  expect([watermark(), isVisible(799), isVisible(800)]).toEqual([80, true, false])
})
