import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Instant } from '../../core/clock.ts'
import { messageOf } from '../../core/error.ts'
import type { Piece } from '../warehouse.ts'
import { isOpen } from './counts-rollup.ts'
import { quoteText } from './duckdb-dialect.ts'
import type { EventFile, PageFile, RollupFile } from './manifest.ts'
import type { ParquetFiles } from './parquet-files.ts'
import { spooledEvents } from './spool-relation.ts'

/** Each organization's fraction of a file, with its first `receivedAt`. The fractions add up to 1. */
type Shares = readonly { orgId: string; share: number; from: Instant }[]

/** A file listed in the manifest. */
interface Held {
  kind: 'events' | 'pages' | 'counts'
  path: string
  orgId: string | null
  from: number
  sizeBytes: number
  /** SQL of a row's approximate size in bytes. */
  weight: string
}

/** Disk usage by organization. Includes files of events, counts and `pages`, and the spool. */
export class DiskUse {
  /** Cached fractions for files that several organizations use, by path. Files never change. */
  private shares = new Map<string, Shares>()

  constructor(
    private readonly parquet: ParquetFiles,
    /** Called if the organizations in a file or in the spool can't be determined. */
    private readonly report: (error: unknown, where: string) => void,
  ) {}

  /** Total size in bytes. */
  bytes(): number {
    const { files, rollups, pages, spool } = this.parquet.sources()
    const held = [...files, ...rollups, ...pages].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    return held + sizeOf(spool)
  }

  /**
   * Disk usage by organization. A file with data from several organizations is divided according to the approximate
   * size of their rows. Unreadable files and an unreadable spool are omitted.
   */
  async pieces(): Promise<Piece[]> {
    const { files, rollups, pages } = this.parquet.sources()
    const held = [...files.map(ofEvents), ...rollups.map(ofCounts), ...pages.map(ofPages)]
    const shared = held.filter(({ orgId }) => orgId === null)
    const shares = new Map<string, Shares>()
    for (const file of shared) shares.set(file.path, this.shares.get(file.path) ?? (await this.sharesOf(file)))
    this.shares = shares
    return [...held.flatMap((file) => piecesOf(file, shares.get(file.path) ?? [])), ...(await this.spooled())]
  }

  private async sharesOf({ path, kind, weight }: Held): Promise<Shares> {
    const { folder } = this.parquet.sources()
    const time = kind === 'counts' ? 'minute' : 'receivedAt'
    try {
      return await this.weigh(`read_parquet(${quoteText(join(folder, path))})`, weight, time)
    } catch (error) {
      if (this.isListed(path)) this.report(error, `disk budget: ${path}: ${messageOf(error)}`)
      return []
    }
  }

  private async spooled(): Promise<Piece[]> {
    const { spool } = this.parquet.sources()
    if (spool.length === 0) return []
    const bytes = sizeOf(spool)
    try {
      const shares = await this.weigh(spooledEvents(spool), EVENT_BYTES, 'receivedAt')
      return shares.map(({ orgId, share, from }) => ({ orgId, kind: 'spool', from, bytes: bytes * share, part: null }))
    } catch (error) {
      this.report(error, `disk budget: spool: ${messageOf(error)}`)
      return []
    }
  }

  private async weigh(source: string, weight: string, time: string): Promise<Shares> {
    const sql = `SELECT orgId, sum(${weight})::DOUBLE AS weight, min(${time}) AS "from" FROM ${source} GROUP BY orgId`
    const rows = await this.parquet.runTracked<{ orgId: string; weight: number; from: Instant }>(sql)
    const all = rows.reduce((sum, row) => sum + row.weight, 0)
    return rows.map(({ orgId, weight, from }) => ({ orgId, share: weight / all, from }))
  }

  /** False if the file was merged or dropped in the meantime. */
  private isListed(path: string): boolean {
    const { files, rollups, pages } = this.parquet.sources()
    return [...files, ...rollups, ...pages].some((file) => file.path === path)
  }
}

const EVENT_BYTES = '100 + strlen(params::VARCHAR)'
const COUNT_BYTES = '50 + strlen(vendor) + strlen(event)'
const PAGE_BYTES = `100 + strlen(coalesce(path, '')) + 8 * len(durMs)`

const ofEvents = ({ path, orgId, minReceivedAt, sizeBytes }: EventFile): Held => ({
  kind: 'events',
  path,
  orgId,
  from: minReceivedAt,
  sizeBytes,
  weight: EVENT_BYTES,
})

const ofCounts = (file: RollupFile): Held => ({
  kind: 'counts',
  path: file.path,
  orgId: file.orgId,
  from: file.minMinute,
  sizeBytes: file.sizeBytes,
  weight: isOpen(file) ? `${COUNT_BYTES} + 8 * len(sessionHashes)` : COUNT_BYTES,
})

const ofPages = ({ path, orgId, minReceivedAt, sizeBytes }: PageFile): Held => ({
  kind: 'pages',
  path,
  orgId,
  from: minReceivedAt,
  sizeBytes,
  weight: PAGE_BYTES,
})

function piecesOf({ kind, path, orgId, from, sizeBytes }: Held, shares: Shares): Piece[] {
  if (orgId !== null) return [{ orgId, kind, from, bytes: sizeBytes, part: path }]
  return shares.map(({ share, ...own }) => ({ ...own, kind, bytes: sizeBytes * share, part: null }))
}

/** Total size in bytes of the files that still exist. */
function sizeOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
}
