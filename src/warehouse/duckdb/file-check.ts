import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, DAY_MS, type Instant } from '../../core/clock.ts'
import { messageOf } from '../../core/error.ts'
import { fileChecksum, nullIfMissing } from '../../core/file-checksum.ts'
import { type Manifest, type ManifestFile, spanOf } from './manifest.ts'

/** Why a file is left out from now on. */
export interface Flaw {
  file: ManifestFile
  reason: string
}

export interface FileCheckDeps {
  /** Where the files of the manifest lie. */
  folder: string
  manifest: Manifest
  clock: Clock
  /** Reads everything of the file at this path; fails when that can't be done. For files without a checksum. */
  decode(path: string): Promise<void>
  /** Told of files that are left out from now on. */
  damaged(flaws: readonly Flaw[]): void
  /** Told of files that are whole again and in use. */
  restored(files: readonly ManifestFile[]): void
}

/** A file is checked again after this time, and so many bytes at a time. */
const CHECK_EVERY_MS = DAY_MS
const BYTES_AT_ONCE = 256 * 1024 * 1024

/**
 * Finds files of the manifest that are not as they were written, and leaves them out: half of the bytes of a Parquet file
 * can be flipped without an error, and then it gives wrong values.
 */
export class FileCheck {
  /** When a file was last found to be as it was written. */
  private readonly soundAt = new Map<string, Instant>()

  constructor(private readonly parts: FileCheckDeps) {}

  /** At a start: leaves out what is gone or has another size, which is quick to see, and takes back what is whole again. */
  async start(): Promise<void> {
    const { manifest } = this.parts
    const flaws = manifest.present().flatMap((file): Flaw[] => {
      const reason = sizeFlaw(file, statSync(this.pathOf(file), { throwIfNoEntry: false })?.size ?? null)
      return reason === null ? [] : [{ file, reason }]
    })
    this.exclude(flaws)
    await this.restore(manifest.damaged().map(({ file }) => file))
  }

  /** One round of the check that goes through all files once a day. */
  async round(): Promise<void> {
    const { manifest, clock } = this.parts
    const [present, damaged] = [manifest.present(), manifest.damaged().map(({ file }) => file)]
    const known = new Set([...present, ...damaged].map(({ path }) => path))
    for (const path of this.soundAt.keys()) if (!known.has(path)) this.soundAt.delete(path)
    const dueBefore = clock.now() - CHECK_EVERY_MS
    let bytes = 0
    const due: ManifestFile[] = []
    for (const file of present) {
      if (bytes >= BYTES_AT_ONCE) break
      if ((this.soundAt.get(file.path) ?? Number.NEGATIVE_INFINITY) > dueBefore) continue
      due.push(file)
      bytes += file.sizeBytes
    }
    await this.excludeDamaged(due)
    await this.restore(damaged)
  }

  /**
   * Looks at each of these files, but for those that were sound since `since`, and leaves out what is not as it was
   * written. True when one of them was not.
   */
  async excludeDamaged(files: readonly ManifestFile[], since = Number.POSITIVE_INFINITY): Promise<boolean> {
    const flaws: Flaw[] = []
    for (const file of files) {
      if ((this.soundAt.get(file.path) ?? Number.NEGATIVE_INFINITY) >= since) continue
      const reason = await this.flawOf(file)
      if (reason !== null) flaws.push({ file, reason })
    }
    this.exclude(flaws)
    return flaws.length > 0
  }

  private exclude(flaws: readonly Flaw[]): void {
    const { manifest, clock, damaged } = this.parts
    // What left the manifest meanwhile is gone as it should be.
    const left = flaws.filter(({ file }) => manifest.markDamaged(file.path, clock.now()))
    if (left.length > 0) damaged(left)
  }

  private async restore(files: readonly ManifestFile[]): Promise<void> {
    const whole: ManifestFile[] = []
    for (const file of files) {
      if ((await this.flawOf(file)) === null && this.parts.manifest.restore(file.path)) whole.push(file)
    }
    if (whole.length > 0) this.parts.restored(whole)
  }

  /** Null: the file is as it was written. */
  private async flawOf(file: ManifestFile): Promise<string | null> {
    const path = this.pathOf(file)
    const found = await stat(path).catch(nullIfMissing)
    const flaw = sizeFlaw(file, found?.size ?? null) ?? (await this.contentFlaw(file, path))
    if (flaw === null) this.soundAt.set(file.path, this.parts.clock.now())
    return flaw
  }

  private async contentFlaw({ sum }: ManifestFile, path: string): Promise<string | null> {
    try {
      if (sum === null) await this.parts.decode(path)
      else if ((await fileChecksum(path)) !== sum) return 'its bytes are not those that were written'
      return null
    } catch (error) {
      return `it can't be read: ${messageOf(error)}`
    }
  }

  private pathOf({ path }: ManifestFile): string {
    return join(this.parts.folder, path)
  }
}

function sizeFlaw({ sizeBytes }: ManifestFile, size: number | null): string | null {
  if (size === null) return 'it is gone'
  return size === sizeBytes ? null : `it has ${size} bytes instead of ${sizeBytes}`
}

const MOST_NAMED = 20

/** What an operator is told, once, of files that are left out from now on; of at least one. */
export function damageNotice(flaws: readonly Flaw[]): { subject: string; text: string } {
  const rows = flaws.reduce((sum, { file }) => sum + file.rows, 0)
  const named = flaws.slice(0, MOST_NAMED).map(({ file, reason }) => {
    const { first, last } = spanOf(file)
    const owner = file.orgId === null ? 'several organizations' : `organization ${file.orgId}`
    const span = `${new Date(first).toISOString()} to ${new Date(last).toISOString()}`
    return `events/${file.path} (${owner}, ${span}, ${file.rows} rows): ${reason}.`
  })
  if (flaws.length > MOST_NAMED) named.push(`And ${flaws.length - MOST_NAMED} more.`)
  const files = flaws.length === 1 ? 'a file of the history is' : `${flaws.length} files of the history are`
  return {
    subject: `${files} damaged: ${rows} rows are left out`,
    text: `${named.join(' ')} Everything else is answered. Put the file back from a backup, and it is used again. Is the disk failing?`,
  }
}
