import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { runProgram } from '../../test/run-program.ts'
import { HOUR_MS } from '../core/clock.ts'
import { Detector } from '../detector/detector.ts'
import { madeSeries, randomOf } from '../detector/series.fixture.ts'
import { LineDetector, parseTime } from './detect.ts'

const HEADER = 'timestamp,value,expected,score,anomaly'
const START = Date.UTC(2026, 0, 5)
const values = madeSeries(60, 5, randomOf(1)).map((value, row) => (row >= 800 ? 0 : value))
const spaced = (row: number) => new Date(START + row * HOUR_MS).toISOString().slice(0, 19).replace('T', ' ')
const lines = values.map((value, row) => `${spaced(row)},${value}`)

describe('a parsed time', () => {
  test.each<[string, string | null]>([
    ['2015-02-26 21:42:53', '2015-02-26T21:42:53.000Z'],
    ['2015-02-26T21:42:53Z', '2015-02-26T21:42:53.000Z'],
    ['2015-02-26T21:42', '2015-02-26T21:42:00.000Z'],
    ['2015-02-26', '2015-02-26T00:00:00.000Z'],
    ['2015-02-26 21:42:53.250000', '2015-02-26T21:42:53.250Z'],
    ['2015-02-26T21:42:53+05:30', '2015-02-26T16:12:53.000Z'],
    ['2015-02-26T21:42:53-0800', '2015-02-27T05:42:53.000Z'],
    ['1424986973000', '2015-02-26T21:42:53.000Z'],
    ['2016-02-29', '2016-02-29T00:00:00.000Z'],
    ['2015-02-29', null],
    ['2015-13-01', null],
    ['2015-02-26 24:00:00', null],
    ['26.02.2015', null],
    ['2015-02-26T21:42:53Z and more', null],
    ['', null],
    ['timestamp', null],
  ])('is as expected: %j becomes %j', (text, expected) => {
    const instant = parseTime(text)
    expect(instant === null ? null : new Date(instant).toISOString()).toBe(expected)
  })

  test('in ISO format has the same value as in JavaScript', () => {
    const date = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
    fc.assert(fc.property(date, (one) => parseTime(one.toISOString()) === one.getTime()))
  })
})

describe('input lines', () => {
  test.each<[string[], string]>([
    [['timestamp,value', '2026-01-01,1', '2026-01-02;2'], 'line 3: expected timestamp,value, not "2026-01-02;2"'],
    [['2026-01-01,1', '2026-01-02,1,5'], 'line 2: expected timestamp,value'],
    [['2026-01-01,1', 'yesterday,1'], 'line 2: "yesterday" is not a time'],
    [['2026-01-01,1', '', '2026-01-02,many'], 'line 3: "many" is not a number'],
    [['2026-01-01,1', '2026-01-02,1e999'], 'line 2: "1e999" is not a number'],
    [['2026-01-02,1', '2026-01-01,1'], 'line 2: its time is earlier than that of a previous line'],
    [['timestamp,value', 'timestamp,value'], 'line 2: "timestamp" is not a time'],
    [['yesterday,5'], 'line 1: "yesterday" is not a time'],
    [['2026-01-01,many'], 'line 1: "many" is not a number'],
  ])('are rejected with an error: %j: %s', (input, message) => {
    const detector = new LineDetector(4)
    expect(() => input.map((line) => detector.judge(line))).toThrow(`detect: ${message}`)
  })

  test('may be a header, empty, quoted or without a value, and may have Windows line endings', () => {
    const detector = new LineDetector(4)
    const input = ['timestamp,value\r', '"2026-01-01","1"\r', '\r', '2026-01-02,\r', '2026-01-03, -2.5e0']
    const found = input.map((line) => detector.judge(line))
    expect(found.map((line) => line?.split(',').slice(0, 2).join() ?? null)).toEqual([
      null,
      '"2026-01-01","1"',
      null,
      '2026-01-02,',
      '2026-01-03, -2.5e0',
    ])
  })
})

