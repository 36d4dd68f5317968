import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { DetectorSet } from '../../src/detector/detector.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'

/** Series and labels of the Numenta Anomaly Benchmark, stored outside the project. */
const FOLDER = join(import.meta.dir, '../../../shared/data/nab')
const SERIES = sized(['AAPL', 'AMZN', 'CRM', 'FB', 'GOOG', 'IBM', 'UPS'], ['AAPL']).map(
  (name) => `realTweets/Twitter_volume_${name}.csv`,
)
const SENSITIVITIES = [2, 3, 3.5, 4, 4.5, 5, 6, 7, 8]
const JUDGED_AT = 4
const STEP_MS = 5 * MINUTE_MS

/** Weights of a detected window, a false alarm and a missed window. */
interface Profile {
  name: string
  found: number
  wrong: number
  missed: number
}

const STANDARD: Profile = { name: 'standard', found: 1, wrong: 0.11, missed: 1 }
const PROFILES: readonly Profile[] = [
  STANDARD,
  { name: 'reward_low_FP', found: 1, wrong: 0.22, missed: 1 },
  { name: 'reward_low_FN', found: 1, wrong: 0.11, missed: 2 },
]

export interface LabelledSeries {
  name: string
  times: number[]
  values: number[]
  /** First and last row of each window. */
  windows: [number, number][]
}

/**
 * Returns the weight of a detection: 1 well before the end of a window, 0 at its end, and −1 well after it. `position`
 * is relative to the end of the window, in units of the window's width.
 */
function worth(position: number): number {
  return position > 3 ? -1 : 2 / (1 + Math.exp(5 * position)) - 1
}

/** Returns the number of rows at the start that are not scored. */
const probation = (rows: number) => Math.floor(0.15 * Math.min(rows, 5000))

interface Score {
  /** Score of a detector that raises no alarm. */
  nothing: number
  perfect: number
  points: number
  found: number
  windows: number
  falseRows: number
}

/**
 * Scores the detections in one series by the rules of the Numenta Anomaly Benchmark (Lavin and Ahmad 2015,
 * https://arxiv.org/abs/1510.03336; constants from nab/sweeper.py and config/profiles.json in its repository). The
 * earlier the first detection in a window, the higher its score. Missed windows and detections outside windows reduce
 * the score; detections shortly after a window reduce it less. The first 15 % of rows, at most 750, are not scored.
 */
function scoreOf({ windows, times }: LabelledSeries, detected: (row: number) => boolean, profile: Profile): Score {
  const first = probation(times.length)
  const counted = windows.filter(([, last]) => last >= first)
  const score: Score = {
    nothing: -profile.missed * counted.length,
    perfect: profile.found * windows.length,
    points: 0,
    found: 0,
    windows: windows.length,
    falseRows: 0,
  }
  for (const [from, to] of counted) {
    let row = Math.max(from, first)
    while (row <= to && !detected(row)) row++
    if (row > to) score.points -= profile.missed
    else {
      score.found += 1
      score.points += (profile.found * worth(-(to - row + 1) / (to - from + 1))) / worth(-1)
    }
  }
  for (let row = first; row < times.length; row++) {
    if (!detected(row) || windows.some(([from, to]) => from <= row && row <= to)) continue
    const before = windows.findLast(([, to]) => to < row)
    score.falseRows += 1
    score.points += profile.wrong * (before ? worth((row - before[1]) / (before[1] - before[0])) : -1)
  }
  return score
}

/** Returns the combined score for several series: 0 for a detector that raises no alarm, 100 for a perfect one. */
function normalised(scores: readonly Score[]): number {
  const sum = (field: 'points' | 'nothing' | 'perfect') => scores.reduce((total, score) => total + score[field], 0)
  return (100 * (sum('points') - sum('nothing'))) / (sum('perfect') - sum('nothing'))
}

