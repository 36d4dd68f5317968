import { alertTypes } from '../alerts/types/index.ts'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { PAGE_PATHS, pagePath } from '../contract/page-paths.ts'
import type { Instant } from '../core/clock.ts'
import { dayText } from '../core/moment-text.ts'
import { may } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import { timezoneOf } from '../org/store.ts'
import { type Db, prepared } from '../store/database.ts'

/** Kinds of search results. Equally good matches are sorted in this order. */
export const FOUND_KINDS = ['issue', 'alert', 'domain', 'vendor', 'event', 'change', 'member'] as const
type FoundKind = (typeof FOUND_KINDS)[number]

/** A search result. */
export interface Found {
  kind: FoundKind
  /** Id of the object. For a vendor or an event, which has no id, its name. */
  id: string
  title: string
  /** Text that distinguishes the result from other results with the same title. May be empty. */
  detail: string
  /** Path of the result's page. */
  path: string
}

/** Dependencies of the search. */
export interface SearchDeps {
  db: Db
  privacyOf(orgId: string): Privacy
}

/** Maximum number of words in a search. Further words are ignored. */
const MOST_WORDS = 6

/** Maximum number of vendor and event names searched. Organizations with very many domains may have more. */
const MOST_NAMES = 50_000

interface Row {
  id: string
  title: string
  /** Additional text to search. Empty when there is none. */
  more: string
  /**
   * Quality of the match. 5: the id; 4: the whole title; 3: the start of the title; 2: the start of a word in the
   * title; 1: any part of the title; 0: other text.
   */
  rank: number
}

interface ShownContext {
  /** Masks personal data. */
  mask(text: string): string
  /** Time zone of the organization. */
  timezone: string
}

/**
 * Parts of the SQL statement for one kind. `title` and `more` are SQL expressions for a row. Both are searched for the
 * words.
 */
interface Source<R extends Row> {
  kind: FoundKind
  /** Columns to select in addition to `id`, `title` and `rank`. */
  columns: string
  /** FROM clause, which must end with a condition. */
  from: string
  id: string
  title: string
  more?: string
  /** Sort order for results with the same rank. */
  order: string
  /** Returns the detail and path of a result; null for a result that must not be shown. */
  shown(row: R, context: ShownContext): Pick<Found, 'detail' | 'path'> | null
}

/** Hides the row type of a source, so that all sources can be in one list. */
const source = <R extends Row>(value: Source<R>): Source<Row> => value as unknown as Source<Row>

const typeTitles = new Map(alertTypes.map(({ kind, form }) => [kind, form.title]))
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const SEEN_ON = 'count(*) AS domains, min(domain) AS domain'

const SOURCES: readonly Source<Row>[] = [
  source<Row & { status: string; severity: string; domain: string | null; assignee: string | null }>({
    kind: 'issue',
    columns: `status, severity, (SELECT name FROM domain WHERE domain.id = issue.domainId) AS domain,
      (SELECT name FROM user WHERE user.id = issue.assigneeId) AS assignee`,
    from: 'FROM issue WHERE orgId = @orgId',
    id: 'id',
    title: 'title',
    more: `ifnull(notes, '') || ' ' || ifnull(trackerKey, '')`,
    order: `status IN ('open', 'acknowledged') DESC, severityRank DESC, lastSeenAt DESC`,
    shown: ({ id, status, severity, domain, assignee }) => ({
      detail: [capital(severity), status, domain, assignee && `assigned to ${assignee}`].filter(Boolean).join(', '),
      path: pagePath.issue(id),
    }),
  }),
  source<Row & { alertType: string; enabled: number }>({
    kind: 'alert',
    columns: 'alertType, enabled',
    from: 'FROM alert WHERE orgId = @orgId',
    id: 'id',
    title: `json_extract(input, '$.name')`,
    order: 'enabled DESC, id DESC',
    shown: ({ id, alertType, enabled }) => ({
      detail: `${typeTitles.get(alertType) ?? alertType}${enabled ? '' : ', disabled'}`,
      path: pagePath.alert(id),
    }),
  }),
  source<Row & { url: string | null }>({
    kind: 'domain',
    columns: `json_extract(monitoredUrls, '$[0]') AS url`,
    from: 'FROM domain WHERE orgId = @orgId',
    id: 'id',
    title: 'name',
    more: 'monitoredUrls',
    order: 'lastEventAt DESC',
    shown: ({ id, url }) => ({ detail: url ?? '', path: pagePath.domain(id) }),
  }),
  source<Row & { domains: number; domain: string }>({
    kind: 'vendor',
    columns: SEEN_ON,
    from: `FROM (
      SELECT vendor, lastSeenAt, name AS domain FROM domain JOIN domainVendor ON domainId = domain.id
      WHERE orgId = @orgId LIMIT ${MOST_NAMES}) WHERE true`,
    id: 'vendor',
    title: 'vendor',
    order: 'max(lastSeenAt) DESC',
    shown: ({ title: vendor, ...seen }, { mask }) =>
      mask(vendor) === vendor ? { detail: on(seen), path: pagePath.dictionary({ vendor }) } : null,
  }),
  source<Row & { vendor: string; domains: number; domain: string }>({
    kind: 'event',
    columns: `vendor, ${SEEN_ON}`,
    from: `FROM (
      SELECT vendor, event, events, lastDay, name AS domain FROM domain JOIN countedName ON domainId = domain.id
      WHERE orgId = @orgId LIMIT ${MOST_NAMES}) WHERE event <> ''`,
    id: `vendor || ' ' || event`,
    title: 'event',
    more: 'vendor',
    order: 'max(lastDay) DESC, max(events) DESC',
    shown: ({ title: event, vendor, ...seen }, { mask }) =>
      mask(vendor) === vendor && mask(event) === event
        ? { detail: `${vendor} ${on(seen)}`, path: pagePath.dictionary({ vendor, event }) }
        : null,
  }),
  source<Row & { occurredAt: Instant; domain: string }>({
    kind: 'change',
    columns: 'occurredAt, (SELECT name FROM domain WHERE domain.id = change.domainId) AS domain',
    from: 'FROM change WHERE orgId = @orgId',
    id: 'id',
    title: 'title',
    more: 'ref',
    order: 'occurredAt DESC',
    shown: ({ id, occurredAt, domain }, { timezone }) => ({
      detail: `${domain}, ${dayText(occurredAt, timezone)}`,
      path: pagePath.change(id),
    }),
  }),
]