describe('the detect command', () => {
  test('prints the results of the detector', async () => {
    const { code, stdout, stderr } = await runProgram(['detect', '--sensitivity', '4.5'], {}, lines.join('\n'))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [header, ...rows] = stdout.trimEnd().split('\n')
    expect(header).toBe(HEADER)
    const detector = new Detector({ sensitivity: 4.5, stepMs: HOUR_MS })
    const expected = values.map((value, row) => detector.push(START + row * HOUR_MS, value))
    expect(rows).toHaveLength(values.length)
    rows.forEach((line, row) => {
      const [timestamp, value, level, score, anomaly] = line.split(',')
      const verdict = expected[row]
      expect(`${timestamp},${value}`).toBe(lines[row] ?? '')
      expect(Number(level)).toBeCloseTo(verdict?.expected ?? 0, 2)
      expect(Number(score)).toBeCloseTo(verdict?.score ?? -1, 4)
      expect(Number(score) >= 4.5).toBe(verdict?.alarm ?? false)
      expect(anomaly).toBe(verdict?.anomaly ? '1' : '0')
    })
    const first = rows.findIndex((line) => line.endsWith(',1'))
    expect(first).toBeGreaterThanOrEqual(800)
    expect(first).toBeLessThan(803)
  })

  test('describes correctly why a row below the sensitivity is marked', async () => {
    const { stdout } = await runProgram(['detect', '--help'])
    expect(stdout).toContain('A row marked with a score just below K is unusual')
    const detector = new LineDetector(4)
    const rows = lines.map((line, row) => {
      const [score = 0, anomaly] = detector.judge(line)?.split(',').slice(-2).map(Number) ?? []
      return { row, score, marked: anomaly === 1 }
    })
    const below = rows.filter(({ score, marked }) => marked && score < 4)
    expect(below.length).toBeGreaterThan(10)
    for (const { row, score } of below) {
      expect(score).toBeCloseTo(0.99 * 4)
      expect(rows.slice(row - 12, row).some((before) => before.score >= 4)).toBe(true)
    }
    for (const { score, marked } of rows) expect(score < 4 || marked).toBe(true)
  })

  test('prints nothing for a row that a later row could change', async () => {
    const whole = (await runProgram(['detect'], {}, `timestamp,value\n${lines.join('\n')}\n`)).stdout
    for (const rows of [0, 1, 2, 3, 47, 300, 801]) {
      const { stdout } = await runProgram(['detect'], {}, `timestamp,value\n${lines.slice(0, rows).join('\n')}`)
      expect(stdout.split('\n').length).toBe(rows + 2)
      expect(whole.startsWith(stdout)).toBe(true)
    }
  })

  test('prints nothing that later rows with a different step could change', () => {
    const gaps = fc.array(fc.constantFrom(HOUR_MS, HOUR_MS, 2 * HOUR_MS, 24 * HOUR_MS), {
      minLength: 2,
      maxLength: 120,
    })
    fc.assert(
      fc.property(gaps, fc.nat(119), (steps, cut) => {
        let t = START
        const input = steps.map((step, row) => {
          t += step
          return `${t},${(row * 37) % 50}`
        })
        const all = (some: string[]) => {
          const detector = new LineDetector(3)
          return some.map((line) => detector.judge(line))
        }
        expect(all(input.slice(0, cut))).toEqual(all(input).slice(0, cut))
      }),
    )
  })

  test.each<[string[], string, string]>([
    [['--sensitivity', '1.9'], '', 'detect: --sensitivity must be a number from 2 to 8, not "1.9"'],
    [['--sensitivity', '8.1'], '', 'detect: --sensitivity must be'],
    [['--sensitivity', 'high'], '', 'detect: --sensitivity must be'],
    [['--sensitivity', ''], '', 'detect: --sensitivity must be'],
    [['--sensitivity', '4'], 'timestamp,value\n2026-01-01,1\nnonsense\n', 'detect: line 3: expected timestamp,value'],
    [['--sensitivity', '4'], 'nonsense', 'detect: line 1: expected timestamp,value'],
  ])('exits with a usage error for the arguments %j and the input %j', async (args, input, message) => {
    const { code, stderr } = await runProgram(['detect', ...args], {}, input)
    expect(code).toBe(2)
    expect(stderr).toStartWith(`tagwarden: ${message}`)
    expect(stderr.trimEnd()).not.toContain('\n')
  })

  test.each(['', 'timestamp,value\n', '\n'])('prints only the header for %j', async (input) => {
    expect(await runProgram(['detect'], {}, input)).toEqual({ code: 0, stdout: `${HEADER}\n`, stderr: '' })
  })
})