const timeOf = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`)

/** Reads a benchmark series and its windows. */
function readSeries(name: string): LabelledSeries {
  const lines = readFileSync(join(FOLDER, 'data', name), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
  const times = lines.map((line) => timeOf(line.slice(0, line.indexOf(','))))
  const labels: Record<string, [string, string][]> = JSON.parse(
    readFileSync(join(FOLDER, 'combined_windows.json'), 'utf8'),
  )
  return {
    name,
    times,
    values: lines.map((line) => Number(line.slice(line.indexOf(',') + 1))),
    windows: (labels[name] ?? []).map(([from, to]) => [times.indexOf(timeOf(from)), times.indexOf(timeOf(to))]),
  }
}

export const nabSeries = () => (existsSync(FOLDER) ? SERIES.map(readSeries) : null)

/** Returns the score of each row for each sensitivity. */
function judge({ times, values }: LabelledSeries): { scores: number[][]; alarms: number[][]; microseconds: number } {
  const detector = new DetectorSet({ stepMs: STEP_MS, sensitivities: SENSITIVITIES })
  const started = performance.now()
  const rows = times.map((t, row) => detector.push(t, values[row] ?? null))
  const microseconds = ((performance.now() - started) * 1000) / times.length
  const scores = SENSITIVITIES.map((_, which) => rows.map((verdicts) => verdicts[which]?.score ?? 0))
  const alarms = SENSITIVITIES.map((_, which) => rows.flatMap((verdicts, row) => (verdicts[which]?.alarm ? [row] : [])))
  return { scores, alarms, microseconds }
}

/** Scores the detector on the benchmark's seven Twitter series. */
export async function benchNab(): Promise<Budget[]> {
  const series = nabSeries()
  if (!series) {
    console.log('  skipped: the Numenta Anomaly Benchmark series are not available')
    return []
  }
  const judged = series.map((one) => ({ one, ...judge(one) }))
  const at = SENSITIVITIES.indexOf(JUDGED_AT)
  const scoresAt = (which: number, threshold: number, profile: Profile) =>
    judged.map(({ one, scores }) => scoreOf(one, (row) => (scores[which]?.[row] ?? 0) >= threshold, profile))
  console.log(
    `| series at ${JUDGED_AT} | rows | windows found | false rows | ${PROFILES.map(({ name }) => name).join(' | ')} |`,
  )
  console.log(`|---|---|---|---|${'---|'.repeat(PROFILES.length)}`)
  const byProfile = PROFILES.map((profile) => scoresAt(at, JUDGED_AT, profile))
  judged.forEach(({ one }, which) => {
    const [score] = byProfile.map((scores) => scores[which])
    const figures = byProfile.map((scores) => normalised(scores.slice(which, which + 1)).toFixed(1))
    const name = one.name.replace(/.*_|\.csv/g, '')
    console.log(
      `| ${name} | ${one.times.length} | ${score?.found}/${score?.windows} | ${score?.falseRows} | ${figures.join(' | ')} |`,
    )
  })
  console.log(`| all | | | | ${byProfile.map((scores) => normalised(scores).toFixed(1)).join(' | ')} |`)
  const own = SENSITIVITIES.map((k, which) => `${k}: ${normalised(scoresAt(which, k, STANDARD)).toFixed(1)}`)
  console.log(`  standard at score >= sensitivity: ${own.join(', ')}`)
  const thresholds = [...new Set(judged.flatMap(({ scores }) => scores[at] ?? []).filter((score) => score > 2.5))]
  const best = thresholds
    .map((threshold) => ({ threshold, value: normalised(scoresAt(at, threshold, STANDARD)) }))
    .reduce((a, b) => (b.value > a.value ? b : a))
  console.log(`  best threshold at sensitivity ${JUDGED_AT}: ${best.threshold.toFixed(3)} → ${best.value.toFixed(1)}`)
  console.log(
    `  µs per row, ${SENSITIVITIES.length} sensitivities: ${judged.map(({ microseconds }) => microseconds.toFixed(1)).join(', ')}`,
  )
  return [budget(`standard profile at sensitivity ${JUDGED_AT}`, normalised(byProfile[0] ?? []), 'at least', 70)]
}
