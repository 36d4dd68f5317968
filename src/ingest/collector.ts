import { createGunzip } from 'node:zlib'
import { SCRIPT_PATH, type ScriptFiles } from '../capture/serve-capture-script.ts'
import { type Clock, type Instant, MINUTE_MS } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'
import type { StoredEvent } from '../core/event.ts'
import { toTimestamp } from '../core/timestamp.ts'
import type { CollectorDomain, DomainDirectory } from '../domains/domain-directory.ts'
import { bugResponse, errorResponse } from '../http/error-responses.ts'
import { parseJson } from '../http/json-body.ts'
import type { RateLimit } from '../http/rate-limit.ts'
import { endsConnection, receiveBytes, receiveText } from '../http/read-body.ts'
import { REQUEST_ID, requestIdOf } from '../http/request-id.ts'
import { visitorSegments } from '../visitor/visitor-segments.ts'
import { type Batch, type BatchAnswer, MAX_BODY_BYTES, parseBatch } from './batch.ts'
import { hashOf } from './batch-hash.ts'
import { type BatchJudge, type DecodedBatch, decodeBatch } from './decode-batch.ts'
import type { IngestRates } from './ingest-rates.ts'
import type { JudgingQueue, UnjudgedBatch } from './judging-queue.ts'
import type { LiveBuffer } from './live-buffer.ts'
import type { RefusedItems } from './refused-items.ts'
import { OVER_BUDGET, RejectedBatches, type RejectionCount } from './rejected-batches.ts'
import type { SeenBatches } from './seen-batches.ts'
import type { SenderClocks } from './sender-clocks.ts'
import type { Spool } from './spool.ts'

export interface CollectorDeps {
  clock: Clock
  spool: Spool
  domains: Pick<DomainDirectory, 'byToken' | 'isDenied'>
  batches: Pick<SeenBatches, 'answerOf'>
  rate: RateLimit
  /** True while the organization exceeds its disk limit. */
  isOverBudget?(orgId: string): boolean
  /** Returns the code of the country of an IP address; null if unknown. Absent: always unknown. */
  countryOf?(address: string): string | null
  /** Returns a judge for a single batch from the organization. */
  judge(orgId: string): BatchJudge
  /**
   * The queue for batches whose rules take too long to evaluate. Without a queue, such batches are stored unevaluated.
   */
  late?: Pick<JudgingQueue, 'has' | 'answerOf' | 'append'>
  /** Called once violating events are visible to queries. Receives the ids of the violated alerts. */
  violated(alertIds: ReadonlySet<string>, domainId: string, receivedAt: Instant): void
  /** Called for every batch: `stored` once it is on disk, `refused` if it could not be written (503). */
  storing?: { stored(receivedAt: Instant): void; refused(receivedAt: Instant): void }
  /** Serves the files of the browser script. If absent, requests for these files return "not found". */
  files?: Pick<ScriptFiles, 'answer'>
  /** Receives the stored events for the live view. */
  live?: Pick<LiveBuffer, 'add'>
  /** Called with the domain of every batch of events that has been stored. */
  received?(domainId: string, receivedAt: Instant): void
  /** Called with the status and the duration in ms of every request. */
  answered?(status: number, ms: number): void
  /** Counts what is refused, by a fixed set of reasons. */
  refused?: Pick<RefusedItems, 'addLedger' | 'addError'>
  /** Compares the clocks of senders with this server's. */
  senderClocks?: Pick<SenderClocks, 'add'>
  /** Counts the stored events of each organization. */
  counts?: Pick<IngestRates, 'add'>
  report(error: unknown, route: string, requestId: string): void
}

/** A valid batch and the request that contained it. */
interface ReceivedBatch {
  batch: Batch
  domain: CollectorDomain
  request: Request
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, content-type, content-encoding',
  'access-control-expose-headers': `retry-after, ${REQUEST_ID}`,
  'access-control-max-age': '86400',
  'x-content-type-options': 'nosniff',
}

/** Copying a `Headers` object is twice as fast as copying a plain object. */
const ANSWER_HEADERS = new Headers({
  'access-control-allow-origin': '*',
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
})

