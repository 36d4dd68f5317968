import { createGunzip } from 'node:zlib'
import { SCRIPT_PATH, type ScriptFiles } from '../capture/script-files.ts'
import { type Clock, type Instant, MINUTE_MS } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'
import type { StoredEvent } from '../core/event.ts'
import type { CollectorDomain, DomainDirectory } from '../domains/directory.ts'
import { endsConnection, receiveBytes, receiveText } from '../http/arrival.ts'
import { parseJson } from '../http/body.ts'
import { bugResponse, errorResponse } from '../http/errors.ts'
import type { RateLimit } from '../http/rate.ts'
import { type Batch, type BatchAnswer, MAX_BODY_BYTES, parseBatch } from './batch.ts'
import { hashOf } from './batch-hash.ts'
import type { BatchMemory } from './batch-memory.ts'
import type { LateBatch, LateBatches } from './late-batches.ts'
import type { Live } from './live.ts'
import { OVER_BUDGET, Refusals, type RefusedBatches } from './refusals.ts'
import type { Spool } from './spool.ts'
import { type BatchJudge, type Understood, understand } from './understand.ts'

export interface CollectorParts {
  clock: Clock
  spool: Spool
  domains: Pick<DomainDirectory, 'byToken' | 'isDenied'>
  batches: Pick<BatchMemory, 'answerOf'>
  rate: RateLimit
  /** True while nothing more of the organization may be stored. */
  isOverBudget?(orgId: string): boolean
  /** A judge for one batch of the organization. */
  judge(orgId: string): BatchJudge
  /** Where batches wait that take too long to judge; without it they are taken in unjudged. */
  late?: Pick<LateBatches, 'has' | 'answerOf' | 'append'>
  /** Called once the events are visible, with the alerts that they violate. */
  violated(alertIds: ReadonlySet<string>, domainId: string, receivedAt: Instant): void
  /** Told of every batch whether it is on disk, by when it came; one that is not was refused with 503. */
  storing?: { stored(receivedAt: Instant): void; refused(receivedAt: Instant): void }
  /** The files that browsers load; without it there are none. */
  files?: Pick<ScriptFiles, 'answer'>
  /** Shown what is on disk, for those who watch. */
  live?: Pick<Live, 'add'>
  report(error: unknown, route: string): void
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, content-type, content-encoding',
  'access-control-expose-headers': 'retry-after',
  'access-control-max-age': '86400',
  'x-content-type-options': 'nosniff',
}

/** An object of this kind is copied twice as fast as a plain one. */
const ANSWER_HEADERS = new Headers({
  'access-control-allow-origin': '*',
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
})

/** How soon the disk may have room again. */
const ROOM_AFTER_S = 60

/** The one address that takes batches in. */
export const EVENTS_PATH = '/api/v1/events'

/** `POST /api/v1/events`: takes in batches, and acknowledges what is on disk. */
export class Collector {
  /** Batches that are being stored, by key; each with the moment it is on disk. */
  private readonly underWay = new Map<string, { answer: BatchAnswer; stored: Promise<void> }>()
  private readonly refusals = new Refusals()
  private toldAt: Instant = Number.NEGATIVE_INFINITY

  constructor(private readonly parts: CollectorParts) {}

  /** True for the addresses that are the collector's. */
  owns(path: string): boolean {
    return path.startsWith('/api/v1/') || path.startsWith(SCRIPT_PATH)
  }

  /** Answers a request to any address that the collector owns. */
  async fetch(request: Request): Promise<Response> {
    const [address = ''] = request.url.split('?', 1)
    const path = pathOf(address)
    if (path === EVENTS_PATH) return this.events(request)
    if (path.startsWith(SCRIPT_PATH) && this.parts.files) return this.parts.files.answer(request)
    return this.refuse(request, new AppError('notFound', 'no such route'))
  }

  /** The answer to a request that is not looked at. */
  refuse(request: Request, error: AppError): Response {
    return lastWord(request, errorResponse(error))
  }

