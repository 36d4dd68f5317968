import type { Instant } from '../core/clock.ts'
import { DomainDropDetector, isDown, MAX_WAIT_MS } from './domain-drop.ts'
import { rowStart, type Series, type SeriesScope, type Span } from './series.ts'
import type { Emit } from './series-tracker.ts'
import { isQuietTick, type Outcome, type VerdictRow } from './verdict-row.ts'
import { WindowAggregator, type WindowState } from './window-aggregator.ts'

/** One series that a scope covers. */
export interface ScopeMember {
  scope: SeriesScope
  series: Series
  /** `one`: the only series of the scope. For `*`: the domain's `whole` traffic, and each `signal`. */
  role: 'one' | 'whole' | 'signal'
  muted: boolean
  /** One for each queried sensitivity. All are equal for a signal with its own sensitivity. */
  sensitivities: readonly number[]
  /** Returns false for instants at which the member is not a signal. When absent, it always is. */
  isOn?(instant: Instant): boolean
}

/** A member at one of the queried sensitivities. */
interface Column {
  member: ScopeMember
  /** Index of the sensitivity. */
  sensitivityIndex: number
  sensitivity: number
  fold: WindowAggregator
  /** The open outcomes of a signal, processed once the state of its domain is known. */
  open: Outcome[]
  /** Index of the window that contains the last open outcome, or of the next window. */
  window: number
  /** The last outcome, and the outcome of the last row. */
  last: Outcome | null
  lastRow: Outcome | null
  /** Time of the last alarm. */
  alarmAt: Instant
  /** States by window. */
  state: (WindowState | null)[]
}

/** Collects the outcomes of members by window. */
export class VerdictTable {
  private readonly columns: Column[] = []
  private readonly dropDetectors = new Map<SeriesScope, DomainDropDetector[]>()

  /**
   * `queriedSensitivities`: the queried sensitivities; null to use the scopes' own. `counts`: returns false for
   * instants to ignore.
   */
  constructor(
    private readonly windows: readonly Span[],
    private readonly queriedSensitivities: readonly (number | null)[],
    private readonly counts: (instant: Instant) => boolean,
  ) {}

  /**
   * Returns the `Emit` for a tracker of the member with these sensitivities. Outcomes must be emitted in chronological
   * order.
   */
  sink(member: ScopeMember, sensitivities: readonly number[]): Emit {
    const columns = member.sensitivities.map((sensitivity, sensitivityIndex) =>
      this.columnOf(member, sensitivityIndex, sensitivity),
    )
    return (place, outcome) => {
      if (member.isOn && !member.isOn(outcome.at)) return
      for (const column of columns) if (column.sensitivity === sensitivities[place]) this.take(column, outcome)
    }
  }

  /** Returns the rows by sensitivity and window, in the order in which the members were added. */
  rows(): VerdictRow[][][] {
    for (const column of this.columns) this.end(column)
    const bySensitivity = this.queriedSensitivities.map((_, sensitivityIndex) =>
      this.columns.filter((column) => column.sensitivityIndex === sensitivityIndex),
    )
    return bySensitivity.map((columns) =>
      this.windows.map((window, at) =>
        columns.flatMap((column) => this.rowsOf(column, column.state[at] ?? null, window)),
      ),
    )
  }

  private columnOf(member: ScopeMember, sensitivityIndex: number, sensitivity: number): Column {
    const state: Column['state'] = []
    const fold = new WindowAggregator(this.windows, member.series, this.counts, (window, of) => {
      state[window] = of
    })
    const known = { last: null, lastRow: null, alarmAt: Number.NEGATIVE_INFINITY }
    const column = { member, sensitivityIndex, sensitivity, fold, open: [], window: 0, ...known, state }
    this.columns.push(column)
    return column
  }

  private take(column: Column, outcome: Outcome): void {
    const { member, sensitivityIndex, fold, open } = column
    const guard = this.dropDetectorOf(member.scope, sensitivityIndex)
    if (member.role === 'whole') guard?.addDomainOutcome(outcome)
    if (isQuietTick(outcome)) return
    if (member.role !== 'signal') return fold.take(outcome)
    guard?.addSignalOutcome(outcome, column.last, column.lastRow)
    column.last = outcome
    if (outcome.row) column.lastRow = outcome
    if (outcome.alarm) column.alarmAt = outcome.at
    if (outcome.open && this.isNeeded(column, outcome)) open.push(outcome)
  }

  /**
   * A silence has the same outcome at every tick, so only one per row and window is needed; all are needed while its
   * alarm may be delayed.
   */
  private isNeeded(column: Column, { row, at }: Outcome): boolean {
    while ((this.windows[column.window]?.to ?? at) < at) column.window += 1
    const before = column.open.at(-1)?.at ?? Number.NEGATIVE_INFINITY
    const windowFrom = this.windows[column.window]?.from ?? 0
    return (
      row !== null ||
      at - column.alarmAt <= MAX_WAIT_MS ||
      before <= rowStart(column.member.series, at - 1) ||
      (windowFrom < at && before <= windowFrom)
    )
  }

  private end({ member, sensitivityIndex, fold, open }: Column): void {
    const guard = this.dropDetectorOf(member.scope, sensitivityIndex)
    for (const outcome of guard?.explain(open) ?? open) fold.take(outcome)
    fold.endAll()
  }

  private dropDetectorOf(scope: SeriesScope, sensitivityIndex: number): DomainDropDetector | undefined {
    let guards = this.dropDetectors.get(scope)
    if (!guards) {
      guards = this.queriedSensitivities.map(
        (sensitivity) => new DomainDropDetector(scope, sensitivity ?? scope.sensitivity),
      )
      this.dropDetectors.set(scope, guards)
    }
    return guards[sensitivityIndex]
  }

  private rowsOf(
    { member, sensitivityIndex, sensitivity }: Column,
    state: WindowState | null,
    { from, to }: Span,
  ): VerdictRow[] {
    const { scope, series, muted, role } = member
    if (role === 'signal' && !state?.open) return []
    const { domainId, vendor, event } = series
    const about = { scope, domainId, vendor, event, sensitivity, muted }
    if (!state) return [{ ...about, ...NO_EVENTS_VERDICT, at: to, since: to }]
    const drops = role === 'whole' ? (this.dropDetectorOf(scope, sensitivityIndex)?.drops() ?? []) : []
    const own = drops.filter(({ at }) => at > from && at <= to && this.counts(at - 1))
    const explains = own.length > 0
    const { row: _row, touchesGap: _touchesGap, unlikely: _unlikely, ...outcome } = state.outcome
    const { open, explained } = state
    const alarm = state.alarm || own.some((drop) => drop.alarm)
    return [{ ...about, ...outcome, open, alarm, explained, explains, down: isDown(outcome) }]
  }
}

type About = 'scope' | 'domainId' | 'vendor' | 'event' | 'sensitivity' | 'muted'

/** The verdict on a series without events. */
const NO_EVENTS_VERDICT: Omit<VerdictRow, About | 'at' | 'since'> = {
  state: 'learning',
  learningUntil: null,
  observed: 0,
  expected: null,
  low: null,
  high: null,
  open: false,
  alarm: false,
  down: false,
  explained: false,
  explains: false,
  silentSince: null,
  lastEventAt: null,
  score: 0,
}
