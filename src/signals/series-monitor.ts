import { totalmem } from 'node:os'
import type { Holidays, HolidaysWithin } from '../calendars/holidays.ts'
import { type Instant, MINUTE_MS } from '../core/clock.ts'
import { PriorityLock } from './priority-lock.ts'
import {
  ALL_SIGNALS,
  type Block,
  blocksOf,
  rowStart,
  type Series,
  type SeriesScope,
  SIGNAL_STEP_MS,
  type Span,
  tickBefore,
} from './series.ts'
import type { RowCounts } from './series-counts.ts'
import { currentSignals, scopeMembers } from './series-in-scope.ts'
import { advance, type ReaderDeps, rowsAhead, type TrackerRun } from './series-reader.ts'
import type { Emit, SeriesTracker } from './series-tracker.ts'
import { CachedTracker, LEAD_MS, TrackerCache, trackerKey } from './series-tracker-cache.ts'
import type { Signal, SignalSetting } from './signal.ts'
import { SignalCache } from './signal-cache.ts'
import type { SeriesChart, SeriesPoint, VerdictRow } from './verdict-row.ts'
import { isQuietTick, type Outcome } from './verdict-row.ts'
import { VerdictTable } from './verdict-table.ts'

/**
 * Enough for the trackers of 1,400 series with hourly rows. Larger machines get more, because relearning takes far
 * longer.
 */
const MEMORY_BYTES = Math.max(72 * 1024 * 1024, totalmem() / 8)
/** The monitor for past time ranges gets this fraction (1/n) of the memory. */
const HISTORY_MEMORY_SHARE = 4
/**
 * Maximum number of series, and approximate maximum number of rows, per turn. Waiting callers are served between turns.
 */
const MAX_SERIES_AT_ONCE = 500
const MAX_ROWS_AT_ONCE = 10_000

export interface SeriesMonitorDeps extends ReaderDeps {
  settingsOf(orgId: string): readonly SignalSetting[]
  /** Returns the holidays of an organization; null without any. When absent, there are none. */
  holidaysOf?(orgId: string): Holidays | null
  /** Maximum memory for cached trackers in bytes. 0 disables the cache. */
  memoryBytes?: number
}

/** Options for evaluating windows. */
export interface VerdictOptions {
  /**
   * Returns false for instants to ignore. Ticks and rows are represented by their last instant. When absent, no
   * instants are ignored.
   */
  counts?(instant: Instant): boolean
  /**
   * Passed by background callers, which let other callers go first. When it is aborted, the call fails with its reason.
   */
  stopping?: AbortSignal
}

/** The domain whose signals are listed. */
export interface SignalScope {
  orgId: string
  domainId: string
  /** Sensitivity for signals without a sensitivity setting. */
  sensitivity: number
  timezone: string
}

/** The fields of a signal that are known without evaluating its counts. */
export type KnownSignal = Pick<Signal, 'domainId' | 'vendor' | 'event' | 'mode'>

/** The series of one tracker in a call. */
interface MonitoredSeries {
  series: Series
  sensitivities: readonly number[]
  emits: Emit[]
  onEnd?(tracker: SeriesTracker, counts: RowCounts | null): void
  /** True when only rows are needed, plus the tick at the end of the time range. */
  rowsSuffice?: boolean
}

/**
 * Monitors series of counts and returns their state. The result depends only on the counts, never on when the monitor
 * was created or what was queried before. The monitor caches the trackers of recently queried series, and relearns
 * other series from the counts.
 */
export class SeriesMonitor {
  private trackers: TrackerCache
  private readonly signalCache: SignalCache
  /** Calls run one at a time, because they advance the same trackers. */
  private readonly lock = new PriorityLock()
  private historyMonitor: SeriesMonitor | null = null

  constructor(private readonly deps: SeriesMonitorDeps) {
    this.trackers = this.newCache()
    this.signalCache = new SignalCache(deps.warehouse)
  }

