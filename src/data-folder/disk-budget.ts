import { type Clock, DAY_MS, type Instant } from '../core/clock.ts'
import type { RunFiles, RunUse } from '../flows/run-files.ts'
import { INTERNAL_ORG_ID } from '../org/internal-org.ts'
import type { Db } from '../store/database.ts'
import { type Deletion, planDeletions } from '../warehouse/plan-disk-deletions.ts'
import type { Piece, Warehouse } from '../warehouse/warehouse.ts'

/** A message to the operator. */
interface OperatorNotice {
  subject: string
  text: string
}

export interface DiskBudgetDeps {
  db: Db
  warehouse: Pick<Warehouse, 'bytes' | 'pieces' | 'drop'>
  /** Files of flow test runs. They count towards the budget. */
  runFiles: Pick<RunFiles, 'uses' | 'remove'>
  clock: Clock
  /** Maximum size in bytes of all collected data; 0 means no limit. */
  budgetBytes: number
  warn(message: string): void
  /** Called when data is deleted, at most once a day per organization. */
  notifyOperator(notice: OperatorNotice): void
}

/**
 * Keeps collected data within the disk budget. Rejects batches from organizations that exceed their share of the
 * budget.
 */
export class DiskBudget {
  private over: ReadonlySet<string> = new Set()
  /** Time of the last message to the operator about each organization; about all under null. */
  private readonly notifiedAt = new Map<string | null, Instant>()

  constructor(private readonly parts: DiskBudgetDeps) {}

  /**
   * True while the organization exceeds its share of the budget and has no more data to delete. Its batches are
   * rejected, because accepting them would require deleting other organizations' data.
   */
  isOver(orgId: string): boolean {
    return this.over.has(orgId)
  }

  /** Returns the ids of the organizations for which `isOver` is true. */
  organizationsOver(): string[] {
    return [...this.over]
  }

  /** Deletes data that exceeds the budget, according to `planDeletions`. Idempotent and crash-safe. */
  async enforce(): Promise<void> {
    const { db, warehouse, runFiles, budgetBytes, clock } = this.parts
    if (budgetBytes === 0) return
    const runs = (await runFiles.uses(db)).map(pieceOf)
    if (warehouse.bytes + sumOf(runs) <= budgetBytes) return this.setOver([])
    const stored = await warehouse.pieces()
    const pieces = stored.filter(({ orgId, server }) => orgId !== INTERNAL_ORG_ID && server !== 'away')
    const { drops, over } = planDeletions([...pieces, ...runs], budgetBytes, clock.now())
    const dropped = this.drop(drops)
    this.setOver(over)
    // Awaited last, because it waits for running queries.
    await dropped
  }

  private async drop(drops: readonly Deletion[]): Promise<void> {
    const { warehouse, budgetBytes } = this.parts
    if (drops.length === 0) return
    const names = new Set(drops.flatMap(({ parts }) => parts))
    const dropped = warehouse.drop(({ name }) => names.has(name))
    for (const name of names) if (name.startsWith(RUN)) await this.parts.runFiles.remove(name.slice(RUN.length))
    for (const [orgId, own] of Map.groupBy(drops, (drop) => drop.orgId)) {
      const excess =
        orgId === null
          ? `The stored data exceeds the disk budget of ${budgetBytes} bytes; deleted for all organizations`
          : `${this.nameOf(orgId)} is over its share of the disk budget of ${budgetBytes} bytes; deleted`
      this.notify(orgId, `${excess}: ${own.map(dropText).join(', ')}`)
    }
    await dropped
  }

  /** Rejects batches from exactly these organizations. */
  private setOver(over: readonly string[]): void {
    const before = this.over
    this.over = new Set(over)
    for (const orgId of over) {
      if (before.has(orgId)) continue
      this.notify(
        orgId,
        `${this.nameOf(orgId)} is over its share of the disk budget with nothing left to delete; its batches are rejected with 429`,
      )
    }
    for (const orgId of before) {
      if (!this.over.has(orgId)) this.parts.warn(`${this.nameOf(orgId)} is within its share of the disk budget again`)
    }
  }

  private notify(orgId: string | null, sentence: string): void {
    const { clock, warn, notifyOperator } = this.parts
    if (clock.now() - (this.notifiedAt.get(orgId) ?? Number.NEGATIVE_INFINITY) < DAY_MS) return warn(sentence)
    this.notifiedAt.set(orgId, clock.now())
    notifyOperator({ subject: 'the disk budget is exhausted', text: sentence })
  }

  private nameOf(orgId: string): string {
    const name = this.parts.db.prepare<[string], string>('SELECT name FROM org WHERE id = ?').pluck().get(orgId)
    return name === undefined ? orgId : `${name} (${orgId})`
  }
}

/** Name prefix of pieces that are runs. The run's id follows. */
const RUN = 'run '

function pieceOf({ runId, orgId, at, bytes, isFinished }: RunUse): Piece {
  return { orgId, kind: 'runs', from: at, bytes, part: isFinished ? `${RUN}${runId}` : null }
}

const sumOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { bytes }) => sum + bytes, 0)

function dropText({ what, at }: Deletion): string {
  const text = new Date(at).toISOString()
  const day = text.slice(0, 10)
  return what === 'day' ? day : what === 'hour' ? `${day} ${text.slice(11, 16)}` : `counts for ${day}`
}
