import { totalmem } from 'node:os'
import { type Instant, MINUTE_MS } from '../core/clock.ts'
import { PriorityLock } from './priority-lock.ts'
import type { RowCounts } from './row-counts.ts'
import {
  type Block,
  blocksOf,
  EVERY,
  rowStart,
  type Series,
  type SeriesScope,
  SIGNAL_STEP_MS,
  type Span,
  tickBefore,
} from './series.ts'
import { advance, type ReaderParts, rowsAhead, type Track } from './series-reader.ts'
import type { Signal, SignalSetting } from './signal.ts'
import { SignalDirectory } from './signal-directory.ts'
import { membersOf, signalsNow } from './signal-members.ts'
import { SignalState } from './signal-state.ts'
import type { Emit, Tracker } from './tracker.ts'
import { keyOf, LEAD_MS, Remembered, TrackerMemory } from './tracker-memory.ts'
import type { SeriesChart, SeriesPoint, VerdictRow } from './verdict-row.ts'
import { VerdictTable } from './verdict-table.ts'

/** Trackers of 1,400 series with rows of an hour; on larger machines of more, because to learn anew takes far longer. */
const MEMORY_BYTES = Math.max(72 * 1024 * 1024, totalmem() / 8)
/** So many series, and about so many rows, are gone through together; then who asks how signals stand gets a turn. */
const AT_ONCE = 500
const ROWS_AT_ONCE = 10_000

export interface FollowerParts extends ReaderParts {
  settingsOf(orgId: string): readonly SignalSetting[]
  /** What it may keep of what it has learned; 0: nothing. */
  memoryBytes?: number
}

/** How windows are judged. */
export interface VerdictOptions {
  /** Which instants count; those of ticks and rows are their last ones. All when absent. */
  counts?(instant: Instant): boolean
  /** Given by who works through many and lets others go first; aborted, it fails with the signal's reason. */
  stopping?: AbortSignal
}

/** Whose signals are listed. */
export interface SignalScope {
  orgId: string
  domainId: string
  /** Of signals that have none of their own. */
  sensitivity: number
  timezone: string
}

/** What is known of a signal without learning anything. */
export type KnownSignal = Pick<Signal, 'domainId' | 'vendor' | 'event' | 'mode'>

/** One tracker's worth of what is asked for. */
interface Followed {
  series: Series
  sensitivities: readonly number[]
  emits: Emit[]
  ended?(tracker: Tracker, counts: RowCounts | null): void
  /** True when what is said of rows will do, but for the end of the span. */
  rowsDo?: boolean
}

/**
 * Follows series of counts and says how they stand. What it says depends on the counts alone, never on when it was made
 * or what it was asked before: it keeps what it has learned of the series it was asked for lately, and learns anew from
 * the counts what it has not.
 */
export class Follower {
  private memory: TrackerMemory
  private readonly directory: SignalDirectory
  /** One after the other: two would move the same trackers on. */
  private readonly lock = new PriorityLock()

  constructor(private readonly parts: FollowerParts) {
    this.memory = this.newMemory()
    this.directory = new SignalDirectory(parts.warehouse)
  }

  /**
   * Of each window, in their order, one row for each series; of the signals that a `*` stands for, only those that were
   * open. Windows are in order and don't overlap; of a window that has not ended, `to` is the end of its last tick. All
   * scopes are of one organization. Fails with `unavailable` as the warehouse does.
   */
  async verdicts(
    scopes: readonly SeriesScope[],
    windows: readonly Span[],
    options: VerdictOptions = {},
  ): Promise<VerdictRow[][]> {
    const [rows = []] = await this.judge(scopes, windows, options, null)
    return rows
  }

  /** The same at several sensitivities, in their order; signals that have one of their own keep it. */
  alternatives(
    scopes: readonly SeriesScope[],
    sensitivities: readonly number[],
    windows: readonly Span[],
    options: VerdictOptions = {},
  ): Promise<VerdictRow[][][]> {
    return this.judge(scopes, windows, options, sensitivities)
  }

  /**
   * The rows that begin in `from <= start < to`, as far as they began before `now`, each beside what was expected of it
   * then. `now`: up to when counts are known (`watermark`). The scope is one series, not `*`; vendor and event null:
   * everything there is. Fails with `unavailable` as the warehouse does.
   */
  async chart(scope: SeriesScope, range: Span, now: Instant): Promise<SeriesChart> {
    const [chart] = await this.charts([scope], range, now)
    if (!chart) throw new Error('a series has no chart')
    return chart
  }

