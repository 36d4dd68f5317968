import { PAGE_COLUMNS } from '../../core/stored-page-view.ts'
import type { Query } from '../query.ts'
import { quoteText } from './duckdb-dialect.ts'
import { isInScope, type PageFile } from './manifest.ts'

/** Path of a file of `pages`, relative to the events folder. */
export const pagesIn = (name: string) => `pages/${name}`

const COLUMNS = Object.keys(PAGE_COLUMNS).join(', ')

/** Files of the relation `pages` at one point in time. */
export interface PageSources {
  pages: readonly PageFile[]
  folder: string
}

/**
 * The relation `pages` as one SELECT. Skips files that are outside the window or belong to other organizations. Filters
 * rows only if the manifest does not guarantee that all of them match. Does not include unflushed data.
 */
export function pagesRelation(
  { pages, folder }: PageSources,
  { orgId, window }: Pick<Query, 'orgId' | 'window'>,
): string {
  const inScope = pages.filter((file) => isInScope(file, { orgId, window }))
  const filterFor = (file: PageFile) => {
    const filters: string[] = []
    if (orgId !== null && file.orgId !== orgId) filters.push(`orgId = ${quoteText(orgId)}`)
    if (file.minReceivedAt < window.from) filters.push(`receivedAt >= ${window.from}`)
    if (file.maxReceivedAt >= window.to) filters.push(`receivedAt < ${window.to}`)
    return filters.length > 0 ? ` WHERE ${filters.join(' AND ')}` : ''
  }
  const branches = [...Map.groupBy(inScope, filterFor)].map(
    ([filter, files]) => `SELECT ${COLUMNS} FROM ${parquetOf(folder, files)}${filter}`,
  )
  return branches.length > 0 ? branches.join('\nUNION ALL\n') : emptyRelation()
}

export function parquetOf(folder: string, files: readonly PageFile[]): string {
  return `read_parquet([${files.map(({ path }) => quoteText(`${folder}/${path}`)).join(', ')}])`
}

/** Rows of a file that contains one JSON object per line. */
export function pageLines(path: string): string {
  const columns = Object.entries(PAGE_COLUMNS).map(([name, type]) => `${name}: ${quoteText(type)}`)
  return `read_json([${quoteText(path)}], format = 'newline_delimited', columns = {${columns.join(', ')}})`
}

function emptyRelation(): string {
  const columns = Object.entries(PAGE_COLUMNS).map(([name, type]) => `NULL::${type} AS ${name}`)
  return `SELECT ${columns.join(', ')} WHERE false`
}
