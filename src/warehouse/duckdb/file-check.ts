import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, DAY_MS, type Instant } from '../../core/clock.ts'
import { messageOf } from '../../core/error.ts'
import { fileChecksum, nullIfMissing } from '../../core/file-checksum.ts'
import { type Manifest, type ManifestFile, spanOf } from './manifest.ts'

/** A damaged file, with the reason for excluding it. */
export interface Flaw {
  file: ManifestFile
  reason: string
}

export interface FileCheckDeps {
  /** Folder that contains the files in the manifest. */
  folder: string
  manifest: Manifest
  clock: Clock
  /** Decodes the entire file at this path; throws if that fails. Used for files without a checksum. */
  decode(path: string): Promise<void>
  /** Called with newly excluded files. */
  damaged(flaws: readonly Flaw[]): void
  /** Called with files that are intact again and back in use. */
  restored(files: readonly ManifestFile[]): void
}

/** Interval after which a file is checked again. */
const CHECK_EVERY_MS = DAY_MS
/** Number of bytes checked per round. */
const BYTES_PER_ROUND = 256 * 1024 * 1024

/**
 * Finds damaged files in the manifest and excludes them from queries. Without checksums, about half of all flipped
 * bytes in a Parquet file go unnoticed and yield wrong values.
 */
export class FileCheck {
  /** Time when a file was last found intact. */
  private readonly soundAt = new Map<string, Instant>()

  constructor(private readonly parts: FileCheckDeps) {}

  /**
   * At startup: excludes files that are missing or have an unexpected size, and restores files that are intact again.
   */
  async start(): Promise<void> {
    const { manifest } = this.parts
    const flaws = manifest.present().flatMap((file): Flaw[] => {
      const reason = sizeFlaw(file, statSync(this.pathOf(file), { throwIfNoEntry: false })?.size ?? null)
      return reason === null ? [] : [{ file, reason }]
    })
    this.exclude(flaws)
    await this.restore(manifest.damaged().map(({ file }) => file))
  }

  /** Checks the next files. All files are checked once a day. */
  async round(): Promise<void> {
    const { manifest, clock } = this.parts
    const [present, damaged] = [manifest.present(), manifest.damaged().map(({ file }) => file)]
    const known = new Set([...present, ...damaged].map(({ path }) => path))
    for (const path of this.soundAt.keys()) if (!known.has(path)) this.soundAt.delete(path)
    const dueBefore = clock.now() - CHECK_EVERY_MS
    let bytes = 0
    const due: ManifestFile[] = []
    for (const file of present) {
      if (bytes >= BYTES_PER_ROUND) break
      if ((this.soundAt.get(file.path) ?? Number.NEGATIVE_INFINITY) > dueBefore) continue
      due.push(file)
      bytes += file.sizeBytes
    }
    await this.excludeDamaged(due)
    await this.restore(damaged)
  }

  /**
   * Checks these files, except those found intact since `since`, and excludes damaged files. Returns whether any file
   * was damaged.
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
    // A file removed from the manifest in the meantime was deleted deliberately.
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

  /** Returns a description of the file's damage; null if the file is intact. */
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
      else if ((await fileChecksum(path)) !== sum) return 'its checksum does not match'
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
  if (size === null) return 'the file is missing'
  return size === sizeBytes ? null : `it has ${size} bytes instead of ${sizeBytes}`
}

const MAX_NAMED = 20

/** Returns the message to the operator about newly excluded files. `flaws` must not be empty. */
export function damageNotice(flaws: readonly Flaw[]): { subject: string; text: string } {
  const rows = flaws.reduce((sum, { file }) => sum + file.rows, 0)
  const named = flaws.slice(0, MAX_NAMED).map(({ file, reason }) => {
    const { first, last } = spanOf(file)
    const owner = file.orgId === null ? 'several organizations' : `organization ${file.orgId}`
    const span = `${new Date(first).toISOString()} to ${new Date(last).toISOString()}`
    return `events/${file.path} (${owner}, ${span}, ${file.rows} rows): ${reason}.`
  })
  if (flaws.length > MAX_NAMED) named.push(`And ${flaws.length - MAX_NAMED} more.`)
  const files = flaws.length === 1 ? 'an event file is' : `${flaws.length} event files are`
  return {
    subject: `${files} damaged: ${rows} rows are excluded from results`,
    text: `${named.join(' ')} Everything else is available. Restore the file from a backup and it is used again. Check the disk for errors.`,
  }
}
