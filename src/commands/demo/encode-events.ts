import type { Instant } from '../../core/clock.ts'
import type { Batch, HitItem, PageVendorItem, TagItem } from '../../ingest/batch.ts'
import { consentOf } from '../../visitor/visitor-state.ts'
import { GTM } from './sample-vendors.ts'
import type { SiteEvent } from './simulated-site.ts'

type PageStats = NonNullable<Batch['pageStats']>

/** A batch in the collector's format and the host that sends it. */
export interface SentBatch {
  host: string
  batch: {
    batchId: string
    sentAt: Instant
    sessionId: string
    userAgent: string
    language: string
    version: number
    page: { url: string; title: string }
    hits: HitItem[]
    tags: TagItem[]
    pageStats?: PageStats
  }
}

/** Returns events in batches, as browsers send them: one batch for each page of a visit. */
export function batchesOf(events: readonly SiteEvent[], sentAt: Instant): SentBatch[] {
  const pages = Map.groupBy(events, ({ sessionId, path, version }) => `${sessionId} ${path} ${version}`)
  return [...pages.values()].flatMap((own) => {
    const [first] = own
    if (!first) return []
    const { host, path, title, sessionId, version, browser } = first
    const { userAgent, language } = browser
    const page = { url: `https://${host}${path}`, title }
    const batch = { batchId: crypto.randomUUID(), sentAt, sessionId, userAgent, language, version, page }
    return [{ host, batch: { ...batch, hits: own.flatMap(hitOf), tags: own.flatMap(tagOf), ...measured(own) } }]
  })
}

function hitOf({ at, of, status, durMs, params }: SiteEvent): HitItem[] {
  const request = of.request?.(params)
  return request ? [{ ts: at, ...request, status, durMs }] : []
}

function tagOf({ at, of, event, status, durMs, params }: SiteEvent): TagItem[] {
  if (of.request) return []
  const { tagId = '', name = '' } = params
  return [{ ts: at, container: of.account, tagId, name, event, status, execMs: durMs }]
}

/** One in this many browsers does not report blocking times. */
const SILENT_BROWSERS = 5n
/** Duration of a request on a page of average speed, in milliseconds. */
const MIDDLING_MS = 90

/** Returns the browser's measurements of vendor code, for the pages whose page view is among the events. */
function measured(own: readonly SiteEvent[]): { pageStats?: PageStats } {
  const [first] = own
  if (!first || !own.some(({ of }) => of === GTM)) return {}
  const loaf = Bun.hash.wyhash(first.sessionId) % SILENT_BROWSERS !== 0n
  const vendors = [...Map.groupBy(own, ({ of }) => of)].map(([{ code }, events]): PageVendorItem => {
    const slowness = (events[0]?.durMs ?? MIDDLING_MS) / MIDDLING_MS
    return {
      host: code.host,
      requests: events.length,
      durMs: events.map(({ durMs }) => durMs),
      bytes: code.bytes,
      ...(loaf ? { blockMs: Math.round(code.blockMs * slowness ** 2) } : {}),
    }
  })
  return { pageStats: { ts: first.at, loaf, vendors } }
}

/** Returns an event as an input line for `tagwarden import events`. */
export function importLine({ at, of, event, status, durMs, browser, ...rest }: SiteEvent, domainId: string): string {
  const { vendor, account, kind, request } = of
  const segments = { ...browser.segments, language: browser.language, consent: consentOf(rest.params) ?? 'unknown' }
  const lasted = request ? { durMs } : { execMs: durMs }
  return JSON.stringify({
    receivedAt: at,
    domainId,
    vendor,
    account,
    kind,
    event,
    status,
    ...lasted,
    ...rest,
    segments,
  })
}
