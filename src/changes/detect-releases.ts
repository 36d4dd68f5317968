import { DAY_MS, type Instant, SECOND_MS } from '../core/clock.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { History, Warehouse } from '../warehouse/warehouse.ts'
import { noteChange } from './store.ts'

export interface DetectReleasesDeps {
  db: Db
  warehouse: Pick<Warehouse, 'query' | 'hasEvents'>
  /** Returns the time up to which events are complete. */
  watermark(): Instant
}

/** Length of the period scanned by one query. */
const SLICE_MS = DAY_MS
/**
 * Libraries first received within this time of the vendor's first library do not count as a change, because a page
 * loads them together.
 */
const TOGETHER_MS = 30 * SECOND_MS
/**
 * Maximum number of known releases per domain and vendor. Further releases are ignored, because a domain's token is
 * public and some library URLs are generated for each visitor.
 */
const MOST_RELEASES = { version: 1000, library: 50 }

/** A version of a domain, or the URL of a vendor's library, with the time at which it was first received. */
interface Release {
  orgId: string
  domainId: string
  source: 'version' | 'library'
  /** The vendor of a library; empty for versions. */
  subject: string
  ref: string
  at: Instant
}

/** Scans new events for new versions and libraries, and records them as changes. */
export async function detectReleases(
  { db, warehouse, watermark }: DetectReleasesDeps,
  stopping?: AbortSignal,
): Promise<void> {
  const end = watermark()
  for (;;) {
    const from = scannedTo(db)
    if (from >= end || stopping?.aborted) return
    const first = from === 0 ? await firstEvent(warehouse, end) : from
    const to = first === null ? end : Math.min(end, first + SLICE_MS)
    const window = { from: first ?? end, to }
    const found = warehouse.hasEvents(window) ? await releasesIn(warehouse, window) : []
    tx(db, () => {
      noteReleases(db, found)
      prepared<[Instant]>(db, 'UPDATE releaseScan SET scannedTo = ?').run(to)
    })
  }
}

/**
 * Clears the known releases, so that all events are scanned again. Must be called after past events are imported.
 * Recorded changes remain.
 */
export function rescanReleases(db: Db): void {
  tx(db, () => {
    db.prepare('DELETE FROM releaseSeen').run()
    db.prepare('UPDATE releaseScan SET scannedTo = 0').run()
  })
}

function scannedTo(db: Db): Instant {
  const row = prepared<[], { scannedTo: Instant }>(db, 'SELECT scannedTo FROM releaseScan').get()
  return row?.scannedTo ?? 0
}

async function firstEvent(warehouse: History, end: Instant): Promise<Instant | null> {
  const [row] = await warehouse.query<{ at: Instant }>(firstEventQuery(end))
  return row?.at ?? null
}

export function firstEventQuery(end: Instant): Query {
  return query('changes.first-event', {
    orgId: null,
    window: { from: 0, to: end },
    write: () => ({ sql: 'SELECT min(receivedAt) AS at FROM events HAVING count(*) > 0' }),
  })
}

async function releasesIn(warehouse: History, window: Query['window']): Promise<Release[]> {
  const [versions, libraries] = await Promise.all([
    warehouse.query<Omit<Release, 'source' | 'subject'>>(versionsSeenQuery(window)),
    warehouse.query<Omit<Release, 'source'>>(librariesSeenQuery(window)),
  ])
  return [
    ...versions.map((row) => ({ ...row, source: 'version' as const, subject: '' })),
    ...libraries.map((row) => ({ ...row, source: 'library' as const })),
  ]
}

export function versionsSeenQuery(window: Query['window']): Query {
  return query('changes.versions-seen', {
    orgId: null,
    window,
    write: ({ dialect }) => ({
      sql: `SELECT orgId, domainId, ${dialect.numberText('version')} AS ref, min(receivedAt) AS at
        FROM events WHERE version IS NOT NULL AND env = 'prod' GROUP BY ALL`,
    }),
  })
}

export function librariesSeenQuery(window: Query['window']): Query {
  return query('changes.libraries-seen', {
    orgId: null,
    window,
    write({ dialect }) {
      const address = dialect.key('url')
      return {
        sql: `SELECT orgId, domainId, vendor AS subject, ${address} AS ref, min(receivedAt) AS at
          FROM events WHERE ${address} IS NOT NULL AND ${address} <> '' GROUP BY ALL`,
        keys: ['url'],
        where: `kind = 'library' AND env = 'prod'`,
      }
    },
  })
}

/**
 * Stores releases in the current transaction. A new release is recorded as a change, unless it is the first version of
 * its domain or among the first libraries of its vendor.
 */
function noteReleases(db: Db, found: readonly Release[]): void {
  const known = prepared<[object], { releases: number; firstAt: Instant | null; isKnown: number }>(
    db,
    `SELECT count(*) AS releases, min(firstSeenAt) AS firstAt, ifnull(sum(ref = @ref), 0) AS isKnown FROM releaseSeen
     WHERE domainId = @domainId AND source = @source AND subject = @subject`,
  )
  const add = prepared<[object]>(
    db,
    `INSERT INTO releaseSeen (domainId, source, subject, ref, firstSeenAt)
     SELECT id, @source, @subject, @ref, @at FROM domain WHERE id = @domainId AND orgId = @orgId
     ON CONFLICT DO NOTHING`,
  )
  for (const release of found.toSorted((a, b) => a.at - b.at || (a.ref < b.ref ? -1 : 1))) {
    const { releases, firstAt, isKnown } = known.get(release) ?? { releases: 0, firstAt: null, isKnown: 0 }
    if (isKnown > 0 || releases >= MOST_RELEASES[release.source]) continue
    const { changes } = add.run(release)
    if (changes === 0 || firstAt === null) continue
    if (release.source === 'library' && release.at - firstAt < TOGETHER_MS) continue
    const { orgId, domainId, source, subject, ref, at } = release
    const title = source === 'version' ? `Version ${ref}` : `${subject} is loaded from ${ref}`
    noteChange(db, at, { orgId, domainId, source, ref, title, occurredAt: at })
  }
}
