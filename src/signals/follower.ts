import { type Instant, MINUTE_MS } from '../core/clock.ts'
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
import { advance, type ReaderParts, type Track } from './series-reader.ts'
import type { Signal, SignalSetting } from './signal.ts'
import { SignalDirectory } from './signal-directory.ts'
import { membersOf, signalsNow } from './signal-members.ts'
import { Standing } from './standing.ts'
import type { Emit, Tracker } from './tracker.ts'
import { keyOf, LEAD_MS, Remembered, TrackerMemory } from './tracker-memory.ts'
import type { SeriesChart, SeriesPoint, VerdictRow } from './verdict-row.ts'
import { VerdictTable } from './verdict-table.ts'

/** Trackers of 1,400 series with rows of an hour. */
const MEMORY_BYTES = 72 * 1024 * 1024
/** So many series are gone through together; then others get their turn, such as who asks how signals stand. */
const AT_ONCE = 500

export interface FollowerParts extends ReaderParts {
  settingsOf(orgId: string): readonly SignalSetting[]
  /** What it may keep of what it has learned; 0: nothing. */
  memoryBytes?: number
}

/** How windows are judged. */
export interface VerdictOptions {
  /** Which instants count; those of ticks and rows are their last ones. All when absent. */
  counts?(instant: Instant): boolean
}

/** Whose signals are listed. */
export interface SignalScope {
  orgId: string
  domainId: string
  /** Of signals that have none of their own. */
  sensitivity: number
  timezone: string
}

/** One tracker's worth of what is asked for. */
interface Followed {
  series: Series
  sensitivities: readonly number[]
  emits: Emit[]
  ended?(tracker: Tracker, counts: RowCounts | null): void
}

/**
 * Follows series of counts and says how they stand. What it says depends on the counts alone, never on when it was made
 * or what it was asked before: it keeps what it has learned of the series it was asked for lately, and learns anew from
 * the counts what it has not.
 */
export class Follower {
  private memory: TrackerMemory
  private readonly directory: SignalDirectory
  private turn: Promise<unknown> = Promise.resolve()

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
   * then. `now`: up to when counts are known (`settledAt`). The scope is one series, not `*`; vendor and event null:
   * everything there is. Fails with `unavailable` as the warehouse does.
   */
  async chart(scope: SeriesScope, range: Span, now: Instant): Promise<SeriesChart> {
    const { sensitivity, ...series } = scope
    const known = Math.floor(now / MINUTE_MS) * MINUTE_MS
    const first = rowStart(scope, range.from + scope.stepMs - 1)
    const span = { from: first, to: Math.min(rowStart(scope, range.to - 1) + scope.stepMs, known) }
    const standing = new Standing()
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
    if (span.to > span.from) await this.follow([{ series, sensitivities: [sensitivity], emits: [take], ended }], span)
    const { state, learningUntil } = standing.at(tickBefore(span.to))
    return { points, state, learningUntil }
  }

  /**
   * The signals of a domain and how they stand now, by vendor and event, those that are off among them. `now`: up to when
   * counts are known. Fails with `unavailable` as the warehouse does.
   */
  async signals(of: SignalScope, now: Instant): Promise<Signal[]> {
    const tick = tickBefore(now)
    const scope: SeriesScope = { ...of, vendor: EVERY, event: null, stepMs: SIGNAL_STEP_MS }
    const span = { from: rowStart(scope, tick) - 1, to: tick }
    const found = await this.directory.find(of.orgId, [of.domainId], { from: tick - 1, to: tick })
    const settings = this.parts.settingsOf(of.orgId)
    const listed = signalsNow(scope, found, settings).map((signal) => ({ signal, standing: new Standing() }))
    const followed = listed.flatMap(({ signal: { name, mode, sensitivity }, standing }): Followed[] => {
      if (mode === 'off') return []
      const emits: Emit[] = [(_place, outcome) => standing.take(outcome)]
      return [{ series: seriesOf(scope, name), sensitivities: [sensitivity], emits }]
    })
    await this.follow(followed, span)
    return listed.map(({ signal: { name, mode, sensitivity }, standing }) => ({
      ...{ domainId: of.domainId, ...name, mode, sensitivity },
      ...(mode === 'off' ? NOT_FOLLOWED : standing.at(tick)),
    }))
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
    { counts = () => true }: VerdictOptions,
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
    await this.follow([...followed.values()], span)
    return table.rows()
  }

  private async membersOf(scopes: readonly SeriesScope[], span: Span, sensitivities: readonly number[] | null) {
    const every = scopes.filter(({ vendor }) => vendor === EVERY)
    const [one] = every
    const domainIds = [...new Set(every.map(({ domainId }) => domainId))]
    const found = one ? await this.directory.find(one.orgId, domainIds, span) : new Map()
    const settings = one ? this.parts.settingsOf(one.orgId) : []
    return scopes.flatMap((scope) => membersOf(scope, sensitivities, found, settings))
  }

  /** Tells of all that ends in `from < t <= to`, and of some that ended shortly before. */
  private async follow(followed: readonly Followed[], span: Span): Promise<void> {
    const alike = Map.groupBy(followed, ({ series }) => `${series.stepMs} ${series.offsetMs ?? 0}`)
    for (const group of alike.values()) {
      for (let at = 0; at < group.length; at += AT_ONCE) {
        await this.exclusive(() => this.followSome(group.slice(at, at + AT_ONCE), span))
      }
    }
  }

  /** One after the other: two would move the same trackers on. */
  private exclusive(work: () => Promise<void>): Promise<void> {
    const turn = this.turn.then(work)
    this.turn = turn.catch(() => {})
    return turn
  }

  private async followSome(followed: readonly Followed[], span: Span): Promise<void> {
    const tracks = followed.flatMap((one) => {
      const key = keyOf(one.series, one.sensitivities)
      let before: Track | null = null
      return blocksOf(one.series, span).map((block) => {
        const track = this.trackOf(one, key, { block, before }, span)
        before = track
        return track
      })
    })
    await advance(tracks, this.parts)
    for (const { key, remembered } of tracks) this.memory.keep(key, remembered, span.to)
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
    const remembered = known?.knows(start) ? known : Remembered.from(one.series, block, one.sensitivities, start)
    const track = { key, remembered, to: end, emit, before }
    if (!one.ended || end < to) return track
    const { ended } = one
    return { ...track, ended: (counts) => ended(remembered.tracker, counts) }
  }
}

const NOT_FOLLOWED = { state: null, learningUntil: null, observed: null, expected: null, silentSince: null }

const seriesOf = (
  { orgId, domainId, stepMs, timezone }: SeriesScope,
  name: { vendor: string; event: string },
): Series => ({
  ...{ orgId, domainId, stepMs, timezone },
  ...name,
})
