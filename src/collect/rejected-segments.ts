import { readdirSync, renameSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { BatchLog } from '../ingest/segment-batches.ts'
import { readSegment } from '../ingest/segment-reader.ts'
import type { Segment } from '../ingest/spool.ts'
import { syncFolder } from '../store/private-file.ts'

/** `000000000012-4096.ndjson`: name of the segment, and the number below those of its events. */
const FILE = /^(\d+)-(\d+)\.ndjson$/

/**
 * Segments that the event history rejects although it accepts later ones. Their files are kept in a separate folder, and
 * are sent again after the next start.
 */
export class RejectedSegments {
  private names: string[]
  private unsent: string[]

  /** @param folder existing folder, on the same disk as the spool */
  constructor(private readonly folder: string) {
    this.names = readdirSync(folder)
      .filter((name) => FILE.test(name))
      .sort()
    this.unsent = [...this.names]
  }

  /** Number of segments. */
  get size(): number {
    return this.names.length
  }

  /** Moves the file of a segment here. It is durable before this returns. All its events have numbers above `afterSeq`. */
  keep({ name, path }: Segment, afterSeq: number): void {
    const own = `${name}-${afterSeq}.ndjson`
    renameSync(path, join(this.folder, own))
    syncFolder(this.folder)
    syncFolder(dirname(path))
    this.names.push(own)
  }

  /** Returns the next segment of an earlier process that this one has not sent yet; null if there is none. */
  async next(): Promise<{ segment: Segment; afterSeq: number } | null> {
    const [own] = this.unsent
    const [, name, afterSeq] = FILE.exec(own ?? '') ?? []
    if (own === undefined || name === undefined) return null
    const path = join(this.folder, own)
    const bytes = await readFile(path)
    const { intact } = readSegment(bytes)
    const lastSeq = intact.reduce((last, batch) => batch.lastSeq ?? last, 0)
    const batches = BatchLog.of(intact.map(({ record }) => record))
    return { segment: { name, path, batches, lastSeq, sum: Bun.hash.crc32(bytes) }, afterSeq: Number(afterSeq) }
  }

  /** To be called when the segment of `next` has been sent. Deletes its file if it has been accepted. */
  sent({ path }: Segment, isAccepted: boolean): void {
    this.unsent.shift()
    if (!isAccepted) return
    rmSync(path, { force: true })
    this.names = this.names.filter((name) => name !== basename(path))
  }
}
