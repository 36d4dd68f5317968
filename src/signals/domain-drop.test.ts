import { describe, expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { DomainDropDetector } from './domain-drop.ts'
import type { Outcome } from './verdict-row.ts'

describe('the domain drop detector', () => {
  const outcome = (hour: number, values: Partial<Outcome> = {}): Outcome => {
    const row = { observed: 60, expected: 60, low: 30, high: 120 }
    return {
      at: hour * HOUR_MS,
      since: (hour - 1) * HOUR_MS,
      state: 'normal',
      learningUntil: null,
      ...row,
      row,
      open: false,
      alarm: false,
      silentSince: null,
      lastEventAt: null,
      score: 0,
      unlikely: 0,
      touchesGap: false,
      ...values,
    }
  }
  const counted = (observed: number, expected = 60) => ({ row: { observed, expected, low: 30, high: 120 } })
  const low = (hour: number, values: Partial<Outcome> = {}) =>
    outcome(hour, { state: 'low', open: true, ...counted(20), ...values })
  /** A silence at `minute` since `since` (both in minutes). 15.1 missing events are 5 deviations. */
  const silent = (minute: number, since: number, unlikely = 16) =>
    outcome(minute / 60, { state: 'silent', open: true, row: null, since: since * MINUTE_MS, unlikely })

  /** Total traffic of 240 events an hour, and the signals of the domain. */
  function guardOf(whole: readonly Outcome[], signals: readonly (readonly Outcome[])[]): DomainDropDetector {
    const guard = new DomainDropDetector({ stepMs: HOUR_MS }, 5)
    for (const hour of [0, 1, 2, 3, 4]) guard.addDomainOutcome(outcome(hour, counted(240, 240)))
    for (const one of whole) guard.addDomainOutcome(one)
    for (const signal of signals) {
      let [last, lastRow]: (Outcome | null)[] = [null, null]
      for (const one of signal) {
        guard.addSignalOutcome(one, last ?? null, lastRow ?? null)
        last = one
        if (one.row) lastRow = one
      }
    }
    return guard
  }
  const fallsOf = (guard: DomainDropDetector) =>
    guard.drops().map(({ at, alarm }) => `${at / HOUR_MS}${alarm ? '!' : ''}`)
  const few = { ...counted(80, 240) }
  const rows = (...observed: number[]) => observed.map((count, hour) => outcome(hour, counted(count)))
  const usual = rows(60, 60, 60, 60)

  test.each<[string, Outcome[], Outcome[][], string[]]>([
    [
      'is low, as are three of its four signals',
      [low(1, few)],
      [rows(60, 20), rows(60, 20), rows(60, 20), usual],
      ['1!'],
    ],
    ['is low, as are half of its signals', [low(1, few)], [rows(60, 20), rows(60, 20), usual, usual], []],
    ['is low, while its signals vary randomly', [low(1, few)], [rows(60, 50), rows(60, 50), rows(60, 50), usual], []],
    ['is normal, even if its signals drop', [outcome(1)], [rows(60, 0), rows(60, 0)], []],
    ['is high', [outcome(1, { state: 'high', open: true })], [rows(60, 0), rows(60, 0)], []],
    [
      'is low because of a signal that was already low',
      [low(1, { ...counted(140, 240) })],
      [[low(0), low(1)], rows(60, 55), rows(60, 30), rows(60, 55)],
      [],
    ],
    [
      'is low, as are its signals, one of them already before',
      [low(1, few)],
      [[low(0), low(1)], rows(60, 20), rows(60, 20), rows(60, 20)],
      ['1!'],
    ],
    ['is low and has no signals', [low(1, few)], [], []],
    ['is silent while its signals are learning', [silent(75, 60)], [[outcome(1, { state: 'learning' })]], []],
    ['is silent', [silent(75, 60)], [usual, usual], ['1.25!']],
    [
      'is silent after half of its traffic had already stopped',
      [silent(75, 60)],
      [[low(0), low(1, counted(0, 120))], usual],
      [],
    ],
    [
      'is silent for longer after half of its traffic had already stopped',
      [silent(75, 60, 31)],
      [[low(0), low(1, counted(0, 120))], usual],
      ['1.25!'],
    ],
    [
      'is silent after one signal stopped earlier in the same hour',
      [silent(100, 85)],
      [[outcome(0, counted(120, 120)), outcome(1, counted(120, 120)), silent(80, 61), silent(85, 61)], usual],
      [],
    ],
    [
      'is silent for hours, even if its signals had already stopped',
      [silent(200, 60)],
      [[low(3, counted(0, 240))]],
      [`${200 / 60}!`],
    ],
    ['stays low', [low(1, few), low(2, few)], [rows(60, 20, 20), rows(60, 20, 20)], ['1!', '2']],
    ['is low again after some hours', [low(0, few), low(3, few)], [rows(20, 60, 60, 20)], ['0!', '3!']],
    ['is reported again', [low(1, few), low(2, { ...few, alarm: true })], [rows(60, 20, 20)], ['1!', '2!']],
  ])('evaluates a domain that %s', (_, whole, signals, expected) => {
    expect(fallsOf(guardOf(whole, signals))).toEqual(expected)
  })

  const marksOf = (guard: DomainDropDetector, outcomes: readonly Outcome[]) =>
    guard.explain(outcomes).map(({ explained = false, alarm }) => `${explained ? 'explained' : ''}${alarm ? '!' : ''}`)

  test('explains signal drops while the domain is down; a drop that lasts two hours longer is reported once', () => {
    const guard = guardOf([low(1, few), low(2, few)], [rows(60, 20, 20)])
    const lows = [1, 2, 2.5, 3, 4, 5, 6].map((hour) => low(hour, { alarm: hour < 3 }))
    expect(marksOf(guard, lows)).toEqual(['explained', 'explained', 'explained', '', '', '!', ''])
    // Almost recovered.
    expect(marksOf(guard, [low(5, counted(55))])).toEqual([''])
    expect(marksOf(guard, [outcome(2, { state: 'high', open: true, alarm: true })])).toEqual(['!'])
    expect(marksOf(guard, [low(0.5, { alarm: true })])).toEqual(['!'])
  })

  /** A tick at which the domain has had no events since the given minute. */
  const lull = (minute: number, since: number) =>
    outcome(minute / 60, { row: null, lastEventAt: since * MINUTE_MS, since: since * MINUTE_MS })
  const found = (minute: number, since: number) => ({ ...silent(minute, since), alarm: true })
  const on = (minutes: readonly number[], since: number) => minutes.map((minute) => silent(minute, since))

  test.each<[string, Outcome[], Outcome[], string[]]>([
    ['is reported immediately while the domain has events', [], [found(75, 60), silent(80, 60)], ['!', '']],
    [
      "waits while the domain is also silent, and is reported at the domain's first event",
      [lull(75, 60), lull(80, 60)],
      [found(75, 60), ...on([80, 85, 90], 60)],
      ['', '', '!', ''],
    ],
    ['waits if the domain was silent for half of the time', [lull(75, 67)], [found(75, 60), silent(80, 60)], ['', '!']],
    ['does not wait if the domain was silent only briefly', [lull(75, 68)], [found(75, 60), silent(80, 60)], ['!', '']],
    [
      'is explained if the domain drops in the meantime',
      [lull(75, 60), { ...silent(80, 60), lastEventAt: 60 * MINUTE_MS }],
      [found(75, 60), ...on([80, 85], 60)],
      ['', 'explained', 'explained'],
    ],
    [
      'waits for at most an hour',
      [75, 130, 135].map((minute) => lull(minute, 60)),
      [found(75, 60), ...on([130, 135, 140], 60)],
      ['', '', '!', ''],
    ],
    [
      "is reported at the domain's first event, even if the signal had an event in the meantime",
      [lull(75, 60)],
      [found(75, 60), silent(110, 80)],
      ['', '!'],
    ],
    [
      'is not reported if the signal had an event hours later',
      [lull(75, 60)],
      [found(75, 60), silent(240, 200)],
      ['', ''],
    ],
    ['does not delay a rise', [lull(75, 60)], [{ ...found(75, 60), state: 'high' }], ['!']],
    ['does not delay a low row', [lull(120, 60)], [low(2, { alarm: true })], ['!']],
  ])('the silence of a signal %s', (_, whole, outcomes, expected) => {
    expect(marksOf(guardOf(whole, [usual]), outcomes)).toEqual(expected)
  })
})
