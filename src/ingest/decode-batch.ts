import type { Instant } from '../core/clock.ts'
import { pageGroupOf, releaseOf } from '../core/derived-segments.ts'
import {
  type EventKind,
  type EventStatus,
  NO_SEGMENTS,
  type Segments,
  type StoredEvent,
  type VisitorSegments,
} from '../core/event.ts'
import type { StoredPage } from '../core/stored-page-view.ts'
import { cutText } from '../core/text.ts'
import { IMPLAUSIBLE_TIME, isPlausible, toTimestamp } from '../core/timestamp.ts'
import { MAX_NAME_LENGTH } from '../decoders/decoded-events.ts'
import { googleTagManager } from '../decoders/google-tag-manager.ts'
import { type Decoded, decodeHit, type FlatEvent, vendorOfHost } from '../decoders/index.ts'
import { isPageView } from '../decoders/page-view.ts'
import { cleanText, emptyParams, flattenParams, readQuery } from '../decoders/params.ts'
import { isPacked, readBody } from '../decoders/request-body.ts'
import { thirdPartyOf } from '../decoders/third-party-vendor.ts'
import type { CollectorDomain } from '../domains/domain-directory.ts'
import type { NameVendor } from '../domains/vendor-pattern.ts'
import { consentOf, visitorOf } from '../visitor/visitor-state.ts'
import {
  type Batch,
  type BatchAnswer,
  checkEvent,
  checkHit,
  checkPageVendor,
  checkTag,
  type EventItem,
  type HitItem,
  type ItemList,
  MAX_ITEMS,
  type PageVendorItem,
  type TagItem,
} from './batch.ts'
import { BatchReport, type LedgerNote } from './batch-report.ts'
import { hashCustomer } from './customer-hash.ts'

/** Returns the ids of the alerts whose rules the event violates; empty if there are none. */
export type Judge = (event: StoredEvent) => string[]

/** Evaluates the rules for the events in one batch, within the organization's limit of time on the event loop. */
export interface BatchJudge {
  judge: Judge
  /** True if the time limit was exceeded. The results of `judge` are then invalid. */
  readonly isOutOfTime: boolean
  /** Must be called after evaluation has finished or was stopped. */
  end(): void
}

/** Domain and arrival time of a batch, and the functions required for decoding. */
export interface BatchContext {
  domain: Pick<CollectorDomain, 'id' | 'orgId' | 'customerSalt' | 'nameVendor' | 'pageViewRate'>
  receivedAt: Instant
  /** Default: unknown. */
  visitor?: VisitorSegments
  /** Returns a larger number on each call. */
  nextSeq(): number
  isDenied(domainId: string, hostname: string): boolean
  judge: Judge
}

/** A decoded batch, ready to be stored. */
export interface DecodedBatch {
  events: StoredEvent[]
  answer: BatchAnswer
  ledger: LedgerNote[]
  /** Timings of vendors' code. */
  pages: StoredPage[]
}

type Fields = Pick<StoredEvent, 'vendor' | 'event' | 'account' | 'kind' | 'status' | 'execMs' | 'durMs' | 'bytes'>

/**
 * Maximum total size of all decompressed bodies in a batch plus the shared values that are repeated in its events.
 * Prevents a small batch from expanding to gigabytes.
 */
const MAX_UNPACKED_BYTES = 8 * 1024 * 1024
/** URLs with other schemes (`data:`, `blob:`, `about:`) don't reach any vendor. */
const ON_THE_WEB = /^\s*(?:https?|wss?):/i
/** Maximum length of a page's path. Every row for a page view repeats the path, and a batch can have 200 rows. */
const MAX_PAGE_PATH = 1000
/** Maximum length of a hostname, excluding the trailing dot: https://www.rfc-editor.org/rfc/rfc1035#section-2.3.4 */
const MAX_HOST_LENGTH = 253
/** Methods of requests without a body: https://www.rfc-editor.org/rfc/rfc9110#section-9.3 */
const BODYLESS = /^(?:GET|HEAD|OPTIONS)$/
/** Note for a hit without a body. While a browser is leaving the page, it can't read the body from a `Blob` in time. */
const BODY_MISSING = 'hits: the body is missing; stored as kind hit'
const NOT_ON_THE_WEB = 'url: is not an http, https, ws or wss URL'
const UNPACKED_TOO_LARGE = 'the bodies in the batch decompress to more than 8 MiB'

/**
 * Decodes and flattens the events in a batch, and evaluates their rules. Pure except for `nextSeq`. Invalid items are
 * rejected individually; the reason is in the response and in the ledger.
 */
