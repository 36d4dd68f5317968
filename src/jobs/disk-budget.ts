import { join } from 'node:path'
import { type Clock, DAY_MS, type Instant } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import { type Drop, planDrops } from '../warehouse/disk-share.ts'
import { DiskUse } from '../warehouse/duckdb/disk-use.ts'
import type { Manifest } from '../warehouse/duckdb/manifest.ts'
import type { DuckdbWarehouse } from '../warehouse/duckdb/warehouse.ts'

/** What an operator is told: a sentence for the subject, and what follows from it. */
export interface Notice {
  subject: string
  text: string
}

export interface DiskBudgetParts {
  db: Db
  warehouse: DuckdbWarehouse
  manifest: Manifest
  /** Of event files. */
  folder: string
  clock: Clock
  /** What everything collected may take together; 0: no limit. */
  budgetBytes: number
  warn(message: string): void
  /** Told of what was lost, at most once a day of each organization. */
  tellOperator(notice: Notice): void
  report(error: unknown, where: string): void
}

/** Keeps what was collected within the disk budget, and knows whose batches can't be taken in because of it. */
export class DiskBudget {
  private readonly use: DiskUse
  private over: ReadonlySet<string> = new Set()
  /** When the operator was last told of an organization. */
  private readonly toldAt = new Map<string, Instant>()

  constructor(private readonly parts: DiskBudgetParts) {
    this.use = new DiskUse(parts)
  }

  /** True while the organization is over its share with nothing left to drop: what it sends would cost others theirs. */
  isOver(orgId: string): boolean {
    return this.over.has(orgId)
  }

  /** Drops what the budget does not hold, by `planDrops`. Doing it again, or dying in between, changes nothing. */
  async keep(): Promise<void> {
    const { budgetBytes, clock } = this.parts
    if (budgetBytes === 0) return
    if (this.use.bytes() <= budgetBytes) return this.close([])
    const { drops, over } = planDrops(await this.use.pieces(), budgetBytes, clock.now())
    const paths = drops.length > 0 ? this.drop(drops) : []
    this.close(over)
    // Last: queries that still read them are waited for.
    await this.parts.warehouse.remove(paths)
  }

  /** Takes them out of the manifest, and answers which files may be deleted. */
  private drop(drops: readonly Drop[]): string[] {
    const { manifest, folder, budgetBytes } = this.parts
    const paths = new Set(drops.flatMap(({ paths }) => paths))
    const isDropped = ({ path }: { path: string }) => paths.has(path)
    manifest.swap(manifest.files().filter(isDropped), [])
    manifest.swapPages(manifest.pages().filter(isDropped), [])
    manifest.swapRollups(manifest.rollups().filter(isDropped), [])
    for (const [orgId, own] of Map.groupBy(drops, (drop) => drop.orgId)) {
      this.tell(
        orgId,
        `over its share of the disk budget of ${budgetBytes} bytes; dropped: ${own.map(inWords).join(', ')}`,
      )
    }
    return [...paths].map((path) => join(folder, path))
  }

  /** From now on it is these whose batches are not taken in. */
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
    const { clock, warn, tellOperator } = this.parts
    const sentence = `${this.nameOf(orgId)} is ${text}`
    if (clock.now() - (this.toldAt.get(orgId) ?? Number.NEGATIVE_INFINITY) < DAY_MS) return warn(sentence)
    this.toldAt.set(orgId, clock.now())
    tellOperator({ subject: 'the disk budget is spent', text: sentence })
  }

  private nameOf(orgId: string): string {
    const name = this.parts.db.prepare<[string], string>('SELECT name FROM org WHERE id = ?').pluck().get(orgId)
    return name === undefined ? orgId : `${name} (${orgId})`
  }
}

function inWords({ what, at }: Drop): string {
  const text = new Date(at).toISOString()
  const day = text.slice(0, 10)
  return what === 'day' ? day : what === 'hour' ? `${day} ${text.slice(11, 16)}` : `counts of ${day}`
}