  /** Answers a request to `EVENTS_PATH`. Never throws. */
  async events(request: Request): Promise<Response> {
    let known: CollectorDomain | null = null
    try {
      if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: CORS })
      if (request.method !== 'POST') throw new AppError('notFound', 'this route takes POST only')
      const token = bearerOf(request.headers.get('authorization')) ?? tokenOf(request.url)
      // With the token at hand, a stranger's body is not even read.
      if (token !== null) known = this.domainOf(token)
      const text = await receiveBatch(request)
      const answer = await this.take(text, known)
      return new Response(JSON.stringify(answer), { status: 202, headers: ANSWER_HEADERS })
    } catch (error) {
      return this.failed(request, error, known)
    }
  }

  /** Puts into the ledger which batches were refused whole. Fails as `Spool.append` does; the next call tries again. */
  async recordRefusals(): Promise<void> {
    await Promise.all(this.refusals.take().map((refused) => this.recordRefused(refused)))
  }

  private async recordRefused(refused: RefusedBatches): Promise<void> {
    const { spool } = this.parts
    const { domain, ledger } = refused
    const [receivedAt, answer] = [spool.arrivalAt(), { accepted: 0, rejected: 0, errors: [] }]
    try {
      await spool.append([], { key: null, orgId: domain.orgId, domainId: domain.id, receivedAt, answer, ledger })
    } catch (error) {
      this.refusals.putBack(refused)
      throw error
    }
  }

  /** Once a minute: every batch is refused while the trouble lasts. */
  private tellOperator(trouble: AppError): void {
    const now = this.parts.clock.now()
    if (Math.abs(now - this.toldAt) < MINUTE_MS) return
    this.toldAt = now
    this.parts.report(trouble, `POST ${EVENTS_PATH}`)
  }

  private failed(request: Request, error: unknown, known: CollectorDomain | null): Response {
    if (!(error instanceof AppError)) {
      this.parts.report(error, `POST ${EVENTS_PATH}`)
      return lastWord(request, bugResponse())
    }
    if (known) this.refusals.add(known, error)
    if (error.code === 'unavailable') this.tellOperator(error)
    return this.refuse(request, error)
  }

  /** Not itself asynchronous, as nothing on the way of every batch is that need not be: promises are a tenth of its cost. */
  private take(text: string, known: CollectorDomain | null): BatchAnswer | Promise<BatchAnswer> {
    const batch = parseBatch(parseJson(text))
    const domain = known ?? this.domainOf(batch.token ?? null)
    if (batch.batchId === undefined) return this.store(batch, domain, null, text)
    const key = `${domain.id} ${batch.batchId}`
    const earlier = this.underWay.get(key)
    if (earlier) return earlier.stored.then(() => earlier.answer)
    const hash = hashOf(key)
    return this.answerOf(hash) ?? this.store(batch, domain, key, text)
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
      const message = `the organization is over its share of the disk; try again in ${ROOM_AFTER_S} s`
      const error = new AppError('rateLimited', message, ROOM_AFTER_S)
      this.refusals.add(domain, error, OVER_BUDGET)
      throw error
    }
    return domain
  }

  /** What the sender of a batch was told, by the hash of its key; null for a batch that is not known. */
  answerOf(hash: bigint): BatchAnswer | null {
    const { spool, batches, late } = this.parts
    return spool.answerOf(hash) ?? batches.answerOf(hash) ?? late?.answerOf(hash) ?? null
  }

  private async store(batch: Batch, domain: CollectorDomain, key: string | null, text: string): Promise<BatchAnswer> {
    const receivedAt = this.parts.spool.arrivalAt()
    const { isLate, events, answer, ledger, pages } = this.understand(batch, domain, receivedAt, text)
    const record = { key, orgId: domain.orgId, domainId: domain.id, receivedAt, answer, ledger }
    const whole = { events, record: pages.length > 0 ? { ...record, pages } : record }
    const stored = isLate ? this.postpone(whole) : this.keep(whole)
    if (key === null) {
      await stored
      return answer
    }
    this.underWay.set(key, { answer, stored })
    try {
      await stored
    } finally {
      this.underWay.delete(key)
    }
    return answer
  }

  /** Late: the organization has batches that wait to be judged, or this one took too long. */
  private understand(batch: Batch, domain: CollectorDomain, receivedAt: Instant, text: string) {
    const { spool, domains, late } = this.parts
    const isBehind = late?.has(domain.orgId) ?? false
    const judging = this.parts.judge(domain.orgId)
    const understood: Understood = understand(batch, {
      domain,
      receivedAt,
      nextSeq: () => spool.nextSeq(),
      isDenied: (domainId, hostname) => domains.isDenied(domainId, hostname),
      judge: isBehind ? NOT_JUDGED : judging.judge,
      // JSON can spell them by an escape only: https://www.rfc-editor.org/rfc/rfc8259#section-7
      isClean: !text.includes('\\u'),
    })
    judging.end()
    return { ...understood, isLate: late !== undefined && (isBehind || judging.isOutOfTime) }
  }

  /** Puts a batch on disk that will be judged later. */
  private async postpone(batch: LateBatch): Promise<void> {
    const { late, storing } = this.parts
    try {
      await late?.append(batch)
    } catch (error) {
      // One that is too far behind with its own rules is no gap of the others.
      const isRateLimited = error instanceof AppError && error.code === 'rateLimited'
      if (!isRateLimited) storing?.refused(batch.record.receivedAt)
      throw error
    }
  }

  /** Takes in a batch that waited to be judged, as if it came now. Fails as `Spool.append` does. */
  admit({ events, record }: LateBatch): Promise<void> {
    const { spool } = this.parts
    const receivedAt = spool.arrivalAt()
    const pages = record.pages?.map((page) => ({ ...page, receivedAt }))
    return this.keep({
      events: events.map((event) => ({ ...event, receivedAt, seq: spool.nextSeq() })),
      record: { ...record, receivedAt, ...(pages && { pages }) },
    })
  }

  /** Puts a judged batch on disk and tells whom it concerns. */
  private async keep({ events, record }: LateBatch): Promise<void> {
    const { spool, storing, live } = this.parts
    const { domainId, receivedAt } = record
    try {
      await spool.append(events, record)
    } catch (error) {
      storing?.refused(receivedAt)
      throw error
    }
    storing?.stored(receivedAt)
    live?.add(domainId, events)
    const alertIds = violatedBy(events)
    if (alertIds) this.parts.violated(alertIds, domainId, receivedAt)
  }
}