export function decodeBatch(batch: Batch, arrival: BatchContext): DecodedBatch {
  const decoder = new BatchDecoder(batch, arrival)
  const lists: [ItemList, readonly unknown[], (value: unknown) => void][] = [
    ['events', batch.events ?? [], (value) => decoder.event(value)],
    ['hits', batch.hits ?? [], (value) => decoder.hit(value)],
    ['tags', batch.tags ?? [], (value) => decoder.tag(value)],
  ]
  let room = MAX_ITEMS
  for (const [list, items, read] of lists) {
    for (let index = 0; index < items.length; index++) {
      decoder.report.at(list, index)
      if (decoder.denied) decoder.report.refuse('hostname denied', decoder.host ?? '')
      else if (room-- > 0) read(items[index])
      else decoder.report.refuse(`more than ${MAX_ITEMS} items in one batch`, '')
    }
  }
  if (batch.pageStats) decoder.pageStats(batch.pageStats)
  const { events, pages } = decoder
  return { events, ...decoder.report.result(), pages }
}

const NO_PAGES: StoredPage[] = []

class BatchDecoder {
  readonly events: StoredEvent[] = []
  readonly report = new BatchReport()
  pages: StoredPage[] = NO_PAGES
  readonly host: string | null
  readonly denied: boolean
  private readonly path: string | null
  private readonly title: string | null
  private readonly sessionId: string | null
  private readonly customerId: string | null
  private readonly skewMs: number
  private readonly weight: number
  private readonly pageViewRate: number
  /** Approximate number of characters in the batch's shared values, which are repeated in each event. */
  private readonly frameLength: number
  private unpackedBytes = 0
  /** Segments of the latest event. Events that say nothing about consent and visitor have those of the event before. */
  private segments: Segments

  constructor(
    private readonly batch: Batch,
    private readonly arrival: BatchContext,
  ) {
    const page = this.page(batch.page?.url)
    this.host = page?.host ?? null
    this.path = page?.path ?? null
    this.title = batch.page?.title === undefined ? null : cleanText(batch.page.title)
    this.sessionId = batch.sessionId === undefined ? null : cleanText(batch.sessionId)
    this.customerId =
      batch.customerId === undefined ? null : hashCustomer(arrival.domain.customerSalt, batch.customerId)
    this.skewMs = batch.sentAt === undefined ? 0 : arrival.receivedAt - toTimestamp(batch.sentAt)
    this.weight = 1 / (batch.sampleRate ?? 1)
    this.pageViewRate = arrival.domain.pageViewRate[batch.env ?? 'prod']
    this.frameLength = 500 + (this.path?.length ?? 0) + (this.title?.length ?? 0)
    const { browser, browserVersion, os, device, language, country } = arrival.visitor ?? NO_SEGMENTS
    this.segments = {
      browser,
      browserVersion,
      os,
      device,
      language,
      release: releaseOf(batch.version ?? null),
      pageGroup: pageGroupOf(this.path),
      consent: NO_SEGMENTS.consent,
      visitor: NO_SEGMENTS.visitor,
      country,
    }
    this.denied = this.host !== null && arrival.isDenied(arrival.domain.id, this.host)
  }

  event(value: unknown): void {
    const { item, error, reason } = checkEvent(value)
    if (error !== null) return this.report.refuse(reason, '', error)
    const sample = `${item.vendor} ${item.event ?? ''}`
    const params = this.flatten(item.params ?? {}, sample, item.account)
    this.report.accept()
    this.store(item, this.eventFields(item), params)
  }

  tag(value: unknown): void {
    const { item, error, reason } = checkTag(value)
    if (error !== null) return this.report.refuse(reason, '', error)
    const own = { tagId: cleanText(String(item.tagId)), name: cleanText(item.name ?? '') }
    const params = item.params ? this.flatten(item.params, own.name) : {}
    this.report.accept()
    this.store(item, this.tagFields(item), { ...params, ...own })
  }

