import type { Config } from './config.ts'
import type { Clock } from './core/clock.ts'
import type { Emitter } from './core/emitter.ts'
import type { Metric } from './core/metric.ts'
import type { SecretBox } from './core/secret-box.ts'
import type { ReadinessCheck } from './http/health-routes.ts'
import type { Route } from './http/route.ts'
import type { Job } from './jobs/job.ts'
import type { Db } from './store/database.ts'
import type { QuietState } from './store/folder-mark.ts'
import type { RowChange } from './store/watch-table-rows.ts'
import type { AddressGuard } from './transport/address-guard.ts'
import type { Transport } from './transport/transport.ts'

/** A message to the operator: the subject continues `Tagwarden: `, and the text consists of sentences. */
export interface OperatorNotice {
  subject: string
  text: string
}

/** Log for bugs and for problems that need an operator. */
export interface Log {
  info(message: string): void
  /** `requestId`: id of the request to which the line belongs. */
  warn(message: string, requestId?: string): void
  error(error: unknown, message: string, requestId?: string): void
}

/**
 * A part of the program, as opened by `open…` in the `room.ts` of its folder. The returned value may have further members for
 * later rooms.
 */
export interface Room {
  routes?: readonly Route[]
  jobs?: readonly Job[]
  /** Checks that `/readyz` runs. */
  checks?: readonly ReadinessCheck[]
  /** Measures the room for `/metrics`, at most every 5 s. */
  metrics?(): readonly Metric[] | Promise<readonly Metric[]>
  /** Resolves when nothing that this room started is running. */
  idle?(): Promise<void>
  /**
   * Stops running work, and starts no more. All rooms stop at the same time, because the end of one run can let another
   * room start the next.
   */
  stop?(): void | Promise<void>
  /** Writes in-memory data to disk. Called after `stop`, for later rooms first. */
  close?(): void | Promise<void>
}

/** Dependencies shared by all rooms. Rooms above the warehouse get a `HistoryBase`. */
export interface Base {
  config: Config
  clock: Clock
  log: Log
  /** Logs an error that can't be returned to the caller. */
  report(error: unknown, where: string, requestId?: string): void
  db: Db
  box: SecretBox
  /** Emits the committed changes of the watched tables. */
  rowChanges: Emitter<readonly RowChange[]>
  guard: AddressGuard
  /** Sends requests and mail to other servers. */
  transport: Transport
  /** Returns why this server sends nothing; null if it does. */
  quiet(): QuietState | null
  /**
   * Notifies the server's operator in the log and, if configured, by mail and webhook. The message is retried and
   * survives restarts.
   */
  notifyOperator(notice: OperatorNotice): void
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
  /** URL of the collector for domains without their own collector host, without a trailing slash. */
  collectUrl: string
  /** Aborted when the program stops: deliveries and requests to other servers end. */
  stopping: AbortSignal
}