  /**
   * Returns one row per series for each window, in order. For a `*` scope, returns only the signals that were open.
   * Windows must be in order and must not overlap; for a window that has not ended, `to` is the end of its last tick.
   * All scopes must belong to one organization. Throws `AppError('unavailable')` when the warehouse is unavailable.
   */
  async verdicts(
    scopes: readonly SeriesScope[],
    windows: readonly Span[],
    options: VerdictOptions = {},
  ): Promise<VerdictRow[][]> {
    const [rows = []] = await this.judge(scopes, windows, options, null)
    return rows
  }

  /** Like `verdicts`, at several sensitivities, in the given order. Signals with their own sensitivity keep it. */
  verdictsAtSensitivities(
    scopes: readonly SeriesScope[],
    sensitivities: readonly number[],
    windows: readonly Span[],
    options: VerdictOptions = {},
  ): Promise<VerdictRow[][][]> {
    return this.judge(scopes, windows, options, sensitivities)
  }

  /**
   * Returns the rows that begin in `from <= start < to` and before `now`, each with the baseline at that time. `now`:
   * time up to which counts are known (`watermark`). The scope is one series, not `*`; a null vendor and event select
   * all events. Throws `AppError('unavailable')` when the warehouse is unavailable.
   */
  async chart(scope: SeriesScope, range: Span, now: Instant): Promise<SeriesChart> {
    const [chart] = await this.charts([scope], range, now)
    if (!chart) throw new Error('a series has no chart')
    return chart
  }

  /** Like `chart`, for several series of one organization, in the given order. */
  async charts(scopes: readonly SeriesScope[], range: Span, now: Instant): Promise<SeriesChart[]> {
    const drafts = scopes.map((scope) => chartOf(scope, range, now))
    for (const group of Map.groupBy(drafts, ({ span }) => `${span.from} ${span.to}`).values()) {
      const [first] = group
      if (first && first.span.to > first.span.from)
        await this.monitor(
          group.map(({ followed }) => followed),
          first.span,
        )
    }
    return drafts.map(({ chart }) => chart())
  }

  /**
   * Returns the signals of domains of one organization with their current state, sorted by vendor and event within each
   * domain, including those with mode `off`. `now`: time up to which counts are known. `isWanted` is called for each
   * signal in that order; unwanted signals are omitted, and their counts are not read. Throws `AppError('unavailable')`
   * when the warehouse is unavailable.
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
    const found = await this.signalCache.find(orgId, domainIds, { from: tick - 1, to: tick })
    const settings = Map.groupBy(this.deps.settingsOf(orgId), ({ domainId }) => domainId)
    const listed = of.map((one) => {
      const scope: SeriesScope = { ...one, vendor: ALL_SIGNALS, event: null, stepMs: SIGNAL_STEP_MS }
      const signals = currentSignals(scope, found, settings.get(one.domainId) ?? [])
      const wanted = signals.filter(({ name, mode }) => isWanted({ domainId: one.domainId, ...name, mode }))
      return wanted.map((signal) => ({ scope, signal, signalState: new LatestState() }))
    })
    const followed = listed
      .flat()
      .flatMap(({ scope, signal: { name, mode, sensitivity }, signalState }): MonitoredSeries[] => {
        if (mode === 'off') return []
        const emits: Emit[] = [(_place, outcome) => signalState.take(outcome)]
        return [{ series: seriesOf(scope, name), sensitivities: [sensitivity], emits }]
      })
    await this.monitor(followed, { from: rowStart({ stepMs: SIGNAL_STEP_MS }, tick) - 1, to: tick })
    return listed.map((ofDomain) =>
      ofDomain.map(({ scope: { domainId }, signal: { name, mode, sensitivity }, signalState }) => ({
        domainId,
        ...name,
        mode,
        sensitivity,
        ...(mode === 'off' ? NOT_MONITORED : signalState.at(tick)),
      })),
    )
  }

  /** Size of the cached trackers in bytes. */
  get bytes(): number {
    return this.trackers.bytes
  }

