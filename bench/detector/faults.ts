import { HOUR_MS } from '../../src/core/clock.ts'
import { DetectorSet } from '../../src/detector/detector.ts'
import { madeSeries, type Random, randomOf } from '../../src/detector/series.fixture.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { nabSeries } from './nab.ts'

const SENSITIVITIES = [2, 3, 4, 5, 6, 7, 8]
const JUDGED_AT = 5
const ENOUGH = 20
const WEEK = 168
const WEEKS = 12
const SIGNALS = sized(4, 1)
/** Number of hours that the detector learns from before it is measured; enough for weekly seasonality. */
const LEARNED = 4 * WEEK
const HORIZONS = [3, 24] as const
const LONGEST = 24
/** Start of synthetic series: a Monday at 00:00 UTC. */
const MONDAY = Date.UTC(2024, 0, 1)

/** An hourly series and the rows in which no alarm is expected. */
interface Base {
  name: string
  perHour: number
  /** Start of the first row. */
  start: number
  values: number[]
  calm: (row: number) => boolean
}

const FAULTS: readonly { name: string; state: string[]; apply: (value: number, random: Random) => number }[] = [
  { name: 'zero', state: ['low', 'silent'], apply: () => 0 },
  { name: 'half', state: ['low', 'silent'], apply: (value, random) => thinned(value, random) },
  { name: 'double', state: ['high'], apply: (value) => 2 * value },
]

function thinned(value: number, random: Random): number {
  let kept = 0
  for (let event = 0; event < value; event++) if (random() < 0.5) kept += 1
  return kept
}

function basesOf(random: Random): Base[] {
  const made = sized([2, 20, 200, 5000], [20]).flatMap((perHour) =>
    Array.from({ length: SIGNALS }, () => ({
      name: `made, ${perHour}/h`,
      perHour,
      start: MONDAY,
      values: madeSeries(perHour, WEEKS, random),
      calm: () => true,
    })),
  )
  const real = (nabSeries() ?? [])
    .filter(({ name }) => /AMZN|IBM/.test(name))
    .map(({ name, times, values, windows }) => {
      const hours = Array.from({ length: Math.floor(values.length / 12) }, (_, hour) =>
        values.slice(12 * hour, 12 * hour + 12).reduce((a, b) => a + b, 0),
      )
      const perHour = hours.reduce((a, b) => a + b, 0) / hours.length
      // Alarms during or shortly after windows labelled as unusual do not count as false.
      const labelled = windows.map(([from, to]) => [Math.floor(from / 12), Math.ceil(to / 12)] as const)
      return {
        name: `tweets ${name.replace(/.*_|\.csv/g, '')}, ${perHour.toFixed(0)}/h`,
        perHour,
        start: times[0] ?? MONDAY,
        values: hours,
        calm: (row: number) => !labelled.some(([from, to]) => from <= row && row <= to),
      }
    })
  return [...made, ...real]
}

/** Returns an independent deep copy; functions are shared. */
function copyOf<T>(value: T): T {
  if (ArrayBuffer.isView(value)) return structuredClone(value)
  if (typeof value !== 'object' || value === null) return value
  const copy = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value))
  for (const [key, part] of Object.entries(value)) copy[key] = copyOf(part)
  return copy
}

interface Tally {
  perHour: number
  weeks: number
  falseAlarms: number[]
  /** Number of faults found, indexed by time limit, then fault, then sensitivity. */
  found: number[][][]
  starts: number
}

/**
 * Runs the detector over one series. At every hour of the last weeks, also applies each fault to a copy of the detector
 * for a day.
 */
function run({ start, values, calm }: Base, tally: Tally, random: Random, weeksOfFaults: number): void {
  const detector = new DetectorSet({ stepMs: HOUR_MS, sensitivities: SENSITIVITIES })
  const firstFault = values.length - weeksOfFaults * WEEK - LONGEST
  values.forEach((value, row) => {
    if (row >= firstFault && row < values.length - LONGEST) {
      FAULTS.forEach(({ state, apply }, fault) => {
        const hours = hoursToFind(copyOf(detector), start + row * HOUR_MS, state, (hour) =>
          apply(values[row + hour] ?? 0, random),
        )
        HORIZONS.forEach((horizon, which) => {
          hours.forEach((hour, k) => {
            add(tally.found[which]?.[fault], k, hour <= horizon)
          })
        })
      })
      tally.starts += 1
    }
    const verdicts = detector.push(start + row * HOUR_MS, value)
    if (row < LEARNED || !calm(row)) return
    tally.weeks += 1 / WEEK
    verdicts.forEach(({ alarm }, k) => {
      add(tally.falseAlarms, k, alarm)
    })
  })
}

