import { type Clock, DAY_MS, type Instant } from '../core/clock.ts'
import type { RunFiles, RunUse } from '../flows/run-files.ts'
import type { Db } from '../store/database.ts'
import { type Drop, planDrops } from '../warehouse/disk-share.ts'
import type { Piece, Warehouse } from '../warehouse/warehouse.ts'

/** A message to the operator. */
export interface OperatorNotice {
  subject: string
  text: string
}

export interface DiskBudgetDeps {
  db: Db
  warehouse: Pick<Warehouse, 'bytes' | 'pieces' | 'drop'>
  /** Files of runs of flow tests, which count too. */
  runFiles: Pick<RunFiles, 'uses' | 'remove'>
  clock: Clock
  /** Bytes for everything collected together; 0: no limit. */
  budgetBytes: number
  warn(message: string): void
  /** Called with what was lost, at most once a day for each organization. */
  notifyOperator(notice: OperatorNotice): void
}

/** Keeps collected data within the disk budget, and decides whose batches are refused because of it. */
export class DiskBudget {
  private over: ReadonlySet<string> = new Set()
  /** When the operator was last notified about an organization. */
  private readonly notifiedAt = new Map<string, Instant>()

  constructor(private readonly parts: DiskBudgetDeps) {}

  /**
   * True while the organization is over its share with nothing left to drop: its batches would cost others their data.
   */
  isOver(orgId: string): boolean {
    return this.over.has(orgId)
  }

  /** Drops what exceeds the budget, by `planDrops`. Repeating it, or a crash in between, does no harm. */
  async enforce(): Promise<void> {
    const { db, warehouse, runFiles, budgetBytes, clock } = this.parts
    if (budgetBytes === 0) return
    const runs = (await runFiles.uses(db)).map(pieceOf)
    if (warehouse.bytes + sumOf(runs) <= budgetBytes) return this.close([])
    const { drops, over } = planDrops([...(await warehouse.pieces()), ...runs], budgetBytes, clock.now())
    const dropped = this.drop(drops)
    this.close(over)
    // Last: queries that still read it are waited for.
    await dropped
  }

  private async drop(drops: readonly Drop[]): Promise<void> {
    const { warehouse, budgetBytes } = this.parts
    if (drops.length === 0) return
    const names = new Set(drops.flatMap(({ parts }) => parts))
    const dropped = warehouse.drop(({ name }) => names.has(name))
    for (const name of names) if (name.startsWith(RUN)) await this.parts.runFiles.remove(name.slice(RUN.length))
    for (const [orgId, own] of Map.groupBy(drops, (drop) => drop.orgId)) {
      this.tell(
        orgId,
        `over its share of the disk budget of ${budgetBytes} bytes; dropped: ${own.map(inWords).join(', ')}`,
      )
    }
    await dropped
  }

  /** Refuses the batches of these organizations from now on. */
  private close(over: readonly string[]): void {
    const before = this.over
    this.over = new Set(over)
    for (const orgId of over) {
      if (before.has(orgId)) continue
      this.tell(
        orgId,
        'over its share of the disk budget with nothing left to drop; until that ends, its batches are answered 429',
      )
    }
    for (const orgId of before) {
      if (!this.over.has(orgId)) this.parts.warn(`${this.nameOf(orgId)} is within its share of the disk budget again`)
    }
  }

  private tell(orgId: string, text: string): void {
    const { clock, warn, notifyOperator } = this.parts
    const sentence = `${this.nameOf(orgId)} is ${text}`
    if (clock.now() - (this.notifiedAt.get(orgId) ?? Number.NEGATIVE_INFINITY) < DAY_MS) return warn(sentence)
    this.notifiedAt.set(orgId, clock.now())
    notifyOperator({ subject: 'the disk budget is spent', text: sentence })
  }

  private nameOf(orgId: string): string {
    const name = this.parts.db.prepare<[string], string>('SELECT name FROM org WHERE id = ?').pluck().get(orgId)
    return name === undefined ? orgId : `${name} (${orgId})`
  }
}

/** Before the id of a run, in the name of its piece. */
const RUN = 'run '

function pieceOf({ runId, orgId, at, bytes, isFinished }: RunUse): Piece {
  return { orgId, kind: 'runs', from: at, bytes, part: isFinished ? `${RUN}${runId}` : null }
}

const sumOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { bytes }) => sum + bytes, 0)

function inWords({ what, at }: Drop): string {
  const text = new Date(at).toISOString()
  const day = text.slice(0, 10)
  return what === 'day' ? day : what === 'hour' ? `${day} ${text.slice(11, 16)}` : `counts of ${day}`
}
