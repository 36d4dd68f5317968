import { describe, expect, test } from 'bun:test'
import { MINUTE_MS } from '../core/clock.ts'
import type { Verdict } from './detector.ts'
import { DropEpisode } from './drop-episode.ts'

/** A row, or a tick with or without a silence, at the given minute. */
type Step = [minute: number, row: Partial<Verdict & { count: number }> | null, isSilent: boolean]

const calm: Verdict & { count: number } = {
  expected: 60,
  low: 30,
  high: 120,
  up: 0,
  down: 0,
  score: 0,
  count: 60,
  anomaly: false,
  alarm: false,
  open: false,
  state: 'normal',
  learningUntil: null,
}
const fallen = { anomaly: true, open: true, down: 9, count: 5 }
const risen = { anomaly: true, open: true, up: 9, count: 400 }

/** Returns the outcome of each step: `!` for an alarm, followed by the open deviation. */
function outcomesOf(steps: readonly Step[]): string[] {
  const episode = new DropEpisode()
  return steps.map(([minute, row, isSilent]) => {
    const { alarm, deviation } = episode.judge(minute * MINUTE_MS, row && { ...calm, ...row }, isSilent)
    return `${deviation ?? ''}${alarm ? '!' : ''}`
  })
}

describe('episode outcomes', () => {
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
      'a silence reports the drop, and a row in the same state does not report it again',
      [
        [25, null, true],
        [30, null, true],
        [60, { ...fallen, alarm: true }, true],
        [65, null, true],
      ],
      ['!', '', 'low', 'low'],
    ],
    [
      'a row reports the drop, and the following silence does not report it again',
      [
        [60, { ...fallen, alarm: true }, false],
        [65, null, true],
        [120, fallen, true],
      ],
      ['low!', 'low', 'low'],
    ],
    ['a row and a silence at the same time are one episode', [[60, { ...fallen, alarm: true }, true]], ['low!']],
    [
      'a continuing drop raises another alarm half a day later',
      [
        [25, null, true],
        [60, { ...fallen, alarm: true }, true],
        [12 * 60 + 60, { ...fallen, alarm: true }, true],
      ],
      ['!', 'low', 'low!'],
    ],
    [
      'a silence within two hours belongs to the same episode, but a later one does not',
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
      'a rise during a silence raises an alarm',
      [
        [25, null, true],
        [60, { ...risen, alarm: true }, false],
      ],
      ['!', 'high!'],
    ],
    [
      'a silence after a rise is reported',
      [
        [60, { ...risen, alarm: true }, false],
        [90, null, true],
      ],
      ['high!', 'high!'],
    ],
    [
      'a drop ends when the latest rows are normal, although sums still deviate',
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
      'a drop continues when rows deviate again',
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
      'with few events, a drop ends only after more rows',
      [
        [60, { ...fallen, count: 0, expected: 6, alarm: true }, false],
        ...[120, 180, 240, 300, 360].map((minute): Step => [minute, { ...fallen, expected: 6, count: 6 }, false]),
      ],
      ['low!', 'low', 'low', 'low', 'low', ''],
    ],
    [
      'a rise ends when rows are normal',
      [
        [60, { ...risen, alarm: true }, false],
        [120, { ...risen, count: 66 }, false],
        [180, { ...risen, count: 66 }, false],
      ],
      ['high!', 'high', ''],
    ],
    [
      'without an expected count, a rise ends when the detector reports a normal state',
      [
        [60, { ...risen, expected: null, alarm: true }, false],
        [120, { ...risen, expected: null, count: 0 }, false],
        [180, { expected: null, count: 0 }, false],
      ],
      ['high!', 'high', ''],
    ],
    [
      'an unknown row changes nothing',
      [
        [60, { ...fallen, alarm: true }, false],
        [120, null, false],
      ],
      ['low!', 'low'],
    ],
  ])('are as expected: %s', (_, steps, expected) => {
    expect(outcomesOf(steps)).toEqual(expected)
  })
})
