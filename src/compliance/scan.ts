import { type PersonalForm, personalIn } from '../conditions/personal.ts'
import { type Privacy, privacyFrom } from '../conditions/privacy.ts'
import { cutText } from '../core/text.ts'
import { orgsWithPrivacy, privacySettings } from '../org/store.ts'
import type { Db } from '../store/database.ts'
import type { Query } from '../warehouse/query.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { type Candidate, candidatesQuery, FIELD_KEYS } from './candidates.ts'
import type { Sighting } from './finding.ts'
import { noteFindings } from './store.ts'

const WHOLE: Query['window'] = { from: 0, to: Number.MAX_SAFE_INTEGER }
/** More of a value would not be shown. */
const MAX_EXAMPLE_LENGTH = 1000

export interface ScanParts {
  db: Db
  warehouse: Pick<Warehouse, 'lookThrough'>
}

/**
 * Looks through all events that were not looked through yet, and notes the personal data in them. What was found and that
 * it was looked for are written in one transaction, so killed anywhere and run again, each event counts once. Ends early
 * when the program stops.
 */
export async function scan({ db, warehouse }: ScanParts, stopping?: AbortSignal): Promise<void> {
  while (!stopping?.aborted) {
    const privacyOf = memo((orgId: string) => privacyFrom(privacySettings(db, orgId)))
    const owns = orgsWithPrivacy(db)
      .map((orgId) => ({ orgId, privacy: privacyOf(orgId) }))
      .filter(({ privacy: { regions, patterns } }) => regions.length + patterns.length > 0)
    const seen = new Sightings(privacyOf)
    const query = candidatesQuery(owns, { orgId: null, window: WHOLE }, (candidate) => seen.add(candidate))
    const look = await warehouse.lookThrough(query)
    if (look === null) return
    look.settle(() => noteFindings(db, seen.all(), { privacyOf }))
  }
}

/** What was seen of each finding in each domain. */
class Sightings {
  private readonly found = new Map<string, Sighting>()

  constructor(private readonly privacyOf: (orgId: string) => Privacy) {}

  /** Adds what the value contains; returns null, so that nothing is kept of it. */
  add(candidate: Candidate): null {
    const key = keyOf(candidate)
    const privacy = this.privacyOf(candidate.orgId)
    for (const form of personalIn(key, candidate.value, privacy)) this.note(candidate, key, candidate.value, form)
    if (!candidate.isField)
      for (const form of personalIn('', candidate.key, privacy)) this.note(candidate, key, key, form)
    return null
  }

  all(): Sighting[] {
    return [...this.found.values()]
  }

  private note(candidate: Candidate, key: string, text: string, { kind, isReal }: PersonalForm): void {
    const { orgId, domainId, vendor, weight, firstAt, lastAt } = candidate
    const place = JSON.stringify([orgId, domainId, vendor, key, kind])
    const known = this.found.get(place)
    const one: Sighting = {
      ...{ orgId, domainId, vendor, key, kind, formed: weight, count: isReal ? weight : 0 },
      ...{ example: isReal ? cutText(text, MAX_EXAMPLE_LENGTH) : '', firstSeenAt: firstAt, lastSeenAt: lastAt },
    }
    this.found.set(place, known ? merged(known, one) : one)
  }
}

function merged(known: Sighting, one: Sighting): Sighting {
  const { formed = known.count } = known
  return {
    ...known,
    count: known.count + one.count,
    formed: formed + (one.formed ?? one.count),
    example: known.example || one.example,
    firstSeenAt: Math.min(known.firstSeenAt, one.firstSeenAt),
    lastSeenAt: Math.max(known.lastSeenAt, one.lastSeenAt),
  }
}

/** As findings spell the key: a parameter that is called like a field has one more `$`. */
function keyOf({ key, isField }: Candidate): string {
  if (isField) return `$${key}`
  return FIELD_KEYS.includes(key) ? `$${key}` : key
}

function memo<T>(make: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>()
  return (key) => {
    const value = known.get(key) ?? make(key)
    known.set(key, value)
    return value
  }
}
