import { attemptEach } from '../../core/attempt-each.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../../core/clock.ts'
import { PAGE_COLUMNS } from '../../core/stored-page-view.ts'
import { replaceFiles } from './compact-events.ts'
import { quoteText } from './duckdb-dialect.ts'
import { lineageOf, nameOf } from './file-lineage.ts'
import type { Manifest, PageFile } from './manifest.ts'
import { pagesIn, parquetOf } from './pages-relation.ts'
import type { ParquetFiles } from './parquet-files.ts'
import { GRACE_MS, MAX_SORTED_BYTES, runsOf, SMALL_BYTES } from './plan-merges.ts'

/** Files of `pages` to merge into one file, or one file per organization. */
interface PageMerge {
  files: PageFile[]
  level: Exclude<PageFile['level'], 'fresh'>
}

const FAN_IN = 16

/**
 * Plans merges for small files of the current hour, hours that have ended and days that have ended. Everything received
 * before `closedAt` must already be in a file.
 */
function planPages(files: readonly PageFile[], closedAt: Instant): PageMerge[] {
  const days = Map.groupBy(files, ({ minReceivedAt }) => startOf(minReceivedAt, DAY_MS))
  return [...days].flatMap(([day, group]): PageMerge[] => {
    if (day + DAY_MS <= closedAt) return sortedMerges(group, 'day')
    const hours = Map.groupBy(group, ({ minReceivedAt }) => startOf(minReceivedAt, HOUR_MS))
    return [...hours].flatMap(([hour, files]): PageMerge[] => {
      if (hour + HOUR_MS <= closedAt) return sortedMerges(files, 'hour')
      const open = files.filter(({ level, sizeBytes }) => level !== 'hour' && sizeBytes < SMALL_BYTES)
      return open.length < FAN_IN ? [] : [{ files: open.slice(0, FAN_IN), level: 'merged' }]
    })
  })
}

function sortedMerges(files: readonly PageFile[], level: 'hour' | 'day'): PageMerge[] {
  const fillOf = ({ sizeBytes }: PageFile) => sizeBytes / MAX_SORTED_BYTES
  return runsOf(files, fillOf, (file) => file.level === level).map((files) => ({ files, level }))
}

/** Like `compactEvents`, but for `pages`. */
export async function compactPages(
  parquet: ParquetFiles,
  manifest: Manifest,
  folder: string,
  now: Instant,
): Promise<void> {
  const store = {
    present: () => manifest.pages(),
    swap: (removed: readonly PageFile[], added: readonly PageFile[]) => manifest.swapPages(removed, added),
  }
  await attemptEach('merges', planPages(manifest.pages(), now - GRACE_MS), (merge) =>
    replaceFiles(parquet, folder, store, merge.files, () => mergedFiles(parquet, folder, merge)),
  )
}

async function mergedFiles(parquet: ParquetFiles, folder: string, { files, level }: PageMerge): Promise<PageFile[]> {
  const columns = Object.keys(PAGE_COLUMNS).join(', ')
  const source = parquetOf(folder, files)
  const orgIds = level === 'merged' ? [null] : await orgsOf(parquet, source)
  const added: PageFile[] = []
  for (const [index, orgId] of orgIds.entries()) {
    const path = nameOf(pagesIn(`${level}${index}`), files)
    const where = orgId === null ? '' : ` WHERE orgId = ${quoteText(orgId)}`
    const select = `SELECT ${columns} FROM ${source}${where} ORDER BY orgId, domainId, vendor, receivedAt`
    const rows = await parquet.write(path, select, { lineage: lineageOf(files, orgIds.length) })
    added.push(await parquet.describePages(path, rows, level))
  }
  return added
}

async function orgsOf(parquet: ParquetFiles, source: string): Promise<string[]> {
  const rows = await parquet.run<{ orgId: string }>(`SELECT DISTINCT orgId FROM ${source} ORDER BY orgId`)
  return rows.map(({ orgId }) => orgId)
}

const startOf = (instant: Instant, lengthMs: number) => Math.floor(instant / lengthMs) * lengthMs