  /** The same of several series of one organization, in their order. */
  async charts(scopes: readonly SeriesScope[], range: Span, now: Instant): Promise<SeriesChart[]> {
    const drawn = scopes.map((scope) => chartOf(scope, range, now))
    for (const group of Map.groupBy(drawn, ({ span }) => `${span.from} ${span.to}`).values()) {
      const [first] = group
      if (first && first.span.to > first.span.from)
        await this.follow(
          group.map(({ followed }) => followed),
          first.span,
        )
    }
    return drawn.map(({ chart }) => chart())
  }

  /**
   * The signals of domains of one organization and how they stand now, of each domain by vendor and event, those that are
   * off among them. `now`: up to when counts are known. `isWanted` is asked of each in that order; of those that are not
   * wanted nothing is learned, and they are left out. Fails with `unavailable` as the warehouse does.
   */
  async signals(
    of: readonly SignalScope[],
    now: Instant,
    isWanted: (signal: KnownSignal) => boolean = () => true,
  ): Promise<Signal[][]> {
    const [first] = of
    if (!first) return []
    const { orgId } = first
    const tick = tickBefore(now)
    const domainIds = of.map(({ domainId }) => domainId)
    const found = await this.directory.find(orgId, domainIds, { from: tick - 1, to: tick })
    const settings = Map.groupBy(this.parts.settingsOf(orgId), ({ domainId }) => domainId)
    const listed = of.map((one) => {
      const scope: SeriesScope = { ...one, vendor: EVERY, event: null, stepMs: SIGNAL_STEP_MS }
      const signals = signalsNow(scope, found, settings.get(one.domainId) ?? [])
      const wanted = signals.filter(({ name, mode }) => isWanted({ domainId: one.domainId, ...name, mode }))
      return wanted.map((signal) => ({ scope, signal, standing: new SignalState() }))
    })
    const followed = listed.flat().flatMap(({ scope, signal: { name, mode, sensitivity }, standing }): Followed[] => {
      if (mode === 'off') return []
      const emits: Emit[] = [(_place, outcome) => standing.take(outcome)]
      return [{ series: seriesOf(scope, name), sensitivities: [sensitivity], emits }]
    })
    await this.follow(followed, { from: rowStart({ stepMs: SIGNAL_STEP_MS }, tick) - 1, to: tick })
    return listed.map((ofDomain) =>
      ofDomain.map(({ scope: { domainId }, signal: { name, mode, sensitivity }, standing }) => ({
        ...{ domainId, ...name, mode, sensitivity },
        ...(mode === 'off' ? NOT_FOLLOWED : standing.at(tick)),
      })),
    )
  }

  /** Memory of what it keeps. */
  get bytes(): number {
    return this.memory.bytes
  }

  /** The clock was put back: what was learned of times to come helps nobody. */
  forget(): void {
    this.memory = this.newMemory()
  }

  private newMemory = () => new TrackerMemory(this.parts.memoryBytes ?? MEMORY_BYTES)

  private async judge(
    scopes: readonly SeriesScope[],
    windows: readonly Span[],
    { counts = () => true, stopping }: VerdictOptions,
    sensitivities: readonly number[] | null,
  ): Promise<VerdictRow[][][]> {
    const [first, last] = [windows.at(0), windows.at(-1)]
    const table = new VerdictTable(windows, sensitivities ?? [null], counts)
    if (!first || !last) return table.rows()
    const span = { from: first.from - LEAD_MS, to: last.to }
    const followed = new Map<string, Followed>()
    for (const member of await this.membersOf(scopes, span, sensitivities)) {
      const own = [...new Set(member.sensitivities)].sort((a, b) => a - b)
      const key = keyOf(member.series, own)
      const one = followed.get(key) ?? { series: member.series, sensitivities: own, emits: [] }
      one.emits.push(table.sink(member, own))
      followed.set(key, one)
    }
    await this.follow([...followed.values()], span, stopping)
    return table.rows()
  }

  private async membersOf(scopes: readonly SeriesScope[], span: Span, sensitivities: readonly number[] | null) {
    const every = scopes.filter(({ vendor }) => vendor === EVERY)
    const [one] = every
    const domainIds = [...new Set(every.map(({ domainId }) => domainId))]
    const found = one ? await this.directory.find(one.orgId, domainIds, span) : new Map()
    const settings = Map.groupBy(one ? this.parts.settingsOf(one.orgId) : [], ({ domainId }) => domainId)
    return scopes.flatMap((scope) => membersOf(scope, sensitivities, found, settings.get(scope.domainId) ?? []))
  }