  /**
   * A separate monitor for queries about the distant past, which require much relearning. It has its own cache and
   * lock, so that queries about the present don't wait for it. Returns the same results.
   */
  get forHistory(): SeriesMonitor {
    this.historyMonitor ??= new SeriesMonitor({ ...this.deps, memoryBytes: this.memoryBytes / HISTORY_MEMORY_SHARE })
    return this.historyMonitor
  }

  /**
   * Discards all trackers. To be called when the clock was set back, because the trackers would be ahead of the clock.
   */
  reset(): void {
    this.trackers = this.newCache()
    this.historyMonitor?.reset()
  }

  private get memoryBytes(): number {
    return this.deps.memoryBytes ?? MEMORY_BYTES
  }

  private newCache = () => new TrackerCache(this.memoryBytes)

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
    const followed = new Map<string, MonitoredSeries>()
    for (const member of await this.membersOf(scopes, span, sensitivities)) {
      const own = [...new Set(member.sensitivities)].sort((a, b) => a - b)
      const key = trackerKey(member.series, own)
      const one = followed.get(key) ?? { series: member.series, sensitivities: own, emits: [] }
      one.emits.push(table.sink(member, own))
      followed.set(key, one)
    }
    await this.monitor([...followed.values()], span, stopping)
    return table.rows()
  }

  private async membersOf(scopes: readonly SeriesScope[], span: Span, sensitivities: readonly number[] | null) {
    const every = scopes.filter(({ vendor }) => vendor === ALL_SIGNALS)
    const [one] = every
    const domainIds = [...new Set(every.map(({ domainId }) => domainId))]
    const found = one ? await this.signalCache.find(one.orgId, domainIds, span) : new Map()
    const settings = Map.groupBy(one ? this.deps.settingsOf(one.orgId) : [], ({ domainId }) => domainId)
    return scopes.flatMap((scope) => scopeMembers(scope, sensitivities, found, settings.get(scope.domainId) ?? []))
  }

  /** Emits all outcomes that end in `from < t <= to`, and some that end shortly before. */
  private async monitor(followed: readonly MonitoredSeries[], span: Span, stopping?: AbortSignal): Promise<void> {
    const alike = Map.groupBy(followed, ({ series }) => `${series.stepMs} ${series.offsetMs ?? 0}`)
    for (const group of alike.values()) {
      for (let at = 0; at < group.length; ) {
        const some = group.slice(at, at + MAX_SERIES_AT_ONCE)
        at += await this.lock.take(() => this.monitorSome(some, span, stopping), stopping !== undefined)
      }
    }
  }

  /** Advances as many series as fit in a turn, starting with the first. Returns their number. */
  private async monitorSome(followed: readonly MonitoredSeries[], span: Span, stopping?: AbortSignal): Promise<number> {
    stopping?.throwIfAborted()
    const tracks: (TrackerRun & { key: string })[] = []
    let [count, rows] = [0, 0]
    // All series belong to one organization.
    const holidays = this.deps.holidaysOf?.(followed[0]?.series.orgId ?? '') ?? null
    for (const one of followed) {
      const own = this.tracksOf(one, span, holidays)
      tracks.push(...own)
      rows += own.reduce((sum, track) => sum + rowsAhead(track), 0)
      count++
      if (rows >= MAX_ROWS_AT_ONCE) break
    }
    await advance(tracks, this.deps, stopping)
    for (const { key, cached } of tracks) this.trackers.set(key, cached, span.to)
    return count
  }

  private tracksOf(one: MonitoredSeries, span: Span, holidays: Holidays | null): (TrackerRun & { key: string })[] {
    const key = trackerKey(one.series, one.sensitivities)
    let before: TrackerRun | null = null
    return blocksOf(one.series, span).map((block) => {
      const own = holidays?.within(block.anchor, block.to) ?? null
      const track = this.trackOf(one, own ? `${key} ${own.key}` : key, { block, before, holidays: own }, span)
      before = track
      return track
    })
  }

  private trackOf(
    one: MonitoredSeries,
    key: string,
    { block, before, holidays }: { block: Block; before: TrackerRun | null; holidays: HolidaysWithin | null },
    { from, to }: Span,
  ): TrackerRun & { key: string } {
    const [start, end] = [Math.max(from, block.from - 1), Math.min(to, block.to - 1)]
    const emit: Emit = (place, outcome) => {
      for (const each of one.emits) each(place, outcome)
    }
    const known = this.trackers.get(key, block)
    const isKnown = known?.hasOutcomesSince(start) || (one.rowsSuffice && known?.hasRowsOf({ from: start, to: end }))
    const cached =
      isKnown && known
        ? known
        : CachedTracker.from(one.series, block, one.sensitivities, start, holidays?.isHoliday ?? null)
    const track = { key, cached, from: start, to: end, emit, before }
    if (!one.onEnd || end < to) return track
    const { onEnd } = one
    return { ...track, onEnd: (counts) => onEnd(cached.tracker, counts) }
  }
}

