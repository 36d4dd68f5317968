import { AppError } from '../core/error.ts'

/** A ClickHouse server and how to sign in. */
export interface ClickhouseLogin {
  /** Scheme, host and port of the HTTP interface. */
  url: string
  user: string
  password: string
  database: string
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
 * Throws `invalid` with a message that does not repeat the URL, because it may contain a password.
 */
export function parseClickhouseUrl(text: string): ClickhouseLogin {
  const url = URL.parse(text)
  const known = url && SCHEMES[url.protocol]
  if (!known || url.hostname === '') throw fault(`must be ${CLICKHOUSE_URL}`)
  if (url.search !== '' || url.hash !== '') throw fault('must not have anything after the database')
  const [database = '', ...more] = url.pathname.split('/').slice(1)
  if (more.length > 0) throw fault('must have only the database after the host')
  return {
    url: `${known.scheme}://${url.hostname}:${url.port || known.port}`,
    user: decoded(url.username) || 'default',
    password: decoded(url.password),
    database: decoded(database) || 'default',
  }
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
