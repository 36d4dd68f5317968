import type { HarRequest, RecordedHit } from '../browser/har-requests.ts'
import type { Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { decodeHit } from '../decoders/index.ts'
import type { NameVendor } from '../domains/vendor-pattern.ts'
import { decodeBatch, type Judge } from '../ingest/decode-batch.ts'
import { readUserAgent } from '../visitor/user-agent.ts'

/** The requests of one HAR file. */
export interface RecordedFile {
  /** Name of the file, without its folder. */
  name: string
  requests: readonly HarRequest[]
}

/** An event in a recording. */
export interface RecordedEvent {
  /** The event as the collector would store it, with the rules that it violates. */
  event: StoredEvent
  file: string
  /** Index in `log.entries` of the file, from 0. */
  entry: number
  /** URL of the request without its query. */
  url: string
  /** Status of the response; null when unknown. */
  status: number | null
}

/** A request to a vendor that could not be judged. */
interface UnreadRequest {
  file: string
  entry: number
  /** Host of the request's URL. */
  host: string
  /** Continues a sentence that begins with `body:` or names the field. */
  reason: string
}

/** A recording in the form in which it is judged. */
export interface Recording {
  /** Number of requests to web servers, by file. */
  files: { name: string; requests: number; events: number }[]
  /** In the order in which they were sent. Includes requests that no decoder could read, and loads of libraries. */
  events: RecordedEvent[]
  unread: UnreadRequest[]
}

/** The domain as which events are judged. */
export interface GateDomain {
  /** Empty when the recording belongs to no domain. */
  id: string
  orgId: string
  nameVendor: NameVendor
}

/** Matches requests that a browser sends to a web server. */
const TO_A_WEB_SERVER = /^https?:/i
/** Small enough for the bodies of a batch to stay below the collector's limit when they are decompressed. */
const BATCH_HITS = 20
const ALL_PAGE_VIEWS = { dev: 1, prod: 1 }

/**
 * Decodes recordings like the collector decodes batches, and evaluates the rules for each event. Each file is one
 * session of one visitor.
 */
export function readRecording(files: readonly RecordedFile[], domain: GateDomain, judge: Judge): Recording {
  const recording: Recording = { files: [], events: [], unread: [] }
  let seq = 0
  for (const file of files) {
    const sent = file.requests.filter(({ hit }) => TO_A_WEB_SERVER.test(hit.url))
    const before = recording.events.length
    const at = sent.reduce((latest, { hit }) => Math.max(latest, hit.ts ?? 0), 0)
    for (const { entry, hit } of sent) {
      const reason = hit.missingBody?.reason
      if (reason !== undefined && isVendors(hit)) recording.unread.push(unreadOf(file.name, entry, hit, reason))
    }
    for (const batch of batchesOf(sent.filter(({ hit }) => !hit.missingBody))) {
      const { events, unread } = decode(batch, { file: file.name, at, domain, judge, nextSeq: () => ++seq })
      recording.events.push(...events)
      recording.unread.push(...unread)
    }
    const decoded = recording.events.slice(before).filter(({ event }) => event.kind === 'event')
    recording.files.push({ name: file.name, requests: sent.length, events: decoded.length })
  }
  recording.events.sort((a, b) => a.event.ts - b.event.ts || a.event.seq - b.event.seq)
  return recording
}

const isVendors = ({ url, method }: RecordedHit) =>
  decodeHit({ url, method: method.toUpperCase(), body: null }).vendor !== null

/** Groups consecutive requests of the same page and browser. */
function batchesOf(requests: readonly HarRequest[]): HarRequest[][] {
  const batches: HarRequest[][] = []
  for (const request of requests) {
    const open = batches.at(-1)
    const last = open?.at(-1)
    const isSame = last?.pageUrl === request.pageUrl && last.hit.userAgent === request.hit.userAgent
    const fits = open && open.length < BATCH_HITS && isSame
    if (fits) open.push(request)
    else batches.push([request])
  }
  return batches
}

interface Arrival {
  file: string
  /** Time of the last request in the file. */
  at: Instant
  domain: GateDomain
  judge: Judge
  nextSeq(): number
}

function decode(batch: readonly HarRequest[], { file, at, domain, judge, nextSeq }: Arrival) {
  const [first] = batch
  const pageUrl = first?.pageUrl ?? null
  const userAgent = first?.hit.userAgent ?? ''
  const hits = batch.map(({ hit: { pageUrl: _, userAgent: __, missingBody: ___, ...hit } }, index) => ({
    ...hit,
    id: String(index),
  }))
  const { events, answer } = decodeBatch(
    { sessionId: file.slice(0, 200) || 'recording', ...(pageUrl ? { page: { url: pageUrl } } : {}), hits },
    {
      domain: { ...domain, customerSalt: '', pageViewRate: ALL_PAGE_VIEWS },
      receivedAt: at,
      visitor: { ...readUserAgent(userAgent || null, null), language: null, country: null },
      nextSeq,
      isDenied: () => false,
      judge,
    },
  )
  const requestOf = (index: number) => batch[index] ?? missingRequest()
  return {
    // The id of an event begins with the index of its request in the batch.
    events: events.map((event): RecordedEvent => {
      const { entry, hit } = requestOf(Number.parseInt(event.id, 10))
      return { event, file, entry, url: hit.url.replace(/[?#].*$/s, ''), status: hit.status ?? null }
    }),
    unread: answer.errors.map(({ index, error }) => {
      const { entry, hit } = requestOf(index)
      return unreadOf(file, entry, hit, error)
    }),
  }
}

const missingRequest = (): never => {
  throw new Error('an event refers to a request that is not in its batch')
}

function unreadOf(file: string, entry: number, { url }: RecordedHit, reason: string): UnreadRequest {
  return { file, entry, host: URL.parse(url)?.host ?? '', reason }
}
