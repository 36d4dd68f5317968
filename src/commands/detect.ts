import type { Instant } from '../core/clock.ts'
import { parseTimestamp } from '../core/timestamp.ts'
import { InferredStepDetector } from '../detector/detector.ts'
import { type Command, UsageError } from './command.ts'
import { linesOf } from './decode.ts'

const DEFAULT_SENSITIVITY = 4
const HEADER = 'timestamp,value,expected,score,anomaly'
const TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d:?\d\d)?)?$/i
const WHOLE_NUMBER = /^-?\d{1,17}$/
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i
/**
 * Scores are truncated instead of rounded, so that a score just below the sensitivity does not look like an anomaly.
 */
const SCORE_DIGITS = 1e6
const EXPECTED_DIGITS = 1e3

/**
 * Parses a number, or an ISO 8601 date with an optional time, which may follow a space instead of `T`. The unit of a
 * number depends on its magnitude (see `parseTimestamp`); the default is milliseconds. A time without an offset is UTC.
 * Returns null for anything else, such as February 30.
 */
export function parseTime(text: string): Instant | null {
  if (WHOLE_NUMBER.test(text)) return parseTimestamp(Number(text)) ?? Number(text)
  const [matched, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] =
    TIME.exec(text) ?? []
  if (matched === undefined) return null
  const [h, m, s] = [Number(hour), Number(minute), Number(second)]
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day))
  // `Date` would convert a nonexistent day to a day of the next month.
  if (h > 23 || m > 59 || s > 59 || new Date(date).toISOString().slice(0, 10) !== `${year}-${month}-${day}`) return null
  const [, sign = '+', zoneHours = '0', zoneMinutes = '0'] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? []
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1)
  return date + ((h * 60 + m - offset) * 60 + s) * 1000 + Math.floor(Number(`0.${fraction || 0}`) * 1000)
}

const unquoted = (text: string) => text.trim().replace(/^"(.*)"$/, '$1')

/** Parses an input line; null for the header and for empty lines. */
function readLine(
  line: string,
  number: number,
  inMs: boolean,
): { t: Instant; time: string; value: number | null; written: string } | null {
  const written = line.replace(/\r$/, '')
  if (written.trim() === '') return null
  const fail = (what: string) => new UsageError(`detect: line ${number}: ${what}`)
  const fields = written.split(',').map(unquoted)
  const [time = '', text = ''] = fields
  const t = inMs && WHOLE_NUMBER.test(time) ? Number(time) : parseTime(time)
  if (fields.length !== 2) throw fail(`expected timestamp,value, not "${written.slice(0, 80)}"`)
  if (number === 1 && t === null && !NUMBER.test(text)) return null
  if (t === null) throw fail(`"${time.slice(0, 40)}" is not a time; expected ISO 8601, Unix time or YYYYMMDD`)
  if (text !== '' && !(NUMBER.test(text) && Number.isFinite(Number(text)))) {
    throw fail(`"${text.slice(0, 40)}" is not a number`)
  }
  return { t, time, value: text === '' ? null : Number(text), written }
}

/** Scores the lines of a CSV one by one. The output for a line never depends on later lines. */
export class LineDetector {
  private readonly detector: InferredStepDetector
  private number = 0
  private last = Number.NEGATIVE_INFINITY
  /**
   * True for a series whose first number is not a timestamp in any known unit. All numbers of such a series are
   * milliseconds.
   */
  private inMs = false

  constructor(sensitivity: number) {
    this.detector = new InferredStepDetector({ sensitivity })
  }

  /** Returns the line to print; null when there is nothing to score. Throws a `UsageError` with the line number. */
  judge(line: string): string | null {
    this.number += 1
    const row = readLine(line, this.number, this.inMs)
    if (!row) return null
    if (this.last === Number.NEGATIVE_INFINITY)
      this.inMs = WHOLE_NUMBER.test(row.time) && parseTimestamp(Number(row.time)) === null
    if (row.t < this.last)
      throw new UsageError(`detect: line ${this.number}: its time is earlier than that of a previous line`)
    this.last = row.t
    const { expected, score, anomaly } = this.detector.push(row.t, row.value)
    const shown = expected === null ? '' : Math.round(expected * EXPECTED_DIGITS) / EXPECTED_DIGITS
    return `${row.written},${shown},${Math.floor(score * SCORE_DIGITS) / SCORE_DIGITS},${anomaly ? 1 : 0}`
  }
}

function sensitivityOf(flag: string | boolean | undefined): number {
  const sensitivity = flag === undefined ? DEFAULT_SENSITIVITY : Number(flag || Number.NaN)
  if (sensitivity >= 2 && sensitivity <= 8) return sensitivity
  throw new UsageError(`detect: --sensitivity must be a number from 2 to 8, not "${flag}"`)
}

export const detect: Command = {
  name: 'detect',
  summary:
    'Detects anomalies in counts: reads CSV rows (timestamp,value) from standard input and scores each row as it arrives.',
  flags: {
    sensitivity: {
      type: 'string',
      value: 'K',
      meaning:
        'Deviation from the expected value that counts as unusual: 2 (most sensitive) to 8, default 4. A row marked with a score ' +
        'just below K is unusual, alone or together with earlier rows, but belongs to an alarm in the last 12 hours',
    },
  },
  async run({ flags }) {
    const detector = new LineDetector(sensitivityOf(flags.sensitivity))
    // The program that reads the pipe may close it, as `head` does.
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(0)
    })
    let printed = `${HEADER}\n`
    const flush = () => {
      if (printed !== '') process.stdout.write(printed)
      printed = ''
    }
    try {
      for await (const lines of linesOf(process.stdin)) {
        for (const line of lines) {
          const answer = detector.judge(line)
          if (answer !== null) printed += `${answer}\n`
        }
        flush()
      }
    } finally {
      flush()
    }
    return 0
  },
}