  hit(value: unknown): void {
    const { item, error, reason } = checkHit(value)
    if (error !== null) return this.report.refuse(reason, '', error)
    const url = URL.parse(item.url)
    const sample = placeOf(url)
    // The batch size already limits uncompressed bodies, so they don't count towards `MAX_UNPACKED_BYTES`.
    const packed = isPacked(item)
    const isOver = () => this.unpackedBytes > MAX_UNPACKED_BYTES
    if (packed && isOver()) return this.report.refuse(UNPACKED_TOO_LARGE, sample)
    const body = readBody(item)
    if (body.error !== null) return this.report.refuse(`body: ${body.error}`, sample)
    if (packed) this.unpackedBytes += body.text?.length ?? 0
    const method = (item.method ?? 'GET').toUpperCase()
    const decoded = decodeHit({ url: item.url, method, body: body.text }, url)
    if (url && decoded.vendor !== null && body.text === null && !BODYLESS.test(method) && !isNamed(decoded)) {
      this.report.accept()
      this.report.note(BODY_MISSING, sample)
      return this.unread(item, url, sample, decoded.vendor)
    }
    if (decoded.error !== null) return this.report.refuse(decoded.error, sample)
    const isSpread = decoded.events.length > 1
    if (isSpread) this.unpackedBytes += lengthOf(decoded.events) + decoded.events.length * this.frameLength
    if ((packed || isSpread) && isOver()) return this.report.refuse(UNPACKED_TOO_LARGE, sample)
    if (decoded.vendor === null) {
      if (!url || !ON_THE_WEB.test(item.url)) return this.report.refuse(NOT_ON_THE_WEB, '')
      this.report.accept()
      return this.unread(item, url, sample)
    }
    this.report.accept()
    for (const [part, event] of decoded.events.entries()) {
      for (const cut of event.cut) this.report.note(cut, sample)
      const fields = hitFields(item, decoded.vendor, event.event, event.account, event.kind)
      // The URL of a library shows when the vendor or the site changes the library.
      const params = event.kind === 'library' ? { ...event.params, url: event.params.url ?? sample } : event.params
      this.store(part === 0 ? item : { ...item, id: item.id && `${item.id}.${part}` }, fields, params)
    }
  }

  pageStats({ ts, loaf = false, vendors = [] }: NonNullable<Batch['pageStats']>): void {
    const { receivedAt, domain, nextSeq } = this.arrival
    const fitting: PageVendorItem[] = []
    for (const [index, value] of vendors.entries()) {
      this.report.at('pageStats.vendors', index)
      const { item, error, reason } = checkPageVendor(value)
      if (this.denied) this.report.refuse('hostname denied', this.host ?? '')
      else if (error !== null) this.report.refuse(reason, '', error)
      else fitting.push(item)
    }
    if (this.denied) return
    this.report.at('pageStats', 0)
    const frame: PageFrame = {
      page: nextSeq(),
      ts: this.correct(ts),
      receivedAt,
      orgId: domain.orgId,
      domainId: domain.id,
      env: this.batch.env ?? 'prod',
      host: this.host,
      path: this.path === null ? null : cutText(this.path, MAX_PAGE_PATH),
      sessionId: this.sessionId,
      version: this.batch.version ?? null,
      weight: this.weight,
      loaf,
    }
    this.pages = pagesOf(frame, fitting, domain.nameVendor)
    this.report.accept(this.pages.length)
  }

  /**
   * Converts a time in any unit from the sender's clock to the server's clock. Replaces implausible times and records
   * the change.
   */
  private correct(ts: number | undefined): Instant {
    const { receivedAt } = this.arrival
    if (ts === undefined) return receivedAt
    const at = Math.round(toTimestamp(ts) + this.skewMs)
    if (isPlausible(at, receivedAt)) return Math.min(at, receivedAt)
    this.report.correct(IMPLAUSIBLE_TIME, String(ts))
    return receivedAt
  }

  /**
   * Stores a request that could not be decoded. If the decoder returned no `vendor`, the domain's own patterns are
   * tried first.
   */
  private unread(item: HitItem, url: URL, sample: string, decodedVendor?: string): void {
    const vendor =
      decodedVendor ??
      this.arrival.domain.nameVendor(item.url) ??
      thirdPartyOf(url.hostname) ??
      cutText(url.hostname, MAX_NAME_LENGTH)
    // `url` is added first, so a query parameter with the same name becomes `url.1`.
    const query = readQuery(url.search, Object.assign(emptyParams(), { url: sample }))
    this.store(item, hitFields(item, vendor, '', null, 'hit'), this.flatten(query, sample))
  }

  private eventFields(item: EventItem): Fields {
    return {
      vendor: cleanText(item.vendor),
      event: cleanText(item.event ?? ''),
      account: item.account === undefined ? null : cleanText(item.account),
      kind: 'event',
      status: item.status ?? null,
      execMs: item.execMs ?? null,
      durMs: item.durMs ?? null,
      bytes: null,
    }
  }

  private tagFields(item: TagItem): Fields {
    return {
      vendor: googleTagManager.vendor,
      event: cleanText(item.event ?? ''),
      account: cleanText(item.container),
      kind: 'tag',
      status: item.status ?? null,
      execMs: item.execMs ?? null,
      durMs: null,
      bytes: null,
    }
  }

  private flatten(params: object, sample: string, account?: string): Record<string, string> {
    const flat = flattenParams(params, account)
    for (const cut of flat.cut) this.report.note(cut, sample)
    return flat.params
  }

