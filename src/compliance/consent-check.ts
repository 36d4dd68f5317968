import type { Privacy } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { dayText, momentText, periodText } from '../core/moment-text.ts'
import { countText } from '../core/text.ts'
import { timezoneOf } from '../org/store.ts'
import { type Db, tx } from '../store/database.ts'
import type { VisibleEvents } from '../warehouse/visible-events.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { ConsentKind } from './compliance-finding.ts'
import { CONSENT_KEY, type Sighting } from './compliance-finding.ts'
import {
  adSessionsQuery,
  CHOICE_MS,
  type ChoiceRow,
  choicesQuery,
  type DeniedRow,
  deniedQuery,
  type SignalRow,
  type Span,
  signalsQuery,
} from './consent-queries.ts'
import {
  addToDay,
  type CountedDomain,
  consentCursor,
  firstSeenAt,
  hoursBetween,
  moveConsentCursor,
  putHours,
} from './consent-store.ts'
import type { RateDrop } from './consent-update-rate.ts'
import { rateDropAt } from './consent-update-rate.ts'
import { ADVERTISING_VENDORS, GOOGLE_VENDORS } from './consent-vendors.ts'
import { recordSightings } from './store.ts'

export interface ConsentCheckDeps {
  db: Db
  warehouse: Pick<Warehouse, 'query' | 'hasEvents' | 'storage'>
  visible: Pick<VisibleEvents, 'watermark'>
  privacyOf(orgId: string): Privacy
}

/** Maximum length of the period checked in one query. */
const STEP_MS = DAY_MS
/** Maximum number of sessions listed in a query. With more, the query reads all sessions. */
const MAX_NAMED_SESSIONS = 2000
/** Length of the history needed to detect a drop in the update rate, including one hour before that history. */
const REMEMBERED_MS = 8 * DAY_MS + HOUR_MS

/**
 * Checks the events received since the last check for three problems: faults in the consent signals of requests,
 * requests to advertising vendors after consent was denied, and fewer answers to the consent banner. Findings and the
 * cursor are stored in one transaction, so each request is counted once. Returns early on shutdown.
 */
export async function checkConsent(parts: ConsentCheckDeps, stopping?: AbortSignal): Promise<void> {
  const { db, visible } = parts
  const watermark = visible.watermark()
  const from = consentCursor(db).requestsTo || firstKnown(parts, watermark)
  for (const span of stepsOf(from, watermark)) {
    if (stopping?.aborted) return
    await checkRequests(parts, span)
  }
  const { hoursTo } = consentCursor(db)
  const lastHour = hoursTo === 0 ? 0 : hourOf(watermark - CHOICE_MS)
  for (const span of stepsOf(hoursTo, lastHour)) {
    if (stopping?.aborted) return
    await checkChoices(parts, span)
  }
}

const hourOf = (instant: Instant) => Math.floor(instant / HOUR_MS) * HOUR_MS

/** Returns the time at which the oldest stored event was received; `before` when there are no events. */
function firstKnown({ warehouse }: ConsentCheckDeps, before: Instant): Instant {
  const parts = warehouse.storage().filter(({ kind, isDamaged }) => kind === 'events' && !isDamaged)
  return parts.reduce((first, { firstAt }) => Math.min(first, firstAt), before)
}

function* stepsOf(from: Instant, to: Instant): Iterable<Span> {
  for (let at = from; at < to; at += STEP_MS) yield { from: at, to: Math.min(to, at + STEP_MS) }
}

async function checkRequests(parts: ConsentCheckDeps, span: Span): Promise<void> {
  const { db, warehouse, privacyOf } = parts
  const said = warehouse.hasEvents(span) ? await warehouse.query<SignalRow>(signalsQuery(span)) : []
  const denied = said.some(({ vendor }) => Object.hasOwn(ADVERTISING_VENDORS, vendor))
    ? await deniedRequests(parts, span)
    : []
  tx(db, () => {
    for (const { domainId, vendor, day, count } of said) addToDay(db, { domainId, vendor, day, kind: '', count })
    const found = [
      ...said.flatMap((row) => faultsOf(row).map((kind) => ({ ...row, kind }))),
      ...denied.map((row) => ({ ...row, kind: 'after_denial' as const })),
    ]
    recordSightings(db, sightingsOf(db, found), { privacyOf })
    const { hoursTo } = consentCursor(db)
    moveConsentCursor(db, { requestsTo: span.to, hoursTo: hoursTo || hourOf(span.from) })
  })
}

async function deniedRequests({ warehouse }: ConsentCheckDeps, span: Span): Promise<DeniedRow[]> {
  const sessions = await warehouse.query<{ sessionId: string }>(adSessionsQuery(span))
  if (sessions.length === 0) return []
  const named = sessions.length <= MAX_NAMED_SESSIONS ? sessions.map(({ sessionId }) => sessionId) : null
  return warehouse.query<DeniedRow>(deniedQuery(span, named))
}

type Found = DeniedRow & { kind: RequestKind }

/**
 * Returns one sighting per domain, vendor, kind and day. Each states the affected share of the day's requests so far.
 */