/** Seconds sent as `Retry-After` to an organization that exceeds its disk limit. */
const ROOM_AFTER_S = 60

/** The path to which batches are sent. */
export const EVENTS_PATH = '/api/v1/events'

/** `POST /api/v1/events`: receives batches and acknowledges them once they are on disk. */
export class Collector {
  /** Batches that are currently being stored, by key. `stored` resolves once the batch is on disk. */
  private readonly inFlight = new Map<string, { answer: BatchAnswer; stored: Promise<void> }>()
  private readonly refusals = new RejectedBatches()
  private reportedAt: Instant = Number.NEGATIVE_INFINITY

  constructor(private readonly parts: CollectorDeps) {}

  /** True for paths served by the collector. */
  owns(path: string): boolean {
    return path.startsWith('/api/v1/') || path.startsWith(SCRIPT_PATH)
  }

  /** Handles a request to any path served by the collector. */
  async fetch(request: Request): Promise<Response> {
    const [address = ''] = request.url.split('?', 1)
    const path = pathOf(address)
    if (path === EVENTS_PATH) return this.events(request)
    if (path.startsWith(SCRIPT_PATH) && this.parts.files) return this.parts.files.answer(request)
    return this.refuse(request, new AppError('notFound', 'no such route'))
  }

  /** Returns the error response for a request. */
  refuse(request: Request, error: AppError): Response {
    return withHeaders(request, errorResponse(error))
  }

