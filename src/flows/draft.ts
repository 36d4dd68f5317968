import type { AttachmentReader } from '../browser/har-body.ts'
import { type HarRequest, requestsOfHar } from '../browser/har-requests.ts'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { decodeHit } from '../decoders/index.ts'
import { readBody } from '../decoders/request-body.ts'
import { deriveExpectations, type OwnEvent } from './derive-expectations.ts'
import type { Expectation } from './expectation.ts'
import { importRecording, type SkippedStep } from './import-recording.ts'
import type { RecordedStep, Recording } from './recorder-export.ts'

/** A draft of a flow test for a person to complete. */
export interface Draft {
  recording: Recording
  expectations: Expectation[]
  /** Up to 50 requests in a HAR that are missing from the draft because the HAR does not contain their bodies. */
  missingBodies: MissingRequest[]
  /** Up to 200 steps of a Recorder export that were left out or changed. */
  skippedSteps: SkippedStep[]
}

/** A request whose body is missing. */
export interface MissingRequest {
  /** Index in `log.entries`, from 0. */
  entry: number
  /** Host of the request's URL; empty when it has no URL. */
  host: string
  reason: string
}

/** A page view in a tab or, with `event`, an event that a vendor received from a tab. */
export interface Sighting {
  at: Instant
  /** URL of the page in the tab; null when unknown. */
  pageUrl: string | null
  event: Omit<OwnEvent, 'step'> | null
}

const MAX_STEPS = 200
const MAX_MISSING = 50
/** Replacement for values that callers may not see. */
const MASKED = '***'
/** Time after leaving a page in which events from that page may still be sent. */
const LATE_MS = 3000
/** Maximum length of a value in a URL's query. Longer values are session ids, signatures and the like. */
const MAX_QUERY_VALUE = 40
/** Query parameters that identify the source of a visit, not the page. */
const CAMPAIGN = /^(?:utm_\w+|[a-z]{1,4}clid|_gl|_ga|mc_[a-z]+id|gad_source|gbraid|wbraid|_hs\w+)$/i

/**
 * Returns steps that open the pages in order, with the events sent from each page as expectations. Pages whose URL
 * contains personal data are omitted, together with their events.
 * @param sightings in chronological order
 * @param path path of the field, for error messages
 * @throws {AppError} `invalid` when there is no usable page
 */
export function draftOf(
  { sightings, missingBodies = [] }: { sightings: readonly Sighting[]; missingBodies?: MissingRequest[] },
  path: string,
  privacy: Privacy,
): Draft {
  const visits: { url: string; since: Instant }[] = []
  const events: OwnEvent[] = []
  for (const { at, pageUrl, event } of sightings) {
    const url = pageUrl === null ? null : pageOf(pageUrl, privacy)
    if (url === null) continue
    const [left, current] = [visits.at(-2), visits.at(-1)]
    const isLate = left?.url === url && current?.url !== url && current !== undefined && at - current.since < LATE_MS
    if (url !== current?.url && !isLate) {
      if (visits.length === MAX_STEPS) break
      visits.push({ url, since: at })
    }
    if (event) events.push({ ...event, step: visits.length - (isLate ? 2 : 1) })
  }
  const [first] = visits
  if (!first) throw new AppError('invalid', `${path}: contains no page that can be opened`)
  const recording = { title: `Visit of ${new URL(first.url).host}`, steps: visits.map(({ url }) => openStep(url)) }
  return { recording, expectations: deriveExpectations(events, privacy), missingBodies, skippedSteps: [] }
}

/**
 * Returns the executable steps of a Recorder export, and the ones that were left out.
 * @throws {AppError} `invalid`, naming `recording`, when the value is not a recording or no step can be executed
 */
export function draftOfRecording(value: unknown): Draft {
  const { recording, skipped } = importRecording(value, 'recording')
  return { recording, expectations: [], missingBodies: [], skippedSteps: skipped }
}

const openStep = (url: string): RecordedStep => ({
  type: 'navigate',
  url,
  assertedEvents: [{ type: 'navigation', url, title: '' }],
})

/**
 * Returns the URL with which the page can be opened again. Null when the page can't be opened again or the URL contains
 * personal data.
 */
function pageOf(address: string, privacy: Privacy): string | null {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol) || !url.hostname || url.username || url.password) return null
  const isPersonal = (key: string, text: string) => text.includes(MASKED) || maskPersonal(text, key, privacy) !== text
  if (isPersonal('$path', url.pathname) || isPersonal('$host', url.hostname)) return null
  for (const [key, value] of [...url.searchParams]) {
    if (CAMPAIGN.test(key) || value.length > MAX_QUERY_VALUE || isPersonal(key, value) || isPersonal('', key)) {
      url.searchParams.delete(key)
    }
  }
  return `${url.origin}${url.pathname}${url.search}`
}

/**
 * Returns the pages in a HAR, the decoded vendor events, and the requests whose bodies are missing.
 * @param path path of the field, for error messages
 * @throws {AppError} `invalid` when the value is not a HAR
 */
export function sightingsOfHar(har: unknown, path: string, attachmentOf?: AttachmentReader) {
  const requests = requestsOfHar(har, attachmentOf)
  if (!requests) throw new AppError('invalid', `${path}: is not a HAR: log.entries is missing`)
  return {
    sightings: requests.flatMap(sightingsOf).toSorted((a, b) => a.at - b.at),
    missingBodies: requests.flatMap(missingIn).slice(0, MAX_MISSING),
  }
}

function missingIn({ hit: { url, missingBody } }: HarRequest): MissingRequest[] {
  return missingBody ? [{ ...missingBody, host: URL.parse(url)?.host ?? '' }] : []
}

function sightingsOf({ hit, tabUrl }: HarRequest): Sighting[] {
  const at = hit.ts ?? 0
  if (hit.missingBody) return tabUrl === null ? [] : [{ at, pageUrl: tabUrl, event: null }]
  const { vendor, events } = decodeHit({
    url: hit.url,
    method: hit.method.toUpperCase(),
    body: readBody(hit).text,
  })
  const pageUrl = tabUrl ?? hit.pageUrl
  // A request to a vendor may be sent after the next page has opened, and its `Referer` may be the URL of a frame.
  if (vendor === null) return tabUrl === null ? [] : [{ at, pageUrl: tabUrl, event: null }]
  return events.flatMap(({ kind, event, account, params }): Sighting[] =>
    kind === 'event' ? [{ at, pageUrl, event: { vendor, event, account, params } }] : [],
  )
}
