import { eventOf } from '../alerts/alert.fixture.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import type { Segments, StoredEvent } from '../core/event.ts'
import type { PairedDimension, SegmentCounts } from './find-segments.ts'
import {
  DIMENSIONS,
  type Dimension,
  EMPTY_TALLY,
  SESSION_CAP,
  type SegmentKey,
  type SegmentTally,
  type Tally,
} from './segment.ts'

/** Returns a generator of reproducible random numbers from 0 to 1 (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

type Shares = Readonly<Record<string, number>>

const BROWSERS: Readonly<Record<string, Shares>> = {
  iOS: { Safari: 88, Chrome: 9, Firefox: 1, Edge: 2 },
  Android: { Chrome: 74, 'Samsung Internet': 19, Firefox: 4, Opera: 3 },
  Windows: { Chrome: 60, Edge: 27, Firefox: 10, Opera: 3 },
  macOS: { Safari: 52, Chrome: 39, Firefox: 8, Edge: 1 },
  Linux: { Chrome: 55, Firefox: 45 },
}
const VERSIONS: Readonly<Record<string, Shares>> = {
  Safari: { 18: 55, 17: 28, 16: 11, 15: 6 },
  Chrome: { 131: 52, 130: 24, 129: 9, 128: 5, 127: 3, 126: 3, 109: 4 },
  Edge: { 131: 60, 130: 30, 129: 10 },
  Firefox: { 133: 55, 132: 25, 128: 12, 115: 8 },
  'Samsung Internet': { 27: 60, 26: 25, 25: 15 },
  Opera: { 114: 70, 113: 30 },
}
const SYSTEMS: Readonly<Record<string, Shares>> = {
  phone: { iOS: 45, Android: 55 },
  tablet: { iOS: 62, Android: 38 },
  desktop: { Windows: 68, macOS: 25, Linux: 7 },
  bot: { Linux: 90, Windows: 10 },
}
const DEVICES: Shares = { phone: 55, desktop: 38, tablet: 5, bot: 2 }
const LANGUAGES: Readonly<Record<string, Shares>> = {
  DE: { de: 92, en: 6, tr: 2 },
  AT: { de: 95, en: 5 },
  CH: { de: 62, fr: 27, it: 6, en: 5 },
  FR: { fr: 95, en: 5 },
  GB: { en: 98, pl: 2 },
  US: { en: 92, es: 8 },
  IT: { it: 95, en: 5 },
  ES: { es: 94, en: 6 },
  NL: { nl: 88, en: 12 },
  PL: { pl: 97, en: 3 },
}
const CONSENTS: Readonly<Record<string, Shares>> = {
  DE: { granted: 55, denied: 32, unknown: 13 },
  US: { granted: 88, denied: 4, unknown: 8 },
}
const CONSENT: Shares = { granted: 66, denied: 22, unknown: 12 }
const PAGES: Shares = {
  '/': 18,
  '/category/:id': 22,
  '/product/:id': 30,
  '/search': 8,
  '/cart': 7,
  '/checkout': 5,
  '/checkout/payment': 3.5,
  '/checkout/thanks': 2.5,
  '/account': 2,
  '/blog/:id': 2,
}
const HOURS = [2, 1, 1, 1, 1, 2, 3, 4, 5, 5, 5, 6, 6, 5, 5, 5, 6, 6, 7, 8, 8, 7, 5, 3]

function picker(shares: Shares, random: () => number): () => string {
  const entries = Object.entries(shares)
  const sum = entries.reduce((all, [, share]) => all + share, 0)
  return () => {
    let at = random() * sum
    for (const [value, share] of entries) {
      at -= share
      if (at < 0) return value
    }
    return entries[0]?.[0] ?? ''
  }
}

const pickers = (by: Readonly<Record<string, Shares>>, random: () => number) =>
  Object.fromEntries(Object.entries(by).map(([key, shares]) => [key, picker(shares, random)]))

/** Varies shares by a factor of up to two in either direction, because no two shops have the same visitors. */
const varied = (shares: Shares, random: () => number): Shares =>
  Object.fromEntries(Object.entries(shares).map(([key, share]) => [key, share * 2 ** (2 * random() - 1)]))

