import type { Clock, Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { bugResponse, errorResponse, refusalOf } from '../http/error-responses.ts'
import { API_HEADERS } from '../http/headers.ts'
import { readJson } from '../http/json-body.ts'
import { type Db, tx } from '../store/database.ts'
import type { ClaimProcess } from './claim-process.ts'
import {
  type ClaimAnswer,
  CONTROL_PATH,
  type CollectorStatus,
  type Commit,
  MAX_REQUEST_BYTES,
  parseClaim,
  parseCommit,
  parseSync,
  type Report,
  type SyncAnswer,
} from './protocol.ts'
import { changedRows } from './row-feed.ts'
import {
  AWAY_MS,
  addLateSpan,
  type CollectorRecord,
  checkInstance,
  collectorOf,
  commitSegment,
  countLive,
  noteClaim,
  recordContact,
} from './store.ts'

export interface ControlDeps {
  db: Db
  clock: Clock
  claims: Pick<ClaimProcess, 'claim'>
  /** True if the events are stored where collectors can store theirs. */
  isHistoryShared: boolean
  /** Returns the time up to which alerts are evaluated. */
  watermark(): Instant
  /** The epoch of the row feed, from `epochOf`. */
  epoch: number
  /** Returns the ids of the organizations that exceed their share of the disk. */
  overBudget(): string[]
  /** Returns the ids of the domains whose live view is open. */
  watched(): string[]
  /** True if this server has received events itself within a minute. */
  isReceiving(): boolean
  /** Called with what a collector has observed. It may be repeated. */
  reported(report: Report, collector: CollectorRecord): void
  /** Records a segment, in the transaction that marks it as committed. */
  record(commit: Commit, collector: CollectorRecord): void
  /** Called after each segment that was committed for the first time. */
  committed(commit: Commit, collector: CollectorRecord): void
  report(error: unknown, where: string): void
}

const NOT_SHARED = new AppError(
  'conflict',
  'this server stores events in its data folder, which collectors cannot reach: set TAGWARDEN_WAREHOUSE on it to a ClickHouse database',
)

/** Answers the requests of collectors. They have separate credentials and are not part of the API. */
export class ControlEndpoint {
  private readonly answers: Record<string, (body: unknown, collector: CollectorRecord) => unknown> = {
    sync: (body, collector) => this.sync(body, collector),
    claim: (body, collector) => this.claim(body, collector),
    commit: (body, collector) => this.commit(body, collector),
  }

  constructor(private readonly deps: ControlDeps) {}

  /** True for paths served by this endpoint. */
  owns(path: string): boolean {
    return path.startsWith(CONTROL_PATH)
  }

  /** Handles a request. Never throws. */
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    try {
      const answer = this.answers[pathname.slice(CONTROL_PATH.length)]
      if (!answer || request.method !== 'POST') throw new AppError('notFound', 'no such route')
      const collector = this.collectorOf(request)
      if (!this.deps.isHistoryShared) throw NOT_SHARED
      const result = await answer(await readJson(request, MAX_REQUEST_BYTES), collector)
      return new Response(JSON.stringify(result), { headers: { ...API_HEADERS, 'content-type': 'application/json' } })
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal) return errorResponse(refusal)
      this.deps.report(error, `POST ${pathname}`)
      return bugResponse()
    }
  }

  private collectorOf(request: Request): CollectorRecord {
    const token = /^bearer\s+(ct_\S+)\s*$/i.exec(request.headers.get('authorization') ?? '')?.[1]
    const collector = token === undefined ? null : collectorOf(this.deps.db, token)
    if (!collector) throw new AppError('unauthorized', 'authorization: unknown or revoked collector token')
    return collector
  }

  private sync(body: unknown, collector: CollectorRecord): SyncAnswer {
    const { db, clock, epoch, overBudget, watched, isReceiving, reported } = this.deps
    const asked = parseSync(body)
    const now = clock.now()
    checkInstance(collector, asked.status.instance, now)
    // Before the contact, which allows alerts to be evaluated up to a later time.
    if (asked.report) reported(asked.report, collector)
    recordContact(db, collector.id, { status: asked.status, now, isAway: isAway(collector, asked.status, now) })
    const isWhole = asked.epoch !== epoch
    return {
      epoch,
      slot: collector.slot,
      live: Math.max(1, countLive(db)) + (isReceiving() ? 1 : 0),
      watched: watched(),
      overBudget: overBudget(),
      isWhole,
      ...changedRows(db, isWhole ? 0 : asked.version),
    }
  }

  private async claim(body: unknown, collector: CollectorRecord): Promise<ClaimAnswer> {
    const { db, claims, clock, watermark } = this.deps
    const { instance, epoch, segment, span, hashes } = parseClaim(body)
    checkInstance(collector, instance, clock.now())
    this.checkEpoch(epoch)
    tx(db, () => {
      noteClaim(db, collector.id, span)
      if (span.fromAt < watermark()) addLateSpan(db, { ...span, slot: collector.slot })
    })
    const claimed = { segment: `${collector.id}:${segment}`, hashes: hashes.map(BigInt) }
    return { taken: (await claims.claim(claimed, clock.now())).map(String) }
  }

  private commit(body: unknown, collector: CollectorRecord): Record<never, never> {
    const { db, clock, record, committed } = this.deps
    const commit = parseCommit(body)
    checkInstance(collector, commit.instance, clock.now())
    this.checkEpoch(commit.epoch)
    const isNew = tx(db, () => {
      if (!commitSegment(db, collector.id, commit.segment, clock.now())) return false
      record(commit, collector)
      return true
    })
    if (isNew) committed(commit, collector)
    return {}
  }

  /** Throws `conflict` when the collector has copied the rows of an earlier or later copy of this server. */
  private checkEpoch(epoch: number): void {
    if (epoch !== this.deps.epoch) throw new AppError('conflict', 'epoch: rows must be copied again first')
  }
}

/** A collector that returns from an absence is waited for again once it has stored what it received meanwhile. */
function isAway({ isAway }: CollectorRecord, { storedThrough }: CollectorStatus, now: Instant): boolean {
  return isAway && now - storedThrough > AWAY_MS
}
