import { messageOf } from '../../core/error.ts'
import { type ClickhouseAddress, type ClickhouseClient, ClickhouseError } from './clickhouse-client.ts'
import { schemaOf, TABLES } from './clickhouse-schema.ts'

/** The first version whose queries are tested. */
const MIN_VERSION = [26, 3] as const

/**
 * Creates missing tables on a single server; in a cluster, the operator creates them on every server. Returns the
 * version. Throws `ClickhouseError`, and an error for the operator if the server is too old.
 */
export async function prepareServer(client: ClickhouseClient): Promise<string> {
  const version = await checkVersion(client)
  // `CREATE … IF NOT EXISTS` requires rights even if the table exists.
  if (client.address.cluster === null && !(await hasTables(client)))
    for (const sql of schemaOf(client.address)) await client.run(sql)
  return version
}

async function hasTables(client: ClickhouseClient): Promise<boolean> {
  const rows = await client.select<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  )
  const found = new Set(rows.map(({ name }) => name))
  return [...TABLES, 'names_view'].every((name) => found.has(name))
}

/** Returns the version of a server. Changes nothing. Throws as `prepareServer`. */
export async function checkVersion(client: ClickhouseClient): Promise<string> {
  const [row] = await client.select<{ version: string }>('SELECT version() AS version')
  const version = row?.version ?? ''
  if (isTooOld(version))
    throw new Error(`ClickHouse ${version} is too old: version ${MIN_VERSION.join('.')} or later is required`)
  return version
}

/** Causes of common errors: https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp */
const CAUSES: Readonly<Record<number, string>> = {
  60: 'a table is missing',
  81: 'the database does not exist',
  164: 'the user may only read',
  241: 'its memory is used up',
  243: 'its disk is full',
  252: 'it has too many parts to merge',
  497: 'the user lacks rights',
  516: 'wrong user or password',
}

/** Returns why a request failed, for the operator. Omits ClickHouse's messages, which may quote SQL and values. */
export function reasonOf(error: unknown, { url }: Pick<ClickhouseAddress, 'url'>): string {
  if (!(error instanceof ClickhouseError)) return messageOf(error)
  if (error.code === null) return `ClickHouse: ${error.message}`
  const cause = CAUSES[error.code]
  return `ClickHouse at ${new URL(url).host} answers with its error ${error.code}${cause ? ` (${cause})` : ''}`
}

/** True for a version before `MIN_VERSION`, and for text that is no version. */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [first, second] = MIN_VERSION
  return !(major > first || (major === first && minor >= second))
}