const variedAll = (by: Readonly<Record<string, Shares>>, random: () => number) =>
  Object.fromEntries(Object.entries(by).map(([key, shares]) => [key, varied(shares, random)]))

export interface ShopOptions {
  events: number
  seed: number
  /** Sampling rate of page views other than those of the checkout; 1: not sampled. */
  rate?: number
  /** Number of events of an additional robot's session; 0: none. */
  robot?: number
}

/** The traffic of one shop in 24 hours, as columns of codes. Events of a session are adjacent. */
export class Shop {
  readonly values = Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, [] as string[]])) as Record<
    Dimension,
    string[]
  >
  readonly codes: Record<Dimension, Uint16Array>
  readonly weights: Float64Array
  /** Index of each session's first event, and the number of events. */
  readonly starts: number[] = []
  readonly length: number
  /** Index of the first event of the robot; `length` without a robot. */
  readonly robotAt: number
  readonly random: () => number
  private readonly known = Object.fromEntries(DIMENSIONS.map((one) => [one, new Map<string, number>()])) as Record<
    Dimension,
    Map<string, number>
  >

  constructor({ events, seed, rate = 1, robot = 0 }: ShopOptions) {
    this.length = events + robot
    this.robotAt = events
    this.random = randomOf(seed)
    this.codes = Object.fromEntries(DIMENSIONS.map((one) => [one, new Uint16Array(this.length)])) as Record<
      Dimension,
      Uint16Array
    >
    this.weights = new Float64Array(this.length).fill(1)
    this.fill(events, rate)
    if (robot > 0) this.addRobot()
  }

  private code(dimension: Dimension, value: string): number {
    const known = this.known[dimension]
    let code = known.get(value)
    if (code === undefined) {
      code = known.size
      known.set(value, code)
      this.values[dimension].push(value)
    }
    return code
  }

  private fill(events: number, rate: number): void {
    const { random } = this
    const countries = Object.keys(LANGUAGES)
    const home = countries[Math.floor(random() * countries.length)] ?? 'DE'
    const abroad = Object.fromEntries(countries.map((country) => [country, 4 * random() + 0.2]))
    const country = picker({ ...abroad, [home]: 30 + 150 * random() }, random)
    const device = picker(varied(DEVICES, random), random)
    const system = pickers(variedAll(SYSTEMS, random), random)
    const browser = pickers(variedAll(BROWSERS, random), random)
    const version = pickers(variedAll(VERSIONS, random), random)
    const language = pickers(LANGUAGES, random)
    const consents = pickers(variedAll(CONSENTS, random), random)
    const consent = picker(varied(CONSENT, random), random)
    const tail = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`/info/topic-${n}`, 0.4 * random()]))
    const page = picker({ ...varied(PAGES, random), ...tail }, random)
    const hour = picker(Object.fromEntries(HOURS.map((share, at) => [at, share])), random)
    const releasedAt = random() * 24
    const mean = 2 + 6 * random()
    let at = 0
    while (at < events) {
      const where = country()
      const deviceClass = device()
      const os = system[deviceClass]?.() ?? ''
      const family = browser[os]?.() ?? ''
      const begins = Number(hour())
      const minute = begins + random()
      const session: Partial<Record<Dimension, string>> = {
        country: where,
        device: deviceClass,
        os,
        browser: family,
        browserVersion: `${family} ${version[family]?.() ?? ''}`,
        language: language[where]?.() ?? '',
        consent: (consents[where] ?? consent)(),
        release: minute < releasedAt ? '41' : '42',
        account: where === 'US' || where === 'GB' ? 'G-2' : 'G-1',
      }
      const codes = Object.entries(session).map(
        ([dimension, value]) => [this.codes[dimension as Dimension], this.code(dimension as Dimension, value)] as const,
      )
      const size = 1 + Math.floor(-Math.log(1 - random()) * (mean - 1))
      const first = at
      for (let n = 0; n < size && at < events; n++) {
        const group = page()
        const isSampled = rate < 1 && !group.startsWith('/checkout')
        if (isSampled && random() >= rate) continue
        this.weights[at] = isSampled ? 1 / rate : 1
        for (const [column, code] of codes) column[at] = code
        this.codes.pageGroup[at] = this.code('pageGroup', group)
        this.codes.hour[at] = this.code('hour', hourName(minute + n * 0.02))
        at++
      }
      if (at > first) this.starts.push(first)
    }
  }

  /** Adds one session in the most common properties of another event. */
  private addRobot(): void {
    const like = Math.floor(this.random() * this.robotAt)
    this.starts.push(this.robotAt)
    for (const dimension of DIMENSIONS) {
      const column = this.codes[dimension]
      column.fill(column[like] ?? 0, this.robotAt)
    }
  }

  /** Returns 1 for each event of the segment. */
  members({ dimensions, values }: SegmentKey): Uint8Array {
    const parts = dimensions.map((dimension, at) => ({
      column: this.codes[dimension],
      code: this.known[dimension].get(values[at] ?? '') ?? -1,
    }))
    return Uint8Array.from({ length: this.length }, (_, n) =>
      parts.every(({ column, code }) => column[n] === code) ? 1 : 0,
    )
  }

  /** Returns the weighted share of these events. */
  shareOf(members: Uint8Array): number {
    let [part, whole] = [0, 0]
    for (let n = 0; n < this.robotAt; n++) {
      whole += this.weights[n] ?? 0
      if (members[n]) part += this.weights[n] ?? 0
    }
    return part / whole
  }

  /** Returns the sums of the shop's events, as the event history does. `violates`: 1 for each violating event. */
  counts(violates: Uint8Array): SegmentCounts {
    return {
      single: async (without) => {
        const tallies = this.tallies(
          DIMENSIONS.map((one) => [{ dimension: one, values: null }]),
          violates,
          without,
        )
        return { all: sumOf(tallies.filter(({ dimensions: [dimension] }) => dimension === 'os')), tallies }
      },
      pairs: async (paired, without) =>
        this.tallies(
          paired.flatMap((one, at) => paired.slice(at + 1).map((other) => [one, other])),
          violates,
          without,
        ),
    }
  }

  private tallies(
    sets: readonly (readonly (Omit<PairedDimension, 'values'> & { values: readonly string[] | null })[])[],
    violates: Uint8Array,
    without: readonly SegmentKey[],
  ): SegmentTally[] {
    const rows = this.rows(violates, without)
    return sets.flatMap((set) => this.talliesOf(set, rows))
  }

  /** Returns the events' contributions to the sums, as columns. */
  private rows(violates: Uint8Array, without: readonly SegmentKey[]) {
    const excluded = without.map((one) => this.members(one))
    const columns = Array.from({ length: 7 }, () => new Float64Array(this.length))
    const index: number[] = []
    for (const [at, start] of this.starts.entries()) {
      const end = this.starts[at + 1] ?? this.length
      let [sessionViolating, sessionTotal, count] = [0, 0, 0]
      for (let n = start; n < end; n++) {
        if (excluded.some((members) => members[n])) continue
        count++
        sessionTotal += this.weights[n] ?? 0
        if (violates[n]) sessionViolating += this.weights[n] ?? 0
      }
      const part = Math.min(1, SESSION_CAP / count)
      for (let n = start; n < end; n++) {
        if (excluded.some((members) => members[n])) continue
        index.push(n)
        const weight = this.weights[n] ?? 0
        const violating = violates[n] ? weight : 0
        const squared = part * part
        const own = [
          violating,
          weight,
          violating * part,
          weight * part,
          violating * sessionViolating * squared,
          ((violating * sessionTotal + weight * sessionViolating) * squared) / 2,
          weight * sessionTotal * squared,
        ]
        for (const [field, value] of own.entries()) (columns[field] as Float64Array)[n] = value
      }
    }
    return { columns, index }
  }

  private talliesOf(
    set: readonly { dimension: Dimension; values: readonly string[] | null }[],
    { columns, index }: { columns: readonly Float64Array[]; index: readonly number[] },
  ): SegmentTally[] {
    const [first, second] = set.map(({ dimension, values }) => ({
      dimension,
      column: this.codes[dimension],
      codes: values && new Set(values.map((value) => this.known[dimension].get(value))),
    }))
    if (!first) return []
    const width = second ? this.values[second.dimension].length : 1
    const size = this.values[first.dimension].length * width
    const seen = new Uint8Array(size)
    const keys = index.map((n) => (first.column[n] ?? 0) * width + (second?.column[n] ?? 0))
    for (const key of keys) seen[key] = 1
    const sums = columns.map((column) => {
      const sum = new Float64Array(size)
      for (const [at, key] of keys.entries()) sum[key] = (sum[key] ?? 0) + (column[index[at] ?? 0] ?? 0)
      return sum
    })
    const tallies: SegmentTally[] = []
    for (let key = 0; key < size; key++) {
      const [a, b] = [Math.floor(key / width), key % width]
      if (!seen[key] || (first.codes && !first.codes.has(a)) || (second?.codes && !second.codes.has(b))) continue
      const at = (field: number) => sums[field]?.[key] ?? 0
      const values = [
        this.values[first.dimension][a] ?? '',
        ...(second ? [this.values[second.dimension][b] ?? ''] : []),
      ]
      tallies.push({
        ...EMPTY_TALLY,
        dimensions: second ? [first.dimension, second.dimension] : [first.dimension],
        values,
        violating: at(0),
        total: at(1),
        cappedViolating: at(2),
        cappedTotal: at(3),
        violatingSquares: at(4),
        products: at(5),
        totalSquares: at(6),
      })
    }
    return tallies
  }
}

