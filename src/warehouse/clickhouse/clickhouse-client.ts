import { open, readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import { SECOND_MS } from '../../core/clock.ts'
import { AppError, messageOf } from '../../core/error.ts'
import { Yielder } from '../../core/yield-to-event-loop.ts'
import { addressGuard } from '../../transport/address-guard.ts'
import type { ClickhouseLogin } from '../../transport/clickhouse-url.ts'
import { sendRequest } from '../../transport/http-request.ts'
import { type Connector, codeOf, connector } from '../../transport/outbound-connection.ts'
import type { SqlValue } from '../dialect.ts'
import type { Query } from '../query.ts'
import { isBindable } from './clickhouse-dialect.ts'

/** Where a ClickHouse server is, and how to sign in. */
export interface ClickhouseAddress extends ClickhouseLogin {
  /** Certificates in PEM format that are trusted in addition to the system's. Empty: none. */
  ca?: string
}

/** A failed request to ClickHouse. The message may quote SQL, paths and values. */
export class ClickhouseError extends Error {
  /** Host and port of the server. */
  readonly host: string
  /** Error code of the connection; empty if the server answered. */
  readonly networkCode: string

  /** `code`: ClickHouse's error code; null if the server did not answer. */
  constructor(
    message: string,
    readonly code: number | null,
    { host = '', networkCode = '', ...options }: ErrorOptions & { host?: string; networkCode?: string } = {},
  ) {
    super(message, options)
    this.host = host
    this.networkCode = networkCode
  }

  /** True if the server, or another one that it needs, does not answer. */
  get isAway(): boolean {
    return this.code === null || AWAY.has(this.code)
  }

  /** True if the request may succeed later without any change. */
  get isTemporary(): boolean {
    return this.code === null || TEMPORARY.has(this.code)
  }
}

/**
 * Codes for an overloaded or partly unavailable server. Load: timeouts (159, 160, 209, 319), too many queries or parts
 * (202, 252), memory (241). Availability: network and shards (210, 279), tables that are read-only or starting (242,
 * 999), a full disk (243). https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
 */
const TEMPORARY: ReadonlySet<number> = new Set([159, 160, 202, 209, 210, 241, 242, 243, 252, 279, 319, 999])

/** Those of the codes for which a server of the cluster does not answer. */
const AWAY: ReadonlySet<number> = new Set([209, 210, 279])

/**
 * Settings of every query. Without the first two, ClickHouse returns 0 for sums of no rows and the empty string for
 * joins without a match. It also resolves a name in an expression to the alias of another column, and evaluates
 * materialized CTEs at every use.
 */
const QUERY_SETTINGS = {
  aggregate_functions_null_for_empty: 1,
  join_use_nulls: 1,
  prefer_column_name_to_alias: 1,
  enable_named_columns_in_function_tuple: 1,
  enable_materialized_cte: 1,
  precise_float_parsing: 1,
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 1,
  // A query is cancelled when its connection is closed, which requires that it can't write. 2 allows other settings.
  readonly: 2,
  cancel_http_readonly_queries_on_client_close: 1,
  // Errors are then reported by the status, not in the middle of the rows.
  wait_end_of_query: 1,
  max_query_size: 64 * 1024 * 1024,
  max_ast_elements: 1_000_000,
  max_expanded_ast_elements: 5_000_000,
  // A table in a subquery of `IN` or `JOIN` is read from all shards.
  distributed_product_mode: 'global',
  // Results must not depend on which shards answer.
  skip_unavailable_shards: 0,
} as const

/** Settings of every insert. A repeated insert with the same token has no effect. */
const INSERT_SETTINGS = {
  async_insert: 0,
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  distributed_foreground_insert: 1,
  // The same rows must form the same blocks when an insert is repeated.
  max_insert_threads: 1,
  input_format_parquet_preserve_order: 1,
  // Otherwise, parameters such as `2026-01-01` would be stored as dates.
  input_format_try_infer_dates: 0,
  input_format_try_infer_datetimes: 0,
  input_format_null_as_default: 1,
} as const

/** Maximum memory of a query on each server. */
const MAX_QUERY_MEMORY = 4 * 1024 ** 3
/** Grouping and sorting use the server's disk beyond this size. */
const SPILL_BYTES = 1024 ** 3

/** Time limit for statements that create tables, and for inserts. */
const WRITE_TIMEOUT_MS = 60 * SECOND_MS
const CONNECT_TIMEOUT_MS = 5 * SECOND_MS
/** The server ends a query at its limit. A server that is gone doesn't. */
const GRACE_MS = 5 * SECOND_MS
const MAX_MESSAGE_LENGTH = 2000

export interface QueryLimits {
  /** The query is cancelled when any of these signals aborts. */
  signals: readonly AbortSignal[]
  timeoutMs: number
}

interface SelectOptions extends Partial<QueryLimits> {
  params?: Readonly<Record<string, SqlValue>>
  read?: Query['read'] | undefined
}

/** Sends statements to the HTTP interface of a ClickHouse server. */
export class ClickhouseClient {
  private readonly ways: Connector

  constructor(readonly address: ClickhouseAddress) {
    // The operator has chosen this host, so it may be private.
    const guard = addressGuard([new URL(address.url).hostname.replace(/^\[(.*)\]$/, '$1')], { plainHttp: true })
    this.ways = connector({ guard, ...(address.ca ? { ca: address.ca } : {}) })
  }

  /** Host and port of the server. */
  get host(): string {
    return new URL(this.address.url).host
  }

  /**
   * Runs a query and returns one object per row, or the results of `read` that are not null. Throws `ClickhouseError` if
   * the query fails or a signal aborts.
   */
  select<T>(sql: string, options: SelectOptions = {}): Promise<T[]> {
    const { params = {}, read, signals = [], timeoutMs = WRITE_TIMEOUT_MS } = options
    const settings = querySettings(timeoutMs)
    for (const [name, value] of Object.entries(params))
      if (isBindable(name, value)) settings[`param_${name}`] = parameterText(value)
    return this.send(settings, `${sql}\nFORMAT JSONEachRow`, { signals, timeoutMs }, (answer) =>
      readRows<T>(answer, read),
    )
  }

  /** Writes the result of a query to a Parquet file. Throws `ClickhouseError`, and an error if the file can't be written. */
  async saveParquet(sql: string, path: string, timeoutMs = WRITE_TIMEOUT_MS): Promise<void> {
    const file = await open(path, 'w')
    const fail = (error: unknown) => {
      throw new Error(`${path} can't be written: ${messageOf(error)}`, { cause: error })
    }
    try {
      await this.send(querySettings(timeoutMs), `${sql}\nFORMAT Parquet`, { timeoutMs }, async (answer) => {
        for await (const chunk of answer) await file.writeFile(chunk).catch(fail)
      })
    } finally {
      await file.close()
    }
  }

  /** Runs a statement that returns nothing. */
  run(sql: string): Promise<unknown> {
    return this.send({ wait_end_of_query: 1 }, sql, {}, readText)
  }

  /**
   * Sends a file to an `INSERT … FORMAT Parquet`. Has no effect if the insert was done before with the same token.
   * @param token unique for the table and content
   */
  async insertFile(sql: string, path: string, token: string, signals: readonly AbortSignal[] = []): Promise<void> {
    const settings = { ...INSERT_SETTINGS, insert_deduplication_token: token, query: sql, wait_end_of_query: 1 }
    await this.send(settings, await readFile(path), { signals }, readText)
  }

  private async send<T>(
    settings: Settings,
    body: string | Buffer,
    { signals = [], timeoutMs = WRITE_TIMEOUT_MS }: Partial<QueryLimits>,
    read: (answer: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const { user, password, database } = this.address
    const url = new URL(this.address.url)
    url.searchParams.set('database', database)
    for (const [name, value] of Object.entries(settings)) url.searchParams.set(name, String(value))
    const headers = { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
    const request = { url, method: 'POST', headers, body, within: CONNECT_TIMEOUT_MS }
    const signal = AbortSignal.any([...signals, AbortSignal.timeout(timeoutMs + GRACE_MS)])
    try {
      return await sendRequest(this.ways, request, signal, async (answer) => {
        if (answer.statusCode === 200) return read(answer)
        throw await errorOf(answer, this.host)
      })
    } catch (error) {
      const isNetworkFailure = signal.aborted || error instanceof AppError || codeOf(error) !== 'unknown error'
      if (error instanceof ClickhouseError || !isNetworkFailure) throw error
      const [host, networkCode] = [this.host, codeOf(error)]
      throw new ClickhouseError(`no answer from ${host}: ${networkCode}`, null, { cause: error, host, networkCode })
    }
  }
}

function querySettings(timeoutMs: number): Record<string, string | number> {
  return {
    ...QUERY_SETTINGS,
    max_execution_time: timeoutMs / SECOND_MS,
    max_memory_usage: MAX_QUERY_MEMORY,
    max_bytes_before_external_group_by: SPILL_BYTES,
    max_bytes_before_external_sort: SPILL_BYTES,
  }
}

async function errorOf(answer: IncomingMessage, host: string): Promise<ClickhouseError> {
  const { statusCode = 0, headers } = answer
  const text = (await readText(answer)).slice(0, MAX_MESSAGE_LENGTH)
  const code = Number(headers['x-clickhouse-exception-code'] ?? 0)
  // A proxy in front of the server answers without a code.
  return new ClickhouseError(text || `status ${statusCode}`, code === 0 && statusCode >= 500 ? null : code, { host })
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

type Settings = Readonly<Record<string, string | number>>

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '\\0' }

/** The text of a bound value: https://clickhouse.com/docs/interfaces/http#tabs-in-url-parameters */
function parameterText(value: SqlValue): string {
  if (value === null) return '\\N'
  return String(value).replaceAll(/[\\\t\n\r\0]/g, (character) => ESCAPES[character] ?? '')
}

/** Parses one JSON object per line. Yields to the event loop in between. */
async function readRows<T>(answer: IncomingMessage, read: Query['read']): Promise<T[]> {
  const yielder = new Yielder()
  const decoder = new StringDecoder()
  const rows: unknown[] = []
  let rest = ''
  for await (const chunk of answer) {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const row = plain(JSON.parse(line))
      const made = read ? read(row as never) : row
      if (made !== null) rows.push(made)
      if (yielder.isDue) await yielder.yieldNow()
    }
  }
  return rows as T[]
}

/** Restores NULL for the empty list of violations, because lists are never NULL in ClickHouse. */
function plain(row: Record<string, unknown>): Record<string, unknown> {
  if (Array.isArray(row.violations) && row.violations.length === 0) row.violations = null
  return row
}