/** Returns the series to monitor for a chart, the time range, and a function that returns the chart afterwards. */
function chartOf(
  scope: SeriesScope,
  range: Span,
  now: Instant,
): { followed: MonitoredSeries; span: Span; chart(): SeriesChart } {
  const { sensitivity, ...series } = scope
  const known = Math.floor(now / MINUTE_MS) * MINUTE_MS
  const first = rowStart(scope, range.from + scope.stepMs - 1)
  const span = { from: first, to: Math.min(rowStart(scope, range.to - 1) + scope.stepMs, known) }
  const signalState = new LatestState()
  const points: SeriesPoint[] = []
  const take: Emit = (_place, outcome) => {
    signalState.take(outcome)
    if (!outcome.row || outcome.at <= first) return
    points.push({ start: outcome.at - scope.stepMs, ...outcome.row, partial: outcome.touchesGap })
  }
  const onEnd = (tracker: SeriesTracker, counts: RowCounts | null) => {
    if (tracker.rowStart >= first && tracker.rowStart < span.to) {
      points.push({ start: tracker.rowStart, ...tracker.running(counts), low: null, high: null, partial: true })
    }
  }
  const chart = () => {
    const { state, learningUntil } = signalState.at(tickBefore(span.to))
    return { points, state, learningUntil }
  }
  return { followed: { series, sensitivities: [sensitivity], emits: [take], onEnd, rowsSuffice: true }, span, chart }
}

const NOT_MONITORED = { state: null, learningUntil: null, observed: null, expected: null, silentSince: null }

const seriesOf = (
  { orgId, domainId, stepMs, timezone }: SeriesScope,
  name: { vendor: string; event: string },
): Series => ({
  orgId,
  domainId,
  stepMs,
  timezone,
  ...name,
})

/** The current state of a series, from its outcomes in chronological order. */
class LatestState {
  private lastRow: Outcome | null = null
  private last: Outcome | null = null

  take(outcome: Outcome): void {
    if (isQuietTick(outcome)) return
    if (outcome.row) this.lastRow = outcome
    this.last = outcome
  }

  /** Returns the state at the end of a tick. Ticks inside a row have outcomes only during a silence. */
  at(tick: Instant): Pick<Signal, 'learningUntil' | 'observed' | 'expected' | 'silentSince'> & {
    state: NonNullable<Signal['state']>
  } {
    const outcome = this.last?.at === tick ? this.last : this.lastRow
    const { observed = null, expected = null } = this.lastRow?.row ?? {}
    const { learningUntil = null, silentSince = null } = outcome ?? {}
    return { state: this.stateOf(outcome), learningUntil, observed, expected, silentSince }
  }

  private stateOf(outcome: Outcome | null): NonNullable<Signal['state']> {
    return outcome?.state ?? 'learning'
  }
}
