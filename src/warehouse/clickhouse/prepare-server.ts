import type { ClickhouseClient } from './clickhouse-client.ts'
import { schemaOf } from './clickhouse-schema.ts'

/** The first version whose queries are tested. */
const MIN_VERSION = [26, 3] as const

/**
 * Creates missing tables on a single server; in a cluster, the operator creates them on every server. Returns the
 * version. Throws `ClickhouseError`, and an error for the operator if the server is too old.
 */
export async function prepareServer(client: ClickhouseClient): Promise<string> {
  const [row] = await client.select<{ version: string }>('SELECT version() AS version')
  const version = row?.version ?? ''
  if (isTooOld(version))
    throw new Error(`ClickHouse ${version} is too old: version ${MIN_VERSION.join('.')} or later is required`)
  if (client.address.cluster === null) for (const sql of schemaOf(client.address)) await client.run(sql)
  return version
}

/** True for a version before `MIN_VERSION`, and for text that is no version. */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [first, second] = MIN_VERSION
  return !(major > first || (major === first && minor >= second))
}
