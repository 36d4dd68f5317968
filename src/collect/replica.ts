import { randomBytes } from 'node:crypto'
import type { CollectorStatus, SyncAnswer } from '../collectors/protocol.ts'
import { applyRows, type ChangedRow, type FeedPosition, replaceRows } from '../collectors/row-feed.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Segment } from '../ingest/spool.ts'
import { type Db, prepared } from '../store/database.ts'
import type { ControlClient } from './control-client.ts'
import type { DoorReport } from './door-report.ts'

/** The stored state of a collector. */
interface State extends FeedPosition {
  instance: string
  slot: number
  live: number
  overBudget: string
  lastSegment: string | null
  lastReceivedAt: number
  lastSeq: number
  committedSeq: number
}

export interface ReplicaDeps {
  db: Db
  control: Pick<ControlClient, 'sync'>
  status(): Omit<CollectorStatus, 'instance'>
  report: Pick<DoorReport, 'take' | 'restore' | 'watch'>
  clock: Clock
  /** Called after rows were copied. */
  changed(rows: readonly ChangedRow[]): void
}

/**
 * The collector's copy of the rows from which it answers requests. It survives restarts and the absence of the control
 * node.
 */
export class Replica {
  private state: State
  private over: ReadonlySet<string>

  constructor(private readonly deps: ReplicaDeps) {
    this.state = stateOf(deps.db)
    this.over = new Set(JSON.parse(this.state.overBudget) as string[])
  }

  /** Random id of the data folder. */
  get instance(): string {
    return this.state.instance
  }

  /** Event numbers are congruent to it modulo 64. */
  get slot(): number {
    return this.state.slot
  }

  /** Number of processes that share the rate limits. */
  get live(): number {
    return this.state.live
  }

  /** True once the rows have been copied for the first time. */
  get isComplete(): boolean {
    return this.state.epoch > 0
  }

  isOverBudget(orgId: string): boolean {
    return this.over.has(orgId)
  }

  /**
   * Reports the status and copies changed rows. Throws the errors of `ControlClient`, and `conflict` when a control node
   * answers that was restored to an earlier time than one before it.
   */
  async sync(): Promise<void> {
    let position: FeedPosition = { epoch: this.state.epoch, version: this.state.version }
    // A row of one page can refer to a row of a later page, so all pages are written at once.
    let all: ChangedRow[] = []
    let isWhole = false
    for (let hasMore = true; hasMore; ) {
      const answer = await this.contact(position)
      const { epoch, version, rows, slot, live } = answer
      if (epoch < this.state.epoch) throw new AppError('conflict', 'an older copy of the control node answers')
      if (answer.isWhole) {
        isWhole = true
        all = []
      }
      for (const row of rows) all.push(row)
      hasMore = answer.hasMore
      position = { epoch, version }
      const next = { ...this.state, ...position, slot, live, overBudget: JSON.stringify(answer.overBudget) }
      if (!hasMore) this.write(isWhole ? replaceRows : applyRows, all, next)
    }
  }

  private async contact(position: FeedPosition): Promise<SyncAnswer> {
    const { control, status, report, clock } = this.deps
    const taken = report.take(clock.now())
    const isEmpty = Object.values(taken).every((list) => list.length === 0)
    try {
      const own = { ...status(), instance: this.instance }
      const answer = await control.sync({ status: own, ...position, ...(isEmpty ? {} : { report: taken }) })
      report.watch(answer.watched)
      return answer
    } catch (error) {
      report.restore(taken)
      throw error
    }
  }

  private write(into: typeof applyRows, rows: readonly ChangedRow[], next: State): void {
    const { db, changed } = this.deps
    if (rows.length === 0 && isSame(next, this.state)) return
    into(db, rows, () => {
      prepared(
        db,
        `UPDATE collectorState SET slot = @slot, live = @live, epoch = @epoch, version = @version,
           overBudget = @overBudget`,
      ).run(next)
    })
    this.state = next
    this.over = new Set(JSON.parse(next.overBudget) as string[])
    if (rows.length > 0) changed(rows)
  }
}

const isSame = (a: State, b: State) =>
  a.version === b.version &&
  a.epoch === b.epoch &&
  a.slot === b.slot &&
  a.live === b.live &&
  a.overBudget === b.overBudget

/** Returns the stored state. Creates it in a new data folder. */
export function stateOf(db: Db): State {
  const row = prepared<[], State>(db, 'SELECT * FROM collectorState').get()
  if (row) return row
  prepared(
    db,
    `INSERT INTO collectorState (only, instance, slot, live, epoch, version, overBudget) VALUES (1, ?, 0, 1, 0, 0, '[]')`,
  ).run(randomBytes(16).toString('hex'))
  return stateOf(db)
}

/** Records that the control node has committed a segment, in the caller's transaction. */
export function recordCommitted(
  db: Db,
  { name, lastSeq }: Pick<Segment, 'name' | 'lastSeq'>,
  latest: { receivedAt: number; seq: number },
): void {
  prepared(
    db,
    `UPDATE collectorState SET lastSegment = ?, lastReceivedAt = max(lastReceivedAt, ?), lastSeq = max(lastSeq, ?),
       committedSeq = max(committedSeq, ?)`,
  ).run(name, latest.receivedAt, latest.seq, lastSeq)
}
