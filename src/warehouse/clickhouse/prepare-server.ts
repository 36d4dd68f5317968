import { messageOf } from '../../core/error.ts'
import { ClickhouseClient, ClickhouseError, type QueryLimits } from './clickhouse-client.ts'
import { quoteText } from './clickhouse-dialect.ts'
import { localTable, schemaOf, TABLES } from './clickhouse-schema.ts'

/** The first version whose queries are tested. */
const MIN_VERSION = [26, 3] as const

/**
 * Creates missing tables on every server that stores events. Throws `ClickhouseError`, and an error for the operator if a
 * server can't be used.
 */
export async function prepareServers(client: ClickhouseClient): Promise<void> {
  const servers = await serversOf(client)
  for (const server of servers) await checkVersion(server)
  // `CREATE … IF NOT EXISTS` requires rights even if the table exists.
  for (const server of servers)
    if (!(await hasTables(server))) for (const sql of schemaOf(server.address)) await server.run(sql)
}

/**
 * Returns a client for each server that stores events: the server itself, or all servers of its cluster, which have the
 * same port. Throws as `prepareServers`.
 */
export async function serversOf(client: ClickhouseClient): Promise<ClickhouseClient[]> {
  const { cluster, replicated, url } = client.address
  if (cluster === null) return [client]
  const servers = await client.select<{ host: string; shard: number }>(
    `SELECT host_name AS host, shard_num AS shard FROM system.clusters WHERE cluster = ${quoteText(cluster)}
     ORDER BY shard_num, replica_num`,
  )
  if (servers.length === 0) throw new Error(`ClickHouse has no cluster named ${cluster}`)
  if (!replicated && new Set(servers.map(({ shard }) => shard)).size < servers.length)
    throw new Error(`the cluster ${cluster} has shards with several replicas, which requires &replicated=true`)
  return servers.map(({ host }) => {
    const own = new URL(url)
    own.hostname = host.includes(':') ? `[${host}]` : host
    return new ClickhouseClient({ ...client.address, url: own.origin })
  })
}

async function hasTables(client: ClickhouseClient): Promise<boolean> {
  const { address } = client
  const rows = await client.select<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  )
  const found = new Set(rows.map(({ name }) => name))
  return [
    ...TABLES,
    ...TABLES.map((table) => localTable(table, address)),
    `${localTable('names', address)}_view`,
  ].every((name) => found.has(name))
}

/** Describes the servers that store events, for the operator. Changes nothing. Throws as `prepareServers`. */
export async function describeServers(client: ClickhouseClient): Promise<string> {
  const servers = await serversOf(client)
  const versions: string[] = []
  for (const server of servers) versions.push(await checkVersion(server))
  const version = [...new Set(versions)].join(' and ')
  return client.address.cluster === null
    ? `ClickHouse ${version} answers`
    : `ClickHouse ${version} answers on all ${servers.length} servers of the cluster ${client.address.cluster}`
}

/** Throws `ClickhouseError` if the events can't be queried because the server, or all replicas of a shard, are away. */
export async function probeServers(client: ClickhouseClient, limits: Partial<QueryLimits>): Promise<void> {
  const { cluster } = client.address
  const table = cluster === null ? 'system.one' : `cluster(${quoteText(cluster)}, system.one)`
  try {
    await client.select(`SELECT dummy FROM ${table}`, limits)
  } catch (error) {
    // The server that is away is named by the error of a connection to it.
    if (cluster !== null && error instanceof ClickhouseError && error.isAway)
      for (const server of await serversOf(client)) await server.select('SELECT 1 AS one', limits)
    throw error
  }
}

/** Returns the version of a server. Throws as `prepareServers`. */
async function checkVersion(client: ClickhouseClient): Promise<string> {
  const [row] = await client.select<{ version: string }>('SELECT version() AS version')
  const version = row?.version ?? ''
  if (isTooOld(version))
    throw new Error(
      `ClickHouse ${version} at ${client.host} is too old: version ${MIN_VERSION.join('.')} or later is required`,
    )
  return version
}

/** Causes of common errors: https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp */
const CAUSES: Readonly<Record<number, string>> = {
  60: 'a table is missing',
  81: 'the database does not exist',
  164: 'the user may only read',
  210: 'another server does not answer',
  241: 'its memory is used up',
  242: 'a replicated table may only be read, usually because Keeper does not answer',
  243: 'its disk is full',
  252: 'it has too many parts to merge',
  279: 'a shard does not answer',
  497: 'the user lacks rights',
  516: 'wrong user or password',
}

/** Codes of Node.js for a certificate that is not accepted: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'is not trusted',
  CERT_SIGNATURE_FAILURE: 'is not trusted',
}

/** Returns why a request failed, for the operator. Omits ClickHouse's messages, which may quote SQL and values. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof ClickhouseError)) return messageOf(error)
  const { code, host, networkCode } = error
  if (code !== null) {
    const cause = CAUSES[code]
    return `ClickHouse at ${host} answers with its error ${code}${cause ? ` (${cause})` : ''}`
  }
  const fault = CERTIFICATE_FAULTS[networkCode]
  if (fault === undefined) return `ClickHouse: ${error.message}`
  const hint = fault === 'is not trusted' ? '; check TAGWARDEN_OUTBOUND_CA' : ''
  return `ClickHouse: the certificate of ${host} ${fault} (${networkCode})${hint}`
}

/** True for a version before `MIN_VERSION`, and for text that is no version. */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [first, second] = MIN_VERSION
  return !(major > first || (major === first && minor >= second))
}
