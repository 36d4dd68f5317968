import type { Privacy } from '../conditions/privacy.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import type { Spool } from '../ingest/spool.ts'
import { type Db, tx } from '../store/database.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import {
  adSessionsQuery,
  CHOICE_MS,
  type ChoiceRow,
  choicesQuery,
  type DeniedRow,
  deniedQuery,
  type SaidRow,
  type Span,
  saidQuery,
} from './consent-queries.ts'
import { fallSentence, faultsOf, type RequestKind, sentenceOf } from './consent-sightings.ts'
import {
  addToDay,
  type CountedDomain,
  consentCursor,
  firstSeenAt,
  hoursBetween,
  moveConsentCursor,
  putHours,
} from './consent-store.ts'
import { ADVERTISING_VENDORS } from './consent-vendors.ts'
import { CONSENT_KEY, type Sighting } from './finding.ts'
import { noteFindings } from './store.ts'
import { rateFallAt } from './update-rate.ts'

export interface ConsentCheckParts {
  db: Db
  warehouse: Pick<Warehouse, 'query' | 'hasEvents' | 'storage'>
  spool: Pick<Spool, 'watermark'>
  privacyOf(orgId: string): Privacy
}

/** The most that is looked at in one go. */
const STEP_MS = DAY_MS
/** Of more sessions it is not asked by name. */
const MAX_NAMED_SESSIONS = 2000
/** As much of the past as a fall of the update rate is told by, and the hour before. */
const REMEMBERED_MS = 8 * DAY_MS + HOUR_MS

/**
 * Looks at what was received since the last time: what requests say of consent, whether advertising vendors were sent
 * something after a denial, and whether visitors still answer the banner. What was found and how far it looked are stored
 * in one transaction, so that each request counts once. Ends early when the program stops.
 */
export async function checkConsent(parts: ConsentCheckParts, stopping?: AbortSignal): Promise<void> {
  const { db, spool } = parts
  const watermark = spool.watermark()
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

/** Returns when the oldest event was received that is stored; `before` without one. */
function firstKnown({ warehouse }: ConsentCheckParts, before: Instant): Instant {
  const parts = warehouse.storage().filter(({ kind, isDamaged }) => kind === 'events' && !isDamaged)
  return parts.reduce((first, { firstAt }) => Math.min(first, firstAt), before)
}

function* stepsOf(from: Instant, to: Instant): Iterable<Span> {
  for (let at = from; at < to; at += STEP_MS) yield { from: at, to: Math.min(to, at + STEP_MS) }
}

async function checkRequests(parts: ConsentCheckParts, span: Span): Promise<void> {
  const { db, warehouse, privacyOf } = parts
  const said = warehouse.hasEvents(span) ? await warehouse.query<SaidRow>(saidQuery(span)) : []
  const denied = said.some(({ vendor }) => Object.hasOwn(ADVERTISING_VENDORS, vendor))
    ? await deniedRequests(parts, span)
    : []
  tx(db, () => {
    for (const { domainId, vendor, day, count } of said) addToDay(db, { domainId, vendor, day, kind: '', count })
    const found = [
      ...said.flatMap((row) => faultsOf(row).map((kind) => ({ ...row, kind }))),
      ...denied.map((row) => ({ ...row, kind: 'after_denial' as const })),
    ]
    noteFindings(db, sightingsOf(db, found), { privacyOf })
    const { hoursTo } = consentCursor(db)
    moveConsentCursor(db, { requestsTo: span.to, hoursTo: hoursTo || hourOf(span.from) })
  })
}

async function deniedRequests({ warehouse }: ConsentCheckParts, span: Span): Promise<DeniedRow[]> {
  const sessions = await warehouse.query<{ sessionId: string }>(adSessionsQuery(span))
  if (sessions.length === 0) return []
  const named = sessions.length <= MAX_NAMED_SESSIONS ? sessions.map(({ sessionId }) => sessionId) : null
  return warehouse.query<DeniedRow>(deniedQuery(span, named))
}

type Found = DeniedRow & { kind: RequestKind }

/** One sighting for each domain, vendor, kind and day, with the share of the whole day so far. */
function sightingsOf(db: Db, found: readonly Found[]): Sighting[] {
  const groups = Map.groupBy(found, ({ domainId, vendor, kind, day }) => JSON.stringify([domainId, vendor, kind, day]))
  return [...groups.values()].flatMap((group) => {
    const [one] = group
    if (!one) return []
    const { orgId, domainId, vendor, kind, day } = one
    const count = group.reduce((sum, { count }) => sum + count, 0)
    const first = Math.min(...group.map(({ firstSeenAt }) => firstSeenAt))
    const about = {
      ...{ vendor, kind, day, count: addToDay(db, { domainId, vendor, day, kind, count }) },
      requests: addToDay(db, { domainId, vendor, day, kind: '', count: 0 }),
      since: Math.min(first, firstSeenAt(db, one) ?? first),
    }
    return {
      ...{ orgId, domainId, vendor, key: CONSENT_KEY, kind, count, example: sentenceOf(about) },
      firstSeenAt: first,
      lastSeenAt: Math.max(...group.map(({ lastSeenAt }) => lastSeenAt)),
    }
  })
}

async function checkChoices({ db, warehouse, privacyOf }: ConsentCheckParts, span: Span): Promise<void> {
  const rows = await warehouse.query<ChoiceRow>(choicesQuery(span))
  tx(db, () => {
    putHours(db, rows)
    const falls = hoursBetween(db, span.from - REMEMBERED_MS, span.to).flatMap((domain) => fallsIn(domain, span))
    noteFindings(db, falls, { privacyOf })
    moveConsentCursor(db, { ...consentCursor(db), hoursTo: span.to })
  })
}

/** One sighting for each hour at whose end the rate has fallen; `count` has each session once. */
function fallsIn({ orgId, domainId, hours }: CountedDomain, { from, to }: Span): Sighting[] {
  let wasFallen = rateFallAt(hours, from) !== null
  const sightings: Sighting[] = []
  for (let end = from + HOUR_MS; end <= to; end += HOUR_MS) {
    const fall = rateFallAt(hours, end)
    const began = wasFallen ? end - HOUR_MS : (fall?.from ?? end)
    wasFallen = fall !== null
    const count = wasFallen && fall ? (began === fall.from ? fall.sessions : (hours.get(began)?.sessions ?? 0)) : 0
    if (!fall || count === 0) continue
    sightings.push({
      ...{ orgId, domainId, vendor: fall.vendor, key: CONSENT_KEY, kind: 'update_rate', count },
      ...{ example: fallSentence(fall), firstSeenAt: began, lastSeenAt: end },
    })
  }
  return sightings
}