const hourName = (hour: number) => `${String(Math.floor(hour) % 24).padStart(2, '0')}:00`

function sumOf(tallies: readonly SegmentTally[]): Tally | null {
  const sum = (field: keyof Tally) => tallies.reduce((all, tally) => all + tally[field], 0)
  const entries = Object.keys(EMPTY_TALLY).map((field) => [field, sum(field as keyof Tally)])
  return tallies.length > 0 ? (Object.fromEntries(entries) as unknown as Tally) : null
}

/**
 * Returns the shop's events as they are stored, on the day that begins at `from`. Violating ones have violated the alert
 * `alr_1`.
 */
export function storedEvents(shop: Shop, violates: Uint8Array, from: Instant): StoredEvent[] {
  const value = (dimension: Dimension, n: number) => shop.values[dimension][shop.codes[dimension][n] ?? 0] ?? ''
  const sessionOf = new Map(shop.starts.map((start, at) => [start, at]))
  let session = 0
  return Array.from({ length: shop.length }, (_, n) => {
    session = sessionOf.get(n) ?? session
    const [browser, browserVersion] = [value('browser', n), value('browserVersion', n).split(' ').at(-1) ?? null]
    return eventOf({
      seq: n + 1,
      receivedAt: from + Number.parseInt(value('hour', n), 10) * HOUR_MS + (n % 3_600_000),
      sessionId: `session ${session}`,
      account: value('account', n),
      path: value('pageGroup', n),
      version: Number(value('release', n)),
      weight: shop.weights[n] ?? 1,
      violations: violates[n] ? ['alr_1'] : null,
      segments: {
        browser,
        browserVersion,
        os: value('os', n),
        device: value('device', n),
        language: value('language', n),
        country: value('country', n),
        consent: value('consent', n) as Segments['consent'],
        release: value('release', n),
        pageGroup: value('pageGroup', n),
      },
    })
  })
}
