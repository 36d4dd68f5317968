import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { FindingAction } from '../contract/statuses.ts'
import type { Instant } from '../core/clock.ts'
import { pageGroupOf } from '../core/derived-segments.ts'
import { AppError } from '../core/error.ts'
import { cutText } from '../core/text.ts'
import { hasDomain } from '../domains/store.ts'
import { consentOptInOf } from '../org/store.ts'
import { type Db, likePattern, prepared, tx } from '../store/database.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import { CONSENT_KEY, type Finding, MAX_LISTED_PAGES, type Sighting } from './compliance-finding.ts'

/**
 * Maximum number of findings per organization. Further findings are not recorded. There is a limit because senders
 * choose the keys.
 */
const MAX_FINDINGS = 10_000
const MAX_EXAMPLE_LENGTH = 200
/** Maximum number of pages recorded for a finding. */
const MAX_PAGES = 50
const MAX_PAGE_LENGTH = 200

/** A stored finding. */
export interface StoredFinding extends Finding {
  id: number
  /** Id of the alert that checks future events; null until the finding is filed. */
  alertId: string | null
}

/**
 * Adds sightings to findings, in the current transaction or in a new one. Each sighting must be passed only once. Names
 * and examples are masked with the organization's privacy settings, so values that are equal after masking share one
 * finding. Sightings in deleted domains are ignored.
 */
export function recordSightings(
  db: Db,
  sightings: readonly Sighting[],
  { privacyOf }: { privacyOf(orgId: string): Privacy },
): void {
  tx(db, () => {
    for (const [orgId, ofOrg] of Map.groupBy(sightings, (sighting) => sighting.orgId)) {
      const privacy = privacyOf(orgId)
      for (const sighting of ofOrg) note(db, sighting, (text, key = '') => maskPersonal(text, key, privacy))
    }
  })
}

function note(db: Db, sighting: Sighting, mask: (text: string, key?: string) => string): void {
  const { orgId, domainId, kind, count, formed = count, firstSeenAt, lastSeenAt } = sighting
  const [vendor, key] = [mask(sighting.vendor), mask(sighting.key)]
  const example = cutText(mask(sighting.example, sighting.key), MAX_EXAMPLE_LENGTH, '…')
  if (!hasDomain(db, { orgId, id: domainId })) return
  const row = prepared<[object], { id: number }>(
    db,
    `INSERT INTO finding (orgId, vendor, key, kind, count, formed, example, firstSeenAt, lastSeenAt)
     SELECT @orgId, @vendor, @key, @kind, @count, @formed, @example, @firstSeenAt, @lastSeenAt
     WHERE EXISTS (SELECT 1 FROM finding WHERE orgId = @orgId AND vendor = @vendor AND key = @key AND kind = @kind)
       OR (SELECT count(*) FROM finding WHERE orgId = @orgId) < ${MAX_FINDINGS}
     ON CONFLICT (orgId, vendor, key, kind) DO UPDATE SET
       count = count + excluded.count, formed = formed + excluded.formed,
       example = iif(excluded.example <> '' AND (example = '' OR excluded.lastSeenAt >= lastSeenAt), excluded.example, example),
       firstSeenAt = min(firstSeenAt, excluded.firstSeenAt), lastSeenAt = max(lastSeenAt, excluded.lastSeenAt)
     RETURNING id`,
  ).get({ orgId, vendor, key, kind, count, formed, example, firstSeenAt, lastSeenAt })
  if (!row || count === 0) return
  prepared(db, 'INSERT OR IGNORE INTO findingDomain (findingId, domainId) VALUES (?, ?)').run(row.id, domainId)
  notePages(db, row.id, { pages: pagesOf(sighting).map((page) => mask(page)), lastSeenAt })
}

/** Paths with ids replaced, so that all pages of a kind are one. */
const pagesOf = ({ paths = [] }: Sighting): string[] => [
  ...new Set(paths.flatMap((path) => cutText(pageGroupOf(path) ?? '', MAX_PAGE_LENGTH) || [])),
]