/** Returns, for each sensitivity, the number of hours until an alarm reports the fault; infinite if none does. */
function hoursToFind(
  detector: DetectorSet,
  start: number,
  states: string[],
  valueAt: (hour: number) => number,
): number[] {
  const hours = SENSITIVITIES.map(() => Number.POSITIVE_INFINITY)
  for (let hour = 1; hour <= LONGEST; hour++) {
    detector.push(start + (hour - 1) * HOUR_MS, valueAt(hour - 1)).forEach(({ alarm, state }, k) => {
      if (alarm && states.includes(state)) hours[k] = Math.min(hour, hours[k] ?? hour)
    })
  }
  return hours
}

function add(counts: number[] | undefined, at: number, yes: boolean): void {
  if (counts && yes) counts[at] = (counts[at] ?? 0) + 1
}

const emptyTally = (perHour: number): Tally => ({
  perHour,
  weeks: 0,
  starts: 0,
  falseAlarms: SENSITIVITIES.map(() => 0),
  found: HORIZONS.map(() => FAULTS.map(() => SENSITIVITIES.map(() => 0))),
})

/**
 * Measures faults inserted into hourly series: the percentage found within three hours, and the number of false alarms.
 */
export async function benchFaults(): Promise<Budget[]> {
  const random = randomOf(20_240_101)
  const tallies = new Map<string, Tally>()
  for (const base of basesOf(random)) {
    const tally = tallies.get(base.name) ?? emptyTally(base.perHour)
    tallies.set(base.name, tally)
    run(base, tally, random, base.name.startsWith('made') ? 1 : 3)
  }
  const enough = [...tallies.values()].filter(({ perHour }) => perHour >= ENOUGH)
  const all = enough.reduce(sumOf, emptyTally(ENOUGH))
  HORIZONS.forEach((hours, which) => {
    console.log(
      `  found within ${hours} h, %: ${FAULTS.map(({ name }) => name).join(' ')}; false alarms per signal-week\n`,
    )
    console.log(`| base | starts | weeks | ${SENSITIVITIES.map((k) => `k=${k}`).join(' | ')} |`)
    console.log(`|---|---|---|${'---|'.repeat(SENSITIVITIES.length)}`)
    for (const [name, tally] of tallies) console.log(tableLine(name, tally, which))
    console.log(`${tableLine(`all of ${ENOUGH}/h or more`, all, which)}\n`)
  })
  const at = SENSITIVITIES.indexOf(JUDGED_AT)
  const zero = enough.map((tally) => share(tally.found[0]?.[0], at, tally.starts))
  return [
    budget(`k=${JUDGED_AT}: drops to zero found within 3 h, worst base, %`, Math.min(...zero), 'at least', 95),
    budget(`k=${JUDGED_AT}: false alarms per signal-week`, (all.falseAlarms[at] ?? 0) / all.weeks, 'at most', 0.05),
  ]
}

const share = (found: readonly number[] | undefined, k: number, starts: number) => (100 * (found?.[k] ?? 0)) / starts

function sumOf(a: Tally, b: Tally): Tally {
  const both = (one: number[], other: number[]) => one.map((value, at) => value + (other[at] ?? 0))
  return {
    perHour: a.perHour,
    weeks: a.weeks + b.weeks,
    starts: a.starts + b.starts,
    falseAlarms: both(a.falseAlarms, b.falseAlarms),
    found: a.found.map((faults, which) => faults.map((counts, fault) => both(counts, b.found[which]?.[fault] ?? []))),
  }
}

function tableLine(name: string, { found, starts, weeks, falseAlarms }: Tally, which: number): string {
  const cells = SENSITIVITIES.map((_, k) => {
    const shares = (found[which] ?? []).map((counts) => share(counts, k, starts).toFixed(0)).join(' ')
    return `${shares} ${((falseAlarms[k] ?? 0) / weeks).toFixed(3)}`
  })
  return `| ${name} | ${starts} | ${weeks.toFixed(0)} | ${cells.join(' | ')} |`
}