function sightingsOf(db: Db, found: readonly Found[]): Sighting[] {
  const groups = Map.groupBy(found, ({ domainId, vendor, kind, day }) => JSON.stringify([domainId, vendor, kind, day]))
  return [...groups.values()].flatMap((group) => {
    const [one] = group
    if (!one) return []
    const { orgId, domainId, vendor, kind, day } = one
    const count = group.reduce((sum, { count }) => sum + count, 0)
    const first = Math.min(...group.map(({ firstSeenAt }) => firstSeenAt))
    const about = {
      vendor,
      kind,
      day,
      count: addToDay(db, { domainId, vendor, day, kind, count }),
      requests: addToDay(db, { domainId, vendor, day, kind: '', count: 0 }),
      since: Math.min(first, firstSeenAt(db, one) ?? first),
    }
    return {
      orgId,
      domainId,
      vendor,
      key: CONSENT_KEY,
      kind,
      count,
      example: sentenceOf(about, timezoneOf(db, orgId)),
      paths: group.map(({ path }) => path),
      firstSeenAt: first,
      lastSeenAt: Math.max(...group.map(({ lastSeenAt }) => lastSeenAt)),
    }
  })
}

async function checkChoices({ db, warehouse, privacyOf }: ConsentCheckDeps, span: Span): Promise<void> {
  const rows = await warehouse.query<ChoiceRow>(choicesQuery(span))
  tx(db, () => {
    putHours(db, rows)
    const falls = hoursBetween(db, span.from - REMEMBERED_MS, span.to).flatMap((domain) =>
      fallsIn(domain, span, timezoneOf(db, domain.orgId)),
    )
    recordSightings(db, falls, { privacyOf })
    moveConsentCursor(db, { ...consentCursor(db), hoursTo: span.to })
  })
}

/**
 * Returns a sighting for each hour whose end shows a drop in the rate. Each session is included in only one `count`.
 */
function fallsIn({ orgId, domainId, hours }: CountedDomain, { from, to }: Span, timezone: string): Sighting[] {
  let wasFallen = rateDropAt(hours, from) !== null
  const sightings: Sighting[] = []
  for (let end = from + HOUR_MS; end <= to; end += HOUR_MS) {
    const fall = rateDropAt(hours, end)
    const began = wasFallen ? end - HOUR_MS : (fall?.from ?? end)
    wasFallen = fall !== null
    const count = wasFallen && fall ? (began === fall.from ? fall.sessions : (hours.get(began)?.sessions ?? 0)) : 0
    if (!fall || count === 0) continue
    sightings.push({
      orgId,
      domainId,
      vendor: fall.vendor,
      key: CONSENT_KEY,
      kind: 'update_rate',
      count,
      example: rateDropSentence(fall, timezone),
      firstSeenAt: began,
      lastSeenAt: end,
    })
  }
  return sightings
}

/** Kinds of consent findings that concern single requests. */
type RequestKind = Exclude<ConsentKind, 'update_rate'>

/** Returns the faults in the consent signals of a request to Google, usually none. Always empty for other vendors. */
function faultsOf({ vendor, gcs, gcd }: Pick<SignalRow, 'vendor' | 'gcs' | 'gcd'>): RequestKind[] {
  if (!Object.hasOwn(GOOGLE_VENDORS, vendor)) return []
  if (!gcs?.trim() && !gcd?.trim()) return ['no_signal']
  const letters = (gcd ?? '').replaceAll(/[^a-z]/g, '')
  if (letters === '') return []
  if (/^l+$/.test(letters)) return ['not_set']
  return [
    ...(/[mn]/.test(letters) ? (['no_default'] as const) : []),
    ...(/[tv]/.test(letters) ? (['granted_by_default'] as const) : []),
  ]
}

const WORDS: Readonly<Record<RequestKind, string>> = {
  no_signal: 'carried no consent signal (neither gcs nor gcd)',
  not_set: 'reported that consent was not set (every letter of gcd is l)',
  no_default: 'were sent before a consent default was set (m or n in gcd)',
  granted_by_default: 'had consent granted by default (t or v in gcd)',
  after_denial: 'were sent although ad_storage was denied or GPC was on',
}

/** Requests to one vendor with the same fault on one UTC day: `count` out of `requests`, first seen at `since`. */
interface Seen {
  vendor: string
  kind: RequestKind
  day: number
  count: number
  requests: number
  since: number
}

/**
 * Returns a sentence such as `On 5 Jan 2026 (UTC), 12.5 % of 1,234 requests to Google Ads …; first seen 3 Jan 2026,
 * 11:12 CET.`
 */
function sentenceOf({ vendor, kind, day, count, requests, since }: Seen, timezone: string): string {
  const date = `${dayText(day, 'UTC')} (UTC)`
  const all = countText(Math.max(1, Math.round(requests)))
  return `On ${date}, ${shareText(count / requests)} of ${all} requests to ${vendor} ${WORDS[kind]}; first seen ${momentText(since, timezone)}.`
}

function rateDropSentence({ from, to, sessions, rate, rateBefore }: RateDrop, timezone: string): string {
  return (
    `${shareText(rate)} of ${countText(sessions)} sessions denied by default answered the banner from ` +
    `${periodText(from, to, timezone)}, compared with ${shareText(rateBefore)} in the previous seven days.`
  )
}

function shareText(share: number): string {
  const percent = Math.min(100, share * 100)
  return percent > 0 && percent < 0.1 ? 'under 0.1 %' : `${Math.round(percent * 10) / 10} %`
}