  /** Tells of all that ends in `from < t <= to`, and of some that ended shortly before. */
  private async follow(followed: readonly Followed[], span: Span, stopping?: AbortSignal): Promise<void> {
    const alike = Map.groupBy(followed, ({ series }) => `${series.stepMs} ${series.offsetMs ?? 0}`)
    for (const group of alike.values()) {
      for (let at = 0; at < group.length; ) {
        const some = group.slice(at, at + AT_ONCE)
        at += await this.lock.take(() => this.followSome(some, span, stopping), stopping !== undefined)
      }
    }
  }

  /** Goes through the first of them, as many as make a turn; answers how many. */
  private async followSome(followed: readonly Followed[], span: Span, stopping?: AbortSignal): Promise<number> {
    stopping?.throwIfAborted()
    const tracks: (Track & { key: string })[] = []
    let [count, rows] = [0, 0]
    for (const one of followed) {
      const own = this.tracksOf(one, span)
      tracks.push(...own)
      rows += own.reduce((sum, track) => sum + rowsAhead(track), 0)
      count++
      if (rows >= ROWS_AT_ONCE) break
    }
    await advance(tracks, this.parts, stopping)
    for (const { key, remembered } of tracks) this.memory.keep(key, remembered, span.to)
    return count
  }

  private tracksOf(one: Followed, span: Span): (Track & { key: string })[] {
    const key = keyOf(one.series, one.sensitivities)
    let before: Track | null = null
    return blocksOf(one.series, span).map((block) => {
      const track = this.trackOf(one, key, { block, before }, span)
      before = track
      return track
    })
  }

  private trackOf(
    one: Followed,
    key: string,
    { block, before }: { block: Block; before: Track | null },
    { from, to }: Span,
  ): Track & { key: string } {
    const [start, end] = [Math.max(from, block.from - 1), Math.min(to, block.to - 1)]
    const emit: Emit = (place, outcome) => {
      for (const each of one.emits) each(place, outcome)
    }
    const known = this.memory.find(key, block)
    const isKnown = known?.knows(start) || (one.rowsDo && known?.recalls({ from: start, to: end }))
    const remembered = isKnown && known ? known : Remembered.from(one.series, block, one.sensitivities, start)
    const track = { key, remembered, from: start, to: end, emit, before }
    if (!one.ended || end < to) return track
    const { ended } = one
    return { ...track, ended: (counts) => ended(remembered.tracker, counts) }
  }
}

/** What is to be followed for a chart, over which span, and the chart that comes of it. */
function chartOf(
  scope: SeriesScope,
  range: Span,
  now: Instant,
): { followed: Followed; span: Span; chart(): SeriesChart } {
  const { sensitivity, ...series } = scope
  const known = Math.floor(now / MINUTE_MS) * MINUTE_MS
  const first = rowStart(scope, range.from + scope.stepMs - 1)
  const span = { from: first, to: Math.min(rowStart(scope, range.to - 1) + scope.stepMs, known) }
  const standing = new SignalState()
  const points: SeriesPoint[] = []
  const take: Emit = (_place, outcome) => {
    standing.take(outcome)
    if (!outcome.row || outcome.at <= first) return
    points.push({ start: outcome.at - scope.stepMs, ...outcome.row, partial: outcome.isHurt })
  }
  const ended = (tracker: Tracker, counts: RowCounts | null) => {
    if (tracker.rowStart >= first && tracker.rowStart < span.to) {
      points.push({ start: tracker.rowStart, ...tracker.running(counts), low: null, high: null, partial: true })
    }
  }
  const chart = () => {
    const { state, learningUntil } = standing.at(tickBefore(span.to))
    return { points, state, learningUntil }
  }
  return { followed: { series, sensitivities: [sensitivity], emits: [take], ended, rowsDo: true }, span, chart }
}

const NOT_FOLLOWED = { state: null, learningUntil: null, observed: null, expected: null, silentSince: null }

const seriesOf = (
  { orgId, domainId, stepMs, timezone }: SeriesScope,
  name: { vendor: string; event: string },
): Series => ({
  ...{ orgId, domainId, stepMs, timezone },
  ...name,
})
