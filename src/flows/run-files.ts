import { existsSync, readdirSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type Db, prepared } from '../store/database.ts'

const HAR = 'requests.har'
const screenshotName = (step: number) => `step-${step}.png`

/** Disk usage of one run's files. */
export interface RunUse {
  runId: string
  orgId: string
  /** Time at which the run was requested. */
  at: Instant
  bytes: number
  /** False while the run is active, because its files may still grow. */
  isFinished: boolean
}

async function sizeOfFolder(folder: string): Promise<number> {
  let bytes = 0
  for (const name of await readdir(folder)) {
    // Files may be deleted while the loop runs.
    bytes += await stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    )
  }
  return bytes
}

/** Screenshots and HARs of runs. Each run has a folder named after its id. */
export class RunFiles {
  /** Size of each finished run's files in bytes, by run id. */
  private sizes = new Map<string, number>()

  constructor(
    private readonly folder: string,
    /** Returns the retention period in days. */
    private readonly keptDays: () => number,
  ) {}

  /** Returns the path of a run's folder. */
  of(runId: string): string {
    return join(this.folder, runId)
  }

  /** Returns the indexes of the steps in a run that have a screenshot. */
  screenshots(runId: string): Set<number> {
    const folder = this.of(runId)
    const names = existsSync(folder) ? readdirSync(folder) : []
    return new Set(names.flatMap((name) => /^step-(\d+)\.png$/.exec(name)?.[1] ?? []).map(Number))
  }

  /** Returns the screenshot of a step as a PNG. Throws `notFound` when there is none or it has been deleted. */
  async screenshot(runId: string, step: number): Promise<Blob> {
    const file = Bun.file(join(this.of(runId), screenshotName(step)))
    if (await file.exists()) return file
    throw new AppError(
      'notFound',
      `there is no screenshot of this step; screenshots are kept for ${this.keptDays()} days`,
    )
  }

  /** Returns the HAR as JSON. Throws `notFound` when there is none or it has been deleted. */
  async har(runId: string): Promise<Blob> {
    const file = Bun.file(join(this.of(runId), HAR))
    if (await file.exists()) return file
    throw new AppError('notFound', `there is no HAR of this run; HARs are kept for ${this.keptDays()} days`)
  }

  /** Returns the disk usage of every run with its organization. */
  async uses(db: Db): Promise<RunUse[]> {
    if (!existsSync(this.folder)) return []
    const find = prepared<[string], { orgId: string; createdAt: Instant; finishedAt: Instant | null }>(
      db,
      'SELECT orgId, createdAt, finishedAt FROM flowRun WHERE id = ?',
    )
    const sizes = new Map<string, number>()
    const uses: RunUse[] = []
    for (const runId of await readdir(this.folder)) {
      const run = find.get(runId)
      if (!run) continue
      const bytes = this.sizes.get(runId) ?? (await sizeOfFolder(this.of(runId)))
      const isFinished = run.finishedAt !== null
      if (isFinished) sizes.set(runId, bytes)
      uses.push({ runId, orgId: run.orgId, at: run.createdAt, bytes, isFinished })
    }
    this.sizes = sizes
    return uses
  }

  /** Deletes the files of a run. */
  async remove(runId: string): Promise<void> {
    this.sizes.delete(runId)
    await rm(this.of(runId), { recursive: true, force: true })
  }

  /** Deletes the files of runs that have been deleted or are older than the retention period. */
  async retain(db: Db, now: Instant): Promise<void> {
    if (!existsSync(this.folder)) return
    const find = prepared<[string], { finishedAt: Instant | null }>(db, 'SELECT finishedAt FROM flowRun WHERE id = ?')
    const oldest = now - this.keptDays() * DAY_MS
    for (const runId of await readdir(this.folder)) {
      const run = find.get(runId)
      const isOld = (run?.finishedAt ?? now) < oldest
      if (!run || isOld) await this.remove(runId)
    }
  }
}
