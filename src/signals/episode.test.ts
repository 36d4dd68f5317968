import { describe, expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import type { Verdict } from './detector.ts'
import { DomainGuard } from './domain-guard.ts'
import { Episode } from './episode.ts'
import type { Outcome } from './verdict-row.ts'

/** A row, or a tick at which there is a silence or none, at a minute. */
type Step = [minute: number, row: Partial<Verdict & { count: number }> | null, isSilent: boolean]

const calm: Verdict & { count: number } = {
  ...{ expected: 60, low: 30, high: 120, up: 0, down: 0, score: 0, count: 60 },
  ...{ anomaly: false, alarm: false, open: false, state: 'normal', learningUntil: null },
}
const fallen = { anomaly: true, open: true, down: 9, count: 5 }
const risen = { anomaly: true, open: true, up: 9, count: 400 }

/** What is said at each step: `!` for an alarm, and what is open by the rows. */
function said(steps: readonly Step[]): string[] {
  const episode = new Episode()
  return steps.map(([minute, row, isSilent]) => {
    const { alarm, trouble } = episode.judge(minute * MINUTE_MS, row && { ...calm, ...row }, isSilent)
    return `${trouble ?? ''}${alarm ? '!' : ''}`
  })
}

describe('an episode', () => {
  test.each<[string, Step[], string[]]>([
    [
      'nothing',
      [
        [60, {}, false],
        [65, null, false],
      ],
      ['', ''],
    ],
    [
      'a silence names it, and the row that says the same does not',
      [
        [25, null, true],
        [30, null, true],
        [60, { ...fallen, alarm: true }, true],
        [65, null, true],
      ],
      ['!', '', 'low', 'low'],
    ],
    [
      'a row names it, and the silence that follows does not',
      [
        [60, { ...fallen, alarm: true }, false],
        [65, null, true],
        [120, fallen, true],
      ],
      ['low!', 'low', 'low'],
    ],
    ['both at once are one', [[60, { ...fallen, alarm: true }, true]], ['low!']],
    [
      'half a day later it is told of again',
      [
        [25, null, true],
        [60, { ...fallen, alarm: true }, true],
        [12 * 60 + 60, { ...fallen, alarm: true }, true],
      ],
      ['!', 'low', 'low!'],
    ],
    [
      'a silence within two hours is the same one, a later one is not',
      [
        [25, null, true],
        [30, null, false],
        [120, null, true],
        [125, null, false],
        [250, null, true],
      ],
      ['!', '', '', '', '!'],
    ],
    [
      'a rise beside a silence is told of',
      [
        [25, null, true],
        [60, { ...risen, alarm: true }, false],
      ],
      ['!', 'high!'],
    ],
    [
      'a silence after a rise is named',
      [
        [60, { ...risen, alarm: true }, false],
        [90, null, true],
      ],
      ['high!', 'high!'],
    ],
    [
      'is over when the last rows are as they should be, although sums still hold it',
      [
        [60, { ...fallen, alarm: true }, false],
        [120, { ...fallen, count: 60 }, false],
        [180, { ...fallen, count: 58 }, false],
        [240, { ...fallen, count: 61, alarm: true }, false],
        [300, {}, false],
      ],
      ['low!', 'low', '', '', ''],
    ],
    [
      'goes on when the rows are bad again',
      [
        [60, { ...fallen, alarm: true }, false],
        [120, { ...fallen, count: 60 }, false],
        [180, { ...fallen, count: 58 }, false],
        [240, fallen, false],
        [300, fallen, false],
      ],
      ['low!', 'low', '', 'low', 'low'],
    ],
    [
      'of few events needs more rows to be over',
      [
        [60, { ...fallen, count: 0, expected: 6, alarm: true }, false],
        ...[120, 180, 240, 300, 360].map((minute): Step => [minute, { ...fallen, expected: 6, count: 6 }, false]),
      ],
      ['low!', 'low', 'low', 'low', 'low', ''],
    ],
    [
      'of a rise is over when rows are usual',
      [
        [60, { ...risen, alarm: true }, false],
        [120, { ...risen, count: 66 }, false],
        [180, { ...risen, count: 66 }, false],
      ],
      ['high!', 'high', ''],
    ],
    [
      'of which nothing is expected is over when the detector says so',
      [
        [60, { ...risen, expected: null, alarm: true }, false],
        [120, { ...risen, expected: null, count: 0 }, false],
        [180, { expected: null, count: 0 }, false],
      ],
      ['high!', 'high', ''],
    ],
    [
      'a row that is not known changes nothing',
      [
        [60, { ...fallen, alarm: true }, false],
        [120, null, false],
      ],
      ['low!', 'low'],
    ],
  ])('%s', (_, steps, expected) => {
    expect(said(steps)).toEqual(expected)
  })
})

describe('a domain', () => {
  const outcome = (hour: number, values: Partial<Outcome> = {}): Outcome => {
    const row = { observed: 60, expected: 60, low: 30, high: 120 }
    return {
      ...{ at: hour * HOUR_MS, since: (hour - 1) * HOUR_MS, state: 'normal', learningUntil: null, ...row, row },
      ...{ open: false, alarm: false, silentSince: null, lastEventAt: null, score: 0, unlikely: 0, isHurt: false },
      ...values,
    }
  }
  const counted = (observed: number, expected = 60) => ({ row: { observed, expected, low: 30, high: 120 } })
  const low = (hour: number, values: Partial<Outcome> = {}) =>
    outcome(hour, { state: 'low', open: true, ...counted(20), ...values })
  /** Silent at a minute since another; 15.1 of chance are 5 deviations. */
  const silent = (minute: number, since: number, unlikely = 16) =>
    outcome(minute / 60, { state: 'silent', open: true, row: null, since: since * MINUTE_MS, unlikely })

  /** The whole traffic, of 240 an hour, and its signals, each by itself. */
  function guardOf(whole: readonly Outcome[], signals: readonly (readonly Outcome[])[]): DomainGuard {
    const guard = new DomainGuard({ stepMs: HOUR_MS }, 5)
    for (const hour of [0, 1, 2, 3, 4]) guard.takeWhole(outcome(hour, counted(240, 240)))
    for (const one of whole) guard.takeWhole(one)
    for (const signal of signals) {
      let [last, lastRow]: (Outcome | null)[] = [null, null]
      for (const one of signal) {
        guard.takeSignal(one, last ?? null, lastRow ?? null)
        last = one
        if (one.row) lastRow = one
      }
    }
    return guard
  }
  const fallsOf = (guard: DomainGuard) => guard.falls().map(({ at, alarm }) => `${at / HOUR_MS}${alarm ? '!' : ''}`)
  const few = { ...counted(80, 240) }
  const rows = (...observed: number[]) => observed.map((count, hour) => outcome(hour, counted(count)))
  const usual = rows(60, 60, 60, 60)

  test.each<[string, Outcome[], Outcome[][], string[]]>([
    ['is low, with three of four signals', [low(1, few)], [rows(60, 20), rows(60, 20), rows(60, 20), usual], ['1!']],
    ['is low, with half of them', [low(1, few)], [rows(60, 20), rows(60, 20), usual, usual], []],
    ['is low, and they are low by chance', [low(1, few)], [rows(60, 50), rows(60, 50), rows(60, 50), usual], []],
    ['is as always, whatever they do', [outcome(1)], [rows(60, 0), rows(60, 0)], []],
    ['is high', [outcome(1, { state: 'high', open: true })], [rows(60, 0), rows(60, 0)], []],
    [
      'is low because of one that was low before',
      [low(1, { ...counted(140, 240) })],
      [[low(0), low(1)], rows(60, 55), rows(60, 30), rows(60, 55)],
      [],
    ],
    [
      'is low, one was so before, and the others are now',
      [low(1, few)],
      [[low(0), low(1)], rows(60, 20), rows(60, 20), rows(60, 20)],
      ['1!'],
    ],
    ['is low without signals', [low(1, few)], [], []],
    ['whose signals are learning', [silent(75, 60)], [[outcome(1, { state: 'learning' })]], []],
    ['is silent', [silent(75, 60)], [usual, usual], ['1.25!']],
    ['is silent, where half of it was dead before', [silent(75, 60)], [[low(0), low(1, counted(0, 120))], usual], []],
    [
      'is silent for longer, where half of it was dead before',
      [silent(75, 60, 31)],
      [[low(0), low(1, counted(0, 120))], usual],
      ['1.25!'],
    ],
    [
      'is silent, where one fell silent in the same hour before',
      [silent(100, 85)],
      [[outcome(0, counted(120, 120)), outcome(1, counted(120, 120)), silent(80, 61), silent(85, 61)], usual],
      [],
    ],
    ['is silent for hours, whatever was dead before', [silent(200, 60)], [[low(3, counted(0, 240))]], [`${200 / 60}!`]],
    ['stays so', [low(1, few), low(2, few)], [rows(60, 20, 20), rows(60, 20, 20)], ['1!', '2']],
    ['is so again after some hours', [low(0, few), low(3, few)], [rows(20, 60, 60, 20)], ['0!', '3!']],
    ['is told of again', [low(1, few), low(2, { ...few, alarm: true })], [rows(60, 20, 20)], ['1!', '2!']],
  ])('that %s', (_, whole, signals, expected) => {
    expect(fallsOf(guardOf(whole, signals))).toEqual(expected)
  })

  test('explains falls while it is down; one that outlasts it by two hours is on its own, once', () => {
    const guard = guardOf([low(1, few), low(2, few)], [rows(60, 20, 20)])
    const said = (one: Outcome) => {
      const { explained = false, alarm } = guard.explain(one)
      return `${explained ? 'explained' : ''}${alarm ? '!' : ''}`
    }
    const alarms = [1, 2, 2.5, 3, 4, 5, 6].map((hour) => said(low(hour, { alarm: hour < 3 })))
    expect(alarms).toEqual(['explained', 'explained', 'explained', '', '', '!', ''])
    // Almost back.
    expect(said(low(5, counted(55)))).toBe('')
    expect(said(outcome(2, { state: 'high', open: true, alarm: true }))).toBe('!')
    expect(said(low(0.5, { alarm: true }))).toBe('!')
  })
})
