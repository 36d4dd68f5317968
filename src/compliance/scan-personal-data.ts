import { type PersonalForm, personalIn } from '../conditions/personal-data.ts'
import { type OrgPrivacy, personalCandidates } from '../conditions/personal-data-sql.ts'
import { type Privacy, privacyFrom } from '../conditions/privacy-settings.ts'
import type { Instant } from '../core/clock.ts'
import { cutText } from '../core/text.ts'
import { orgsWithPrivacy, privacySettings } from '../org/store.ts'
import type { Db } from '../store/database.ts'
import type { Query } from '../warehouse/query.ts'
import { query } from '../warehouse/query.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { Sighting } from './compliance-finding.ts'
import { recordSightings } from './store.ts'

const WHOLE: Query['window'] = { from: 0, to: Number.MAX_SAFE_INTEGER }
/** Maximum length of an example. Any more would not be displayed. */
const MAX_EXAMPLE_LENGTH = 1000

export interface ScanDeps {
  db: Db
  warehouse: Pick<Warehouse, 'scanNewEvents'>
}

/**
 * Scans all events that have not been scanned yet and records the personal data in them. Findings and progress are
 * stored in one transaction, so each event is counted once even when the process is killed. Returns early on shutdown.
 */
export async function scanPersonalData({ db, warehouse }: ScanDeps, stopping?: AbortSignal): Promise<void> {
  while (!stopping?.aborted) {
    const { query, sightings, privacyOf } = personalDataScan(db)
    const result = await warehouse.scanNewEvents(query)
    if (result === null) return
    result.commit(() => recordSightings(db, sightings(), { privacyOf }))
  }
}

/** A query for the personal data in new events of all organizations. */
export interface PersonalDataScan {
  query: Query
  /** Returns what the query has found. To be called once the query has ended. */
  sightings(): Sighting[]
  /** The settings with which it was made. */
  privacyOf(orgId: string): Privacy
}

/** Creates a scan with the current privacy settings. */
export function personalDataScan(db: Db): PersonalDataScan {
  const privacyOf = memo((orgId: string) => privacyFrom(privacySettings(db, orgId)))
  const owns = orgsWithPrivacy(db)
    .map((orgId) => ({ orgId, privacy: privacyOf(orgId) }))
    .filter(({ privacy: { regions, patterns } }) => regions.length + patterns.length > 0)
  const seen = new Sightings(privacyOf)
  const query = candidatesQuery(owns, { orgId: null, window: WHOLE }, (candidate) => seen.add(candidate))
  return { query, sightings: () => seen.all(), privacyOf }
}

/** Collects sightings by finding and domain. */
class Sightings {
  private readonly found = new Map<string, Sighting>()

  constructor(private readonly privacyOf: (orgId: string) => Privacy) {}

  /** Adds the personal data found in a value. Returns null, so that the query does not collect the row. */
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
    const { orgId, domainId, vendor, weight, path, firstAt, lastAt } = candidate
    const place = JSON.stringify([orgId, domainId, vendor, key, kind])
    const known = this.found.get(place)
    const one: Sighting = {
      orgId,
      domainId,
      vendor,
      key,
      kind,
      formed: weight,
      count: isReal ? weight : 0,
      example: isReal ? cutText(text, MAX_EXAMPLE_LENGTH) : '',
      paths: isReal ? [path] : [],
      firstSeenAt: firstAt,
      lastSeenAt: lastAt,
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
    paths: mergedPaths(known, one),
    firstSeenAt: Math.min(known.firstSeenAt, one.firstSeenAt),
    lastSeenAt: Math.max(known.lastSeenAt, one.lastSeenAt),
  }
}

/** Maximum number of paths collected for a sighting, most of which belong to few kinds of pages. */
const MAX_PATHS = 200

function mergedPaths({ paths: known = [] }: Sighting, { paths = [] }: Sighting): readonly (string | null)[] {
  const added = paths.filter((path) => !known.includes(path))
  return known.length >= MAX_PATHS || added.length === 0 ? known : [...known, ...added]
}

/** Returns the key as written in findings. A parameter whose name is also that of a field gets a second `$`. */
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

/** Event fields that are scanned in addition to parameters. */
export const FIELDS: readonly string[] = ['title', 'path', 'event', 'account', 'sessionId']
/** Keys of findings in fields. As in conditions, a parameter with the same name gets a second `$`. */
const FIELD_KEYS: readonly string[] = FIELDS.map((field) => `$${field}`)

/** A value, from one vendor and domain, that may be personal data. */
interface Candidate {
  orgId: string
  domainId: string
  vendor: string
  /** Key of a parameter or name of a field. */
  key: string
  isField: boolean
  value: string
  weight: number
  /** Path of a page with this value. */
  path: string | null
  firstAt: Instant
  lastAt: Instant
}

/**
 * Returns the query for all values that may be personal data, in all organizations. `owns`: organizations with their
 * own phone countries or patterns. `read` is called for each row, so that the rows are never all in memory at once.
 */
export function candidatesQuery(
  owns: readonly OrgPrivacy[],
  scope: Pick<Query, 'orgId' | 'window'>,
  read?: (candidate: Candidate) => unknown,
): Query {
  return query('compliance.candidates', {
    ...scope,
    ...(read && { read }),
    write(binder) {
      const { any, field, own, entry } = personalCandidates(binder, owns)
      const either = [any.column, own, ...FIELDS.map(field)]
      const texts = `SELECT orgId, domainId, vendor, weight, receivedAt, path, ${binder.dialect.textRows(FIELDS)} FROM events`
      return {
        sql: `SELECT orgId, domainId, vendor, key, isField, value, sum(weight) AS weight,
            max(path) AS path, min(receivedAt) AS firstAt, max(receivedAt) AS lastAt
          FROM (${texts}) AS texts WHERE value IS NOT NULL AND ${entry('key', 'value')}
          GROUP BY orgId, domainId, vendor, key, isField, value
          ORDER BY orgId, domainId, vendor, key, isField, value`,
        wholeParams: true,
        anyTests: [any],
        where: either.join(' OR '),
        either,
      }
    },
  })
}
