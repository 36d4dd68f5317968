import type { Query } from '../query.ts'
import { quoteText } from './dialect.ts'
import { type EventFile, isInScope } from './manifest.ts'
import { filterFor, type Sources } from './relation.ts'
import { spoolRelation } from './spooled.ts'

/**
 * The relation `names` as one SELECT: each name of a parameter once. Those that have columns are known to the manifest,
 * whether an event of the window has them or not; the others are looked for.
 */
export function namesRelation(
  { files, folder, spool }: Sources,
  { orgId, window }: Pick<Query, 'orgId' | 'window'>,
): string {
  const inScope = files.filter((file) => isInScope(file, { orgId, window }))
  const branches = [
    ...Map.groupBy(inScope, (file) => `${file.keys === null}${filterFor(file, { orgId, window })}`),
  ].map(([, [first, ...rest]]) => (first ? namesIn(folder, [first, ...rest], filterFor(first, { orgId, window })) : ''))
  const columns = new Set(inScope.flatMap(({ keys }) => keys ?? []))
  if (columns.size > 0) branches.push(`SELECT unnest([${[...columns].map(quoteText).join(', ')}]) AS name`)
  if (spool.length > 0) {
    const org = orgId === null ? '' : ` AND orgId = ${quoteText(orgId)}`
    const when = `receivedAt >= ${window.from} AND receivedAt < ${window.to}${org}`
    branches.push(`SELECT unnest(map_keys(params)) AS name FROM ${spoolRelation(spool)} WHERE ${when}`)
  }
  if (branches.length === 0) return 'SELECT NULL::VARCHAR AS name WHERE false'
  return `SELECT DISTINCT name FROM (${branches.join('\nUNION ALL\n')})`
}

/** Names in the maps of files of one kind: compacted ones, or those that keep JSON. */
function namesIn(folder: string, files: readonly EventFile[], filter: string): string {
  const list = files.map(({ path }) => quoteText(`${folder}/${path}`)).join(', ')
  const keys = files[0]?.keys === null ? 'json_keys(params)' : 'map_keys(params)'
  return `SELECT unnest(${keys}) AS name FROM read_parquet([${list}])${filter}`
}