  /** Handles a request to `EVENTS_PATH`. Never throws. */
  async events(request: Request): Promise<Response> {
    const begun = performance.now()
    let status = 202
    let known: CollectorDomain | null = null
    try {
      if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: CORS })
      if (request.method !== 'POST') throw new AppError('notFound', 'this route accepts only POST')
      const token = bearerOf(request.headers.get('authorization')) ?? tokenOf(request.url)
      // If the token is in the header or the query, the body of an unauthorized request is not read.
      if (token !== null) known = this.domainOf(token)
      const text = await receiveBatch(request)
      const answer = await this.take(text, request, known)
      return new Response(JSON.stringify(answer), { status: 202, headers: ANSWER_HEADERS })
    } catch (error) {
      const response = this.failed(request, error, known)
      status = response.status
      return response
    } finally {
      this.parts.answered?.(status, performance.now() - begun)
    }
  }

  /**
   * Writes the counts of rejected batches to the ledger. Throws the same errors as `Spool.append`; the next call
   * retries.
   */
  async recordRefusals(): Promise<void> {
    await Promise.all(this.refusals.take().map((refused) => this.recordRefused(refused)))
  }

  private async recordRefused(refused: RejectionCount): Promise<void> {
    const { spool } = this.parts
    const { domain, ledger } = refused
    const [receivedAt, answer] = [spool.arrivalAt(), { accepted: 0, rejected: 0, errors: [] }]
    try {
      await spool.append([], { key: null, orgId: domain.orgId, domainId: domain.id, receivedAt, answer, ledger })
    } catch (error) {
      this.refusals.restore(refused)
      throw error
    }
  }

  /** Reports an error at most once a minute, because every batch fails while the disk isn't writable. */
  private reportUnavailable(error: AppError, request: Request): void {
    const now = this.parts.clock.now()
    if (Math.abs(now - this.reportedAt) < MINUTE_MS) return
    this.reportedAt = now
    this.parts.report(error, `POST ${EVENTS_PATH}`, requestIdOf(request))
  }

  private failed(request: Request, error: unknown, known: CollectorDomain | null): Response {
    if (!(error instanceof AppError)) {
      this.parts.report(error, `POST ${EVENTS_PATH}`, requestIdOf(request))
      return withHeaders(request, bugResponse())
    }
    this.parts.refused?.addError(error)
    if (known) this.refusals.add(known, error)
    if (error.code === 'unavailable') this.reportUnavailable(error, request)
    return this.refuse(request, error)
  }

  /**
   * Returns the response to a batch, or a promise of it. Not `async`, because promises would account for a tenth of the
   * cost of a batch.
   */
  private take(text: string, request: Request, known: CollectorDomain | null): BatchAnswer | Promise<BatchAnswer> {
    const batch = parseBatch(parseJson(text))
    const domain = known ?? this.domainOf(batch.token ?? null)
    const received = { batch, domain, request }
    if (batch.batchId === undefined) return this.store(received, null)
    const key = `${domain.id} ${batch.batchId}`
    const earlier = this.inFlight.get(key)
    if (earlier) return earlier.stored.then(() => earlier.answer)
    const hash = hashOf(key)
    return this.answerOf(hash) ?? this.store(received, key)
  }

  private domainOf(token: string | null): CollectorDomain {
    const domain = token === null ? null : this.parts.domains.byToken(token)
    if (!domain) throw new AppError('unauthorized', 'token: unknown or missing property token')
    try {
      this.parts.rate.take(domain.id)
    } catch (error) {
      if (error instanceof AppError) this.refusals.add(domain, error)
      throw error
    }
    if (this.parts.isOverBudget?.(domain.orgId)) {
      const message = `the organization exceeds its share of the disk; try again in ${ROOM_AFTER_S} s`
      const error = new AppError('rateLimited', message, ROOM_AFTER_S)
      this.refusals.add(domain, error, OVER_BUDGET)
      throw error
    }
    return domain
  }

  /** Looks up a batch by the hash of its key and returns the response; null if the batch is unknown. */
  answerOf(hash: bigint): BatchAnswer | null {
    const { spool, batches, late } = this.parts
    return spool.answerOf(hash) ?? batches.answerOf(hash) ?? late?.answerOf(hash) ?? null
  }

  private async store(received: ReceivedBatch, key: string | null): Promise<BatchAnswer> {
    const { domain } = received
    const receivedAt = this.parts.spool.arrivalAt()
    const { isLate, events, answer, ledger, pages } = this.decode(received, receivedAt)
    const record = { key, orgId: domain.orgId, domainId: domain.id, receivedAt, answer, ledger }
    const whole = { events, record: pages.length > 0 ? { ...record, pages } : record }
    const stored = isLate ? this.postpone(whole) : this.save(whole)
    if (key === null) {
      await stored
      return answer
    }
    this.inFlight.set(key, { answer, stored })
    try {
      await stored
    } finally {
      this.inFlight.delete(key)
    }
    return answer
  }

  /**
   * Decodes a batch and evaluates its rules. `isLate` is true if evaluation took too long or earlier batches from the
   * organization are waiting.
   */
  private decode({ batch, domain, request }: ReceivedBatch, receivedAt: Instant) {
    const { spool, domains, late, countryOf, senderClocks } = this.parts
    if (batch.sentAt !== undefined) senderClocks?.add(toTimestamp(batch.sentAt) - receivedAt)
    const isBehind = late?.has(domain.orgId) ?? false
    const judging = this.parts.judge(domain.orgId)
    const decoded: DecodedBatch = decodeBatch(batch, {
      domain,
      receivedAt,
      visitor: visitorSegments(batch, request, countryOf),
      nextSeq: () => spool.nextSeq(),
      isDenied: (domainId, hostname) => domains.isDenied(domainId, hostname),
      judge: isBehind ? NOT_JUDGED : judging.judge,
    })
    judging.end()
    return { ...decoded, isLate: late !== undefined && (isBehind || judging.isOutOfTime) }
  }

  /** Queues a batch for later evaluation. */
  private async postpone(batch: UnjudgedBatch): Promise<void> {
    const { late, storing } = this.parts
    try {
      await late?.append(batch)
    } catch (error) {
      // A queue that is full because of the organization's own rules does not count as a collection gap.
      const isRateLimited = error instanceof AppError && error.code === 'rateLimited'
      if (!isRateLimited) storing?.refused(batch.record.receivedAt)
      throw error
    }
  }

  /** Stores a late batch as if it had just arrived. Throws the same errors as `Spool.append`. */
  admit({ events, record }: UnjudgedBatch): Promise<void> {
    const { spool } = this.parts
    const receivedAt = spool.arrivalAt()
    const pages = record.pages?.map((page) => ({ ...page, receivedAt }))
    return this.save({
      events: events.map((event) => ({ ...event, receivedAt, seq: spool.nextSeq() })),
      record: { ...record, receivedAt, ...(pages && { pages }) },
    })
  }

  /** Writes an evaluated batch to the spool, then notifies the live view and the violated alerts. */
  private async save({ events, record }: UnjudgedBatch): Promise<void> {
    const { spool, storing, live, counts } = this.parts
    const { orgId, domainId, receivedAt } = record
    const alertIds = violatedBy(events)
    try {
      await spool.append(events, alertIds ? { ...record, violated: [...alertIds] } : record)
    } catch (error) {
      storing?.refused(receivedAt)
      throw error
    }
    storing?.stored(receivedAt)
    this.parts.refused?.addLedger(record.ledger)
    live?.add(domainId, events)
    counts?.add(orgId, receivedAt, events.length)
    if (events.length > 0) this.parts.received?.(domainId, receivedAt)
    if (alertIds) this.parts.violated(alertIds, domainId, receivedAt)
  }
}