/** Adds pages to a finding. A finding that has the maximum number of pages gets no further ones. */
function notePages(
  db: Db,
  findingId: number,
  { pages, lastSeenAt }: { pages: readonly string[]; lastSeenAt: Instant },
) {
  const insert = prepared(
    db,
    `INSERT INTO findingPage (findingId, page, lastSeenAt)
     SELECT @findingId, @page, @lastSeenAt
     WHERE EXISTS (SELECT 1 FROM findingPage WHERE findingId = @findingId AND page = @page)
       OR (SELECT count(*) FROM findingPage WHERE findingId = @findingId) < ${MAX_PAGES}
     ON CONFLICT (findingId, page) DO UPDATE SET lastSeenAt = max(lastSeenAt, excluded.lastSeenAt)`,
  )
  for (const page of pages) insert.run({ findingId, page, lastSeenAt })
}

/** Filter for a list of findings. Null fields are ignored. */
export interface FindingFilter {
  orgId: string
  /** True for consent findings, false for personal data, null for both. */
  consent: boolean | null
  /** Only findings seen in one of these domains; null for all. */
  domainIds: readonly string[] | null
  vendor: string | null
  key: string | null
  kind: string | null
  action: FindingAction | null
  /** Only findings seen on this page; empty: those without a known page. */
  page?: string | null
  /** Only findings with this text in the vendor, key, example, note or page. */
  q?: string | null
}

interface FindingRow extends Omit<StoredFinding, 'domainIds' | 'pages'> {
  /** Domain ids as JSON. */
  domainIds: string
  /** Pages as JSON. */
  pages: string
}

const OF_FINDING = 'SELECT 1 FROM findingPage WHERE findingId = finding.id'

/** SQL condition of a filter. */
const MATCHES = `orgId = @orgId AND count > 0 AND count * 2 >= formed
  AND (kind <> 'granted_by_default' OR @optIn)
  AND (@consent IS NULL OR (key = '${CONSENT_KEY}') = @consent)
  AND (@vendor IS NULL OR vendor = @vendor) AND (@key IS NULL OR key = @key)
  AND (@kind IS NULL OR kind = @kind) AND (@action IS NULL OR action = @action)
  AND (@page IS NULL OR iif(@page = '', NOT EXISTS (${OF_FINDING}), EXISTS (${OF_FINDING} AND page = @page)))
  AND (@q IS NULL OR vendor LIKE @q ESCAPE '\\' OR key LIKE @q ESCAPE '\\' OR example LIKE @q ESCAPE '\\'
    OR note LIKE @q ESCAPE '\\' OR EXISTS (${OF_FINDING} AND page LIKE @q ESCAPE '\\'))
  AND EXISTS (SELECT 1 FROM findingDomain
    WHERE findingId = finding.id
     AND (@domainIds IS NULL OR domainId IN (SELECT value FROM json_each(@domainIds))))`

/** Values of the parameters in `MATCHES`. */
function valuesOf(db: Db, { consent, domainIds, page = null, q = null, ...texts }: FindingFilter): object {
  return {
    ...texts,
    page,
    q: q ? likePattern(q) : null,
    domainIds: domainIds && JSON.stringify(domainIds),
    optIn: Number(consentOptInOf(db, texts.orgId)),
    consent: consent === null ? null : Number(consent),
  }
}

/**
 * Returns at most `limit` findings after the cursor, most recently seen first. Three kinds of findings are omitted:
 * those in which less than half of the values are real, those seen only in deleted domains, and, in organizations that
 * do not require opt-in, those about consent granted by default.
 */