/**
 * Returns the source for members. E-mail addresses are searched and shown only if the caller is allowed to see them.
 */
const membersFor = (principal: Principal): Source<Row> => {
  const mayMail = may(principal, 'seeSettings')
  return source<Row & { role: string; email: string }>({
    kind: 'member',
    columns: 'role, email',
    from: 'FROM member JOIN user ON user.id = userId WHERE orgId = @orgId AND inviteHash IS NULL',
    id: 'userId',
    title: mayMail ? 'ifnull(name, email)' : `ifnull(name, '')`,
    ...(mayMail ? { more: 'email' } : {}),
    order: 'name',
    shown: ({ role, email }) => ({ detail: mayMail ? `${email}, ${role}` : role, path: PAGE_PATHS.settings.members }),
  })
}

function on({ domains, domain }: { domains: number; domain: string }): string {
  return `on ${domain}${domains > 1 ? ` and ${domains - 1} more` : ''}`
}

/**
 * Returns the results in the caller's organization that contain all words of `q` in their name or related text. Results
 * are sorted by the best match of the name: the whole name, its start, the start of a word, then any part. Case is
 * ignored for ASCII letters only.
 */
export function search({ db, privacyOf }: SearchDeps, principal: Principal, q: string, limit: number): Found[] {
  const { orgId } = principal
  const text = q.trim().replaceAll(/\s+/g, ' ')
  const words = text.split(' ').slice(0, MOST_WORDS)
  const values: Record<string, unknown> = {
    orgId,
    limit,
    text,
    begin: `${escaped(text)}%`,
    word: `% ${escaped(text)}%`,
    part: `%${escaped(text)}%`,
    ...Object.fromEntries(words.map((word, index) => [`word${index}`, `%${escaped(word)}%`])),
  }
  const privacy = privacyOf(orgId)
  const mask = (name: string) => maskPersonal(name, '', privacy)
  const timezone = timezoneOf(db, orgId)
  const seesAll = may(principal, 'seePersonal')
  const found = [...SOURCES, membersFor(principal)].flatMap((from) =>
    prepared<[object], Row>(db, statementOf(from, words.length, seesAll))
      .all(values)
      .flatMap((row) => {
        const shown = from.shown(row, { mask, timezone })
        if (!shown) return []
        const one = { kind: from.kind, id: row.id, title: mask(row.title), ...shown }
        if (seesAll) return [{ rank: row.rank, ...one }]
        const rank = rankOf(mask, row, text, words)
        return rank === null ? [] : [{ rank, ...one }]
      }),
  )
  return found
    .sort((a, b) => b.rank - a.rank)
    .slice(0, limit)
    .map(({ rank: _, ...one }) => one)
}

const escaped = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&')

/**
 * Returns the rank of a row for a caller who is not allowed to see personal data. The rank is based on masked text;
 * null when the masked text does not contain all words.
 */
function rankOf(mask: (text: string) => string, row: Row, text: string, words: readonly string[]): number | null {
  if (row.id === text && mask(row.id) === row.id) return 5
  const [title, asked] = [lower(mask(row.title)), lower(text)]
  const all = `${title} ${lower(mask(row.more))}`
  if (!words.every((word) => all.includes(lower(word)))) return null
  if (title === asked) return 4
  if (title.startsWith(asked)) return 3
  if (title.includes(` ${asked}`)) return 2
  return title.includes(asked) ? 1 : 0
}

const lower = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

/**
 * Returns the SQL statement of a source. Statements for masked text have no limit, because rows found only by masked
 * text are removed afterwards.
 */
function statementOf(
  { columns, from, id, title, more = `''`, order }: Source<Row>,
  words: number,
  isLimited: boolean,
): string {
  const like = (expression: string, name: string) => `${expression} LIKE @${name} ESCAPE '\\'`
  const every = Array.from({ length: words }, (_, index) => like(`(${title} || ' ' || ${more})`, `word${index}`))
  // GROUP BY merges names that occur in several domains. Other sources have unique ids.
  return `SELECT ${id} AS id, ${title} AS title, ifnull(${more}, '') AS more, ${columns},
      CASE WHEN ${id} = @text THEN 5 WHEN ${title} = @text COLLATE NOCASE THEN 4 WHEN ${like(title, 'begin')} THEN 3
        WHEN ${like(title, 'word')} THEN 2 WHEN ${like(title, 'part')} THEN 1 ELSE 0 END AS rank
    ${from} AND (${id} = @text OR ${every.join(' AND ')})
    GROUP BY 1 ORDER BY ${isLimited ? 'rank DESC, ' : ''}${order}, title${isLimited ? ' LIMIT @limit' : ''}`
}
