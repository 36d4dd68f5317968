import { expect, test } from 'bun:test'
import { LineDetector } from '../../src/commands/detect.ts'
import { describeReport, reportText } from './bug-report.ts'

/** Returns the row numbers of the marked rows. */
function marked(text: string): number[] {
  const detector = new LineDetector(4)
  return text
    .trim()
    .split('\n')
    .flatMap((line, row) => (detector.judge(line)?.endsWith(',1') ? [row] : []))
}

describeReport('a series with numeric times', () => {
  const iso = () => reportText('17-ga4date-series-iso.csv')
  const numbers = (of: (at: number) => number) =>
    iso().replaceAll(/^(\d{4}-\d\d-\d\d)/gm, (day) => String(of(Date.parse(day))))

  test('has the same anomalies with days in the format of the Google Analytics Data API', () => {
    expect(marked(iso())).not.toEqual([])
    expect(marked(reportText('17-ga4date-series.csv'))).toEqual(marked(iso()))
  })

  test.each([
    ['seconds', (at: number) => at / 1000],
    ['milliseconds', (at: number) => at],
    ['microseconds', (at: number) => at * 1000],
    [
      'the format YYYYMMDDHH',
      (at: number) => Number(`${new Date(at).toISOString().slice(0, 10).replaceAll('-', '')}00`),
    ],
    ['milliseconds since the first value', (at: number) => at - Date.UTC(2026, 6, 13)],
  ])('has the same anomalies with times in %s', (_, of) => {
    expect(marked(numbers(of))).toEqual(marked(iso()))
  })
})