export function listFindings(
  db: Db,
  filter: FindingFilter,
  { limit, after }: { limit: number; after: readonly [Instant, number] | null },
): StoredFinding[] {
  return prepared<[object], FindingRow>(
    db,
    `SELECT id, vendor, key, kind, count, example, firstSeenAt, lastSeenAt, action, note, alertId, issueId,
       (SELECT json_group_array(domainId) FROM findingDomain WHERE findingId = finding.id) AS domainIds,
       (SELECT json_group_array(page) FROM (SELECT page FROM findingPage WHERE findingId = finding.id
         ORDER BY lastSeenAt DESC, page LIMIT ${MAX_LISTED_PAGES})) AS pages
     FROM finding WHERE ${MATCHES} AND (@lastSeenAt IS NULL OR (-lastSeenAt, id) > (-@lastSeenAt, @id))
     ORDER BY -lastSeenAt, id LIMIT @limit`,
  )
    .all({ ...valuesOf(db, filter), lastSeenAt: after?.[0] ?? null, id: after?.[1] ?? null, limit })
    .map(({ pages, ...row }) => ({
      ...row,
      count: Math.max(1, Math.round(row.count)),
      domainIds: JSON.parse(row.domainIds),
      ...(pages !== '[]' && { pages: JSON.parse(pages) }),
    }))
}

/** Properties by which findings can be grouped. */
export const GROUPINGS = ['vendor', 'page', 'kind'] as const
export type Grouping = (typeof GROUPINGS)[number]

/** Findings with the same value of a property. */
export interface FindingGroup {
  /** Empty for findings without a known page. */
  value: string
  findings: number
  /** Findings without a decision. */
  undecided: number
  lastSeenAt: Instant
}

/** Maximum number of groups in a list. */
export const MAX_GROUPS = 500

/**
 * Returns the groups of the findings that match, at most 500: those with most undecided findings first. A finding that
 * was seen on several pages is in several groups.
 */
export function groupFindings(db: Db, filter: FindingFilter, by: Grouping): FindingGroup[] {
  const value = by === 'page' ? `ifnull(findingPage.page, '')` : `finding.${by}`
  return prepared<[object], FindingGroup>(
    db,
    `SELECT ${value} AS value, count(*) AS findings, sum(action = 'watch') AS undecided,
       max(finding.lastSeenAt) AS lastSeenAt
     FROM finding ${by === 'page' ? 'LEFT JOIN findingPage ON findingPage.findingId = finding.id' : ''}
     WHERE ${MATCHES} GROUP BY value ${by === 'page' ? 'HAVING @page IS NULL OR value = @page' : ''}
     ORDER BY undecided DESC, findings DESC, value = '', value LIMIT ${MAX_GROUPS}`,
  ).all(valuesOf(db, filter))
}

/** Returns all findings that are not ignored, most recently seen first. */
export function openFindings(db: Db, orgId: string): StoredFinding[] {
  const filter = { orgId, vendor: null, key: null, kind: null, consent: null, domainIds: null, action: null }
  return listFindings(db, filter, { limit: MAX_FINDINGS, after: null }).filter(({ action }) => action !== 'ignore')
}

/** Returns all findings for a key, or only the one with `kind`. Throws `notFound` when there is none. */
export function requireFindings(
  db: Db,
  { orgId, vendor, key, kind }: { orgId: string; vendor: string; key: string; kind: string | null },
): StoredFinding[] {
  const filter = { orgId, vendor, key, kind, consent: null, domainIds: null, action: null }
  const found = listFindings(db, filter, { limit: MAX_FINDINGS, after: null })
  if (found.length === 0) throw new AppError('notFound', 'no such finding')
  return found
}

/** Stores a decision. When omitted, notes, alerts and issues remain unchanged. */
export function decide(
  db: Db,
  findings: readonly Pick<StoredFinding, 'id'>[],
  decision: { action: FindingAction; note?: string; alertId?: string; issueId?: string },
): void {
  const { action, note = null, alertId = null, issueId = null } = decision
  const update = prepared(
    db,
    `UPDATE finding SET action = @action, note = ifnull(@note, note), alertId = ifnull(@alertId, alertId),
       issueId = ifnull(@issueId, issueId) WHERE id = @id`,
  )
  for (const { id } of findings) update.run({ id, action, note, alertId, issueId })
}

/** Deletes findings last seen more than 400 days ago. */
export function removeOldFindings(db: Db, now: Instant): void {
  db.prepare('DELETE FROM finding WHERE lastSeenAt < ?').run(now - RECORD_RETENTION_MS)
}
