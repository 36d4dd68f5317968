import { AppError } from '../core/error.ts'

/** A ClickHouse server and how to sign in. */
export interface ClickhouseLogin {
  /** Scheme, host and port of the HTTP interface. */
  url: string
  user: string
  password: string
  database: string
  /** Name of the cluster whose shards hold the tables; null for a single server. */
  cluster: string | null
  /** True if the tables have replicas. Only in a cluster. */
  replicated: boolean
}

/** The form of such a URL, for error messages. */
export const CLICKHOUSE_URL = 'clickhouse://user:password@host:port/database, or clickhouses:// for TLS'

/** By scheme: that of the HTTP interface, and its default port. */
const SCHEMES: Readonly<Record<string, { scheme: string; port: number }>> = {
  'clickhouse:': { scheme: 'http', port: 8123 },
  'clickhouses:': { scheme: 'https', port: 8443 },
}

/**
 * Parses the URL of a ClickHouse database. Without them, user and database are `default`, and the password is empty.
 * `?cluster=NAME` states that the tables are on the shards of a cluster, and `&replicated=true` that they have replicas.
 * Throws `invalid` with a message that does not repeat the URL, because it may contain a password.
 */
export function parseClickhouseUrl(text: string): ClickhouseLogin {
  const url = URL.parse(text)
  const known = url && SCHEMES[url.protocol]
  if (!known || url.hostname === '') throw fault(`must be ${CLICKHOUSE_URL}`)
  if (url.hash !== '') throw fault('must not have a # after the database')
  const [database = '', ...more] = url.pathname.split('/').slice(1)
  if (more.length > 0) throw fault('must have only the database after the host')
  return {
    url: `${known.scheme}://${url.hostname}:${url.port || known.port}`,
    user: decoded(url.username) || 'default',
    password: decoded(url.password),
    database: decoded(database) || 'default',
    ...clusterOf(url.searchParams),
  }
}

function clusterOf(params: URLSearchParams): Pick<ClickhouseLogin, 'cluster' | 'replicated'> {
  const { cluster = null, replicated = 'false', ...unknown } = Object.fromEntries(params)
  const [name] = Object.keys(unknown)
  if (name !== undefined) throw fault('must have only cluster and replicated after the ?')
  if (cluster === '') throw fault('must have a name after cluster=')
  if (replicated !== 'true' && replicated !== 'false') throw fault('must have true or false after replicated=')
  if (cluster === null && replicated === 'true') throw fault('must have cluster=NAME with replicated=true')
  return { cluster, replicated: replicated === 'true' }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw fault('must have % only in codes such as %40 for @')
  }
}

const fault = (what: string) =>
  new AppError('invalid', `${what}; the current value is not shown because it may contain a secret`)
