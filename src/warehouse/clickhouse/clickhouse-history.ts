import { type Clock, DAY_MS } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import type { StoredEvent } from '../../core/event.ts'
import { abortedError } from '../../core/fair-queue.ts'
import { wholeEvent } from '../dialect.ts'
import { Binder, type Masking, type Query, type WrittenQuery, writeQuery } from '../query.ts'
import { type LaneOptions, QueryLanes, queryFailed, tookTooLong } from '../query-lanes.ts'
import { MINUTES_MS } from '../relation-columns.ts'
import type { History, Lane } from '../warehouse.ts'
import { type ClickhouseClient, ClickhouseError, type QueryLimits } from './clickhouse-client.ts'
import { clickhouseDialect, quoteText } from './clickhouse-dialect.ts'
import { MAX_READ_COLUMNS, relationOf } from './clickhouse-relations.ts'

export interface HistoryOptions extends LaneOptions {
  client: ClickhouseClient
  clock: Clock
  /** Called with the error of each failed query. */
  report?(error: unknown, where: string): void
}

/** Codes of ClickHouse for a query that exceeded its time limit. */
const TIMEOUTS: ReadonlySet<unknown> = new Set([159, 160])

const RETRY_AFTER_S = 5

/** The readiness check reports the absence of the server. */
const isAway = () =>
  new AppError('unavailable', `the event history is not available; try again in ${RETRY_AFTER_S} s`, RETRY_AFTER_S)

/** The answers to queries, from the tables of a ClickHouse server. */
export class ClickhouseHistory implements History {
  /** Number of running queries, including those of jobs. */
  runningQueries = 0
  private readonly lanes: QueryLanes
  private readonly interruption = new AbortController()

  constructor(private readonly options: HistoryOptions) {
    this.lanes = new QueryLanes(options)
  }

  query<T>(query: Query, signal?: AbortSignal, lane?: Lane): Promise<T[]> {
    const statement = writeQuery(query, clickhouseDialect)
    return this.lanes.run(() => this.read<T>(query, statement, signal), signal, lane)
  }

  /** Cancels running queries. Later queries fail. */
  interrupt(): void {
    this.interruption.abort()
  }

  private async read<T>(query: Query, statement: WrittenQuery, signal: AbortSignal | undefined): Promise<T[]> {
    const timeoutMs = this.lanes.timeoutMs(signal)
    const late = AbortSignal.timeout(timeoutMs)
    const signals = [this.interruption.signal, late, ...(signal ? [signal] : [])]
    this.runningQueries++
    try {
      return await this.select<T>(query, statement, { signals, timeoutMs })
    } catch (error) {
      if (signal?.aborted) throw abortedError()
      if (late.aborted || TIMEOUTS.has((error as { code?: unknown }).code)) throw tookTooLong(timeoutMs)
      if (error instanceof ClickhouseError && error.isAway && !this.interruption.signal.aborted) throw isAway()
      // The message may quote SQL, paths and values, so it is shown to the operator only.
      if (!this.interruption.signal.aborted) this.options.report?.(error, 'query')
      throw queryFailed()
    } finally {
      this.runningQueries--
    }
  }

  private async select<T>(query: Query, statement: WrittenQuery, limits: QueryLimits): Promise<T[]> {
    const { client } = this.options
    const { over = 'events', masking } = query
    const copies = masking && over === 'events' ? await this.maskedCopies(query, masking, limits) : []
    const names = over === 'parameters' && !statement.form?.only ? await this.namesIn(query, limits) : undefined
    let relation = relationOf(query, statement, { minutesFrom: this.minutesFrom(), copies, names })
    if (masking && over === 'counts') relation = await this.maskedCounts(relation, masking, limits)
    const { params, sql } = statement
    return client.select<T>(`WITH ${over} AS (${relation})\n${sql}`, { ...limits, params, read: query.read })
  }

  /** Returns the names of all parameters in the window; undefined if there are too many to read them as columns. */
  private async namesIn({ orgId, window }: Query, limits: QueryLimits): Promise<string[] | undefined> {
    const relation = relationOf({ over: 'names', orgId, window } as Query, { sql: '', params: {} }, { minutesFrom: 0 })
    const sql = `SELECT name FROM (${relation}) ORDER BY name LIMIT ${MAX_READ_COLUMNS + 1}`
    const names = await this.options.client.select<{ name: string }>(sql, limits)
    return names.length > MAX_READ_COLUMNS ? undefined : names.map(({ name }) => name)
  }

  /** Counts of earlier minutes may have been deleted. */
  private minutesFrom(): number {
    return Math.ceil((this.options.clock.now() - MINUTES_MS) / DAY_MS) * DAY_MS
  }

  /** Returns masked copies of the events that masking changes. */
  private async maskedCopies({ orgId, window }: Query, masking: Masking, limits: QueryLimits): Promise<StoredEvent[]> {
    const binder = new Binder(clickhouseDialect)
    const statement = { sql: '', ...masking.candidates(binder), wholeParams: true, params: binder.params }
    const relation = relationOf({ orgId, window } as Query, statement, { minutesFrom: 0 })
    const read = (event: StoredEvent) => {
      const masked = masking.mask(event)
      return JSON.stringify(masked) === JSON.stringify(event) ? null : masked
    }
    const sql = `WITH events AS (${relation})\nSELECT ${wholeEvent(clickhouseDialect)} FROM events`
    return this.options.client.select<StoredEvent>(sql, { ...limits, params: binder.params, read })
  }

  /** Returns the relation `counts` with masked vendor and event names. */
  private async maskedCounts(relation: string, masking: Masking, limits: QueryLimits): Promise<string> {
    const masked = async (field: 'vendor' | 'event') => {
      const sql = `SELECT DISTINCT ${field} AS name FROM (${relation})`
      const names = await this.options.client.select<{ name: string }>(sql, limits)
      const changed = names.flatMap(({ name }) => {
        const shown = masking.maskName(name, field)
        return shown === name ? [] : [`WHEN ${quoteText(name)} THEN ${quoteText(shown)}`]
      })
      return changed.length > 0 ? [`CASE ${field} ${changed.join(' ')} ELSE ${field} END AS ${field}`] : []
    }
    const replaced = [...(await masked('vendor')), ...(await masked('event'))]
    return replaced.length > 0 ? `SELECT * REPLACE (${replaced.join(', ')}) FROM (${relation})` : relation
  }
}