  /** True if page views of this session are stored. Sampling is deterministic and by session. */
  private storesPageView(id: string | undefined): boolean {
    const session = this.sessionId ?? this.customerId ?? id ?? String(this.arrival.nextSeq())
    return Bun.hash.xxHash32(`${this.arrival.domain.id} ${session}`) < this.pageViewRate * 2 ** 32
  }

  private page(url: string | undefined): { host: string | null; path: string } | null {
    if (!url) return null
    const parsed = URL.parse(url)
    if (!parsed) {
      this.report.note('page.url: is not an absolute URL', '')
      return null
    }
    const host = parsed.hostname.replace(/\.$/, '')
    if (host.length <= MAX_HOST_LENGTH) return { host: host || null, path: parsed.pathname }
    this.report.note('page.url: its hostname is too long', '')
    return { host: null, path: parsed.pathname }
  }

  private segmentsOf(params: StoredEvent['params']): Segments {
    const { segments } = this
    const consent = consentOf(params) ?? segments.consent
    const visitor = visitorOf(params) ?? segments.visitor
    if (consent !== segments.consent || visitor !== segments.visitor) this.segments = { ...segments, consent, visitor }
    return this.segments
  }

  private store(
    item: { id?: string | undefined; ts?: number | undefined },
    fields: Fields,
    params: StoredEvent['params'],
  ) {
    const { receivedAt, domain } = this.arrival
    const isSampled = this.pageViewRate < 1 && isPageView(fields.event)
    if (isSampled && !this.storesPageView(item.id)) return
    const seq = this.arrival.nextSeq()
    const event: StoredEvent = {
      seq,
      id: item.id === undefined ? '' : cleanText(item.id),
      ts: this.correct(item.ts),
      receivedAt,
      orgId: domain.orgId,
      domainId: domain.id,
      env: this.batch.env ?? 'prod',
      vendor: fields.vendor,
      event: fields.event,
      account: fields.account,
      kind: fields.kind,
      host: this.host,
      path: this.path,
      title: this.title,
      sessionId: this.sessionId,
      customerId: this.customerId,
      status: fields.status,
      execMs: fields.execMs,
      durMs: fields.durMs,
      bytes: fields.bytes,
      version: this.batch.version ?? null,
      segments: this.segmentsOf(params),
      weight: isSampled ? this.weight / this.pageViewRate : this.weight,
      violations: null,
      params,
    }
    const violations = this.arrival.judge(event)
    if (violations.length > 0) event.violations = violations
    this.events.push(event)
  }
}

/** False if decoding failed, or if none of the decoded events has a name. */
function isNamed({ events, error }: Decoded): boolean {
  return error === null && (events.length === 0 || events.some(({ event, kind }) => event !== '' || kind === 'library'))
}

function hitFields(item: HitItem, vendor: string, event: string, account: string | null, kind: EventKind): Fields {
  const { durMs = null, bytes = null } = item
  return { vendor, event, account, kind, status: outcomeOf(item.status), execMs: null, durMs, bytes }
}

/** HTTP status 400 and above is a failure. Browsers report 0 for a request that received no response. */
export function outcomeOf(status: HitItem['status']): EventStatus | null {
  if (typeof status !== 'number') return status ?? null
  return status === 0 || status >= 400 ? 'failure' : 'ok'
}

/** Returns the number of characters in the events' parameters. */
function lengthOf(events: readonly FlatEvent[]): number {
  let length = 0
  for (const { params } of events) for (const key in params) length += key.length + (params[key]?.length ?? 0)
  return length
}

function placeOf(url: URL | null): string {
  return url ? `${url.origin}${url.pathname}`.slice(0, 300) : ''
}

/** Fields that are shared by all rows of a page view. */
type PageFrame = Omit<StoredPage, 'vendor' | 'vendorHost' | 'requests' | 'durMs' | 'blockMs' | 'bytes'>

/** Returns one row for each host of a vendor, or a single row without a vendor for a page that called none. */
function pagesOf(frame: PageFrame, vendors: readonly PageVendorItem[], nameVendor: NameVendor): StoredPage[] {
  if (vendors.length === 0) {
    return [{ ...frame, vendor: '', vendorHost: '', requests: 0, durMs: [], blockMs: null, bytes: null }]
  }
  return vendors.map(({ host, requests, durMs = [], blockMs, bytes = null }) => {
    const vendorHost = cleanText(host.toLowerCase())
    return {
      ...frame,
      vendor:
        nameVendor(`https://${vendorHost}/`) ?? vendorOfHost(vendorHost) ?? thirdPartyOf(vendorHost) ?? vendorHost,
      vendorHost,
      requests,
      durMs,
      blockMs: frame.loaf ? (blockMs ?? 0) : null,
      bytes,
    }
  })
}