const NOT_JUDGED = () => []

/** Returns the ids of the alerts that are violated by any of the events; null if there are none. */
function violatedBy(events: readonly StoredEvent[]): Set<string> | null {
  let alertIds: Set<string> | null = null
  for (const { violations } of events) {
    if (violations === null) continue
    alertIds ??= new Set()
    for (const id of violations) alertIds.add(id)
  }
  return alertIds
}

/** Returns the property token in the `authorization` header; null if the header is missing or contains an API key. */
function bearerOf(header: string | null): string | null {
  return header === null ? null : (/^bearer\s+(pt_\S+)\s*$/i.exec(header)?.[1] ?? null)
}

function tokenOf(url: string): string | null {
  const query = url.indexOf('?')
  return query < 0 ? null : new URLSearchParams(url.slice(query + 1)).get('token')
}

/**
 * Adds CORS headers, the id of the request, and `connection: close` if the rest of the body is not read. Accepted batches
 * have no id, because thousands of them arrive per second.
 */
function withHeaders(request: Request, response: Response): Response {
  for (const [name, value] of Object.entries(CORS)) response.headers.set(name, value)
  response.headers.set(REQUEST_ID, requestIdOf(request))
  if (endsConnection(request)) response.headers.set('connection', 'close')
  return response
}

/** `https://host:port/a/b` → `/a/b`, without parsing the rest of the URL. */
function pathOf(address: string): string {
  return address.slice(address.indexOf('/', 'https://'.length))
}

/** Returns the decompressed body. Rejects with `tooLarge`, `unsupportedType` or `invalid`. */
function receiveBatch(request: Request): Promise<string> {
  const type = request.headers.get('content-type')
  if (type !== null && !/^(application\/json|text\/plain)\s*(;|$)/i.test(type)) {
    throw new AppError('unsupportedType', 'content-type: must be application/json or text/plain')
  }
  const encoding = request.headers.get('content-encoding')?.toLowerCase() ?? 'identity'
  // https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.3: `x-gzip` is equivalent to `gzip`.
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip'
  if (!isGzip && encoding !== 'identity') {
    throw new AppError('unsupportedType', 'content-encoding: must be gzip or absent')
  }
  return isGzip ? receiveGzip(request) : receiveText(request, MAX_BODY_BYTES)
}

async function receiveGzip(request: Request): Promise<string> {
  const gunzip = createGunzip()
  gunzip.end(await receiveBytes(request, MAX_BODY_BYTES))
  const parts: Buffer[] = []
  let bytes = 0
  try {
    for await (const part of gunzip) {
      bytes += part.length
      if (bytes > MAX_BODY_BYTES) throw tooLarge()
      parts.push(part)
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('invalid', `body: is not valid gzip (${messageOf(error)})`)
  }
  return Buffer.concat(parts).toString()
}

function tooLarge(): AppError {
  return new AppError('tooLarge', `body: is larger than ${MAX_BODY_BYTES} bytes`)
}