const NOT_JUDGED = () => []

/** Ids of the alerts that any of the events violates; null when none does. */
function violatedBy(events: readonly StoredEvent[]): Set<string> | null {
  let alertIds: Set<string> | null = null
  for (const { violations } of events) {
    if (violations === null) continue
    alertIds ??= new Set()
    for (const id of violations) alertIds.add(id)
  }
  return alertIds
}

/** The property token of the header; null when it holds none, as when somebody tries with an API key at hand. */
function bearerOf(header: string | null): string | null {
  return header === null ? null : (/^bearer\s+(pt_\S+)\s*$/i.exec(header)?.[1] ?? null)
}

function tokenOf(url: string): string | null {
  const query = url.indexOf('?')
  return query < 0 ? null : new URLSearchParams(url.slice(query + 1)).get('token')
}

/** For scripts on every page, and the end of a connection on which more of the body may come. */
function lastWord(request: Request, response: Response): Response {
  for (const [name, value] of Object.entries(CORS)) response.headers.set(name, value)
  if (endsConnection(request)) response.headers.set('connection', 'close')
  return response
}

/** `https://host:port/a/b` → `/a/b`, without parsing the rest. */
function pathOf(address: string): string {
  return address.slice(address.indexOf('/', 'https://'.length))
}

/** The body, unpacked. Fails with `tooLarge`, `unsupportedType` or `invalid`. */
function receiveBatch(request: Request): Promise<string> {
  const type = request.headers.get('content-type')
  if (type !== null && !/^(application\/json|text\/plain)\s*(;|$)/i.test(type)) {
    throw new AppError('unsupportedType', 'content-type: must be application/json or text/plain')
  }
  const encoding = request.headers.get('content-encoding')?.toLowerCase() ?? 'identity'
  // https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.3: `x-gzip` is another name of it.
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
