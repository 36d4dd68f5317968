import { expect, test } from 'bun:test'
import { TEST_START } from '../../test/fixtures.ts'
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { plainEvent } from '../core/event.fixture.ts'
import { DoorReport } from './door-report.ts'

const at = (seconds: number) => TEST_START + seconds * SECOND_MS
const NOTHING = { firstEvents: [], legacyScripts: [], refused: [], live: [] }
const events = (from: number, to: number, params = {}) =>
  Array.from({ length: to - from }, (_, index) => plainEvent({ seq: from + index, params }))

test('a report that has not arrived is repeated, without live events', () => {
  const report = new DoorReport()
  report.watch(['dom_1'])
  report.firstEvent('dom_1', at(0))
  report.legacyScript('dom_2')
  report.refusedBatch(at(1))
  report.storedBatch(at(3))
  report.add('dom_1', events(1, 3))
  report.add('dom_2', events(3, 4))
  const first = report.take(at(4))
  expect(first).toMatchObject({
    firstEvents: [{ domainId: 'dom_1', receivedAt: at(0) }],
    legacyScripts: ['dom_2'],
    refused: [{ fromAt: at(1), toAt: at(3) }],
    live: [{ domainId: 'dom_1', events: [{ seq: 1 }, { seq: 2 }], skipped: 0 }],
  })
  report.restore(first)
  expect(report.take(at(5))).toEqual({ ...first, live: [] })
  expect(report.take(at(6))).toEqual(NOTHING)
})

test('a period of rejected batches is reported from its beginning while it lasts', () => {
  const report = new DoorReport()
  report.refusedBatch(at(0))
  expect(report.take(at(10)).refused).toEqual([{ fromAt: at(0), toAt: at(10) }])
  const lost = report.take(at(20))
  report.restore(lost)
  report.refusedBatch(at(30))
  expect(report.take(at(40)).refused).toEqual([{ fromAt: at(0), toAt: at(40) }])
  report.storedBatch(at(50))
  report.storedBatch(at(90))
  expect(report.take(at(95)).refused).toEqual([{ fromAt: at(0), toAt: at(50) }])
  expect(report.take(at(100)).refused).toEqual([])
})

test('short interruptions are one period, and silence ends it after two minutes', () => {
  const report = new DoorReport()
  for (const second of [0, 60, 300]) {
    report.refusedBatch(at(second))
    report.storedBatch(at(second + 10))
  }
  report.refusedBatch(at(600))
  expect(report.take(at(600) + 5 * MINUTE_MS).refused).toEqual([
    { fromAt: at(0), toAt: at(70) },
    { fromAt: at(300), toAt: at(310) },
    { fromAt: at(600), toAt: at(600) + 2 * MINUTE_MS },
  ])
  expect(report.take(at(600) + 6 * MINUTE_MS).refused).toEqual([])
})

test('live events are limited by number and by size', () => {
  const report = new DoorReport()
  report.watch(['dom_1', 'dom_2'])
  report.add('dom_1', events(0, 60))
  report.add('dom_1', events(60, 150))
  report.add('dom_2', events(0, 3, { text: 'x'.repeat(1024 * 1024) }))
  const [many, large] = report.take(at(0)).live
  expect([many?.events.length, many?.events[0]?.seq, many?.skipped]).toEqual([100, 50, 50])
  expect([large?.events.length, large?.skipped]).toEqual([1, 2])
  report.add('dom_1', events(0, 1))
  report.watch(['dom_2'])
  expect(report.take(at(0))).toEqual(NOTHING)
})
