import { alertTypes } from '../alerts/types/index.ts'
import { maskPersonal } from '../conditions/mask.ts'
import type { Privacy } from '../conditions/privacy.ts'
import type { Instant } from '../core/clock.ts'
import { may } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import { type Db, prepared } from '../store/database.ts'

/** In this order where several fit equally well. */
export const FOUND_KINDS = ['issue', 'alert', 'domain', 'vendor', 'event', 'change', 'member'] as const
type FoundKind = (typeof FOUND_KINDS)[number]

/** Something that was found. */
export interface Found {
  kind: FoundKind
  /** Of vendors and events, which have no id, their name. */
  id: string
  title: string
  /** What tells it from others of its name; may be empty. */
  detail: string
  /** The page about it. */
  path: string
}

/** What is searched in. */
export interface SearchParts {
  db: Db
  privacyOf(orgId: string): Privacy
}

/** More words than this are not looked for. */
const MOST_WORDS = 6

/** The most names of vendors and events that are looked through: of organizations with very many domains, some. */
const MOST_NAMES = 50_000

interface Row {
  id: string
  title: string
  /** Other text in which words are found; empty when there is none. */
  more: string
  /** 5: the id is asked for; 4: the title; 3, 2: its or a word's beginning; 1: a part of it; 0: something beside it. */
  rank: number
}

/** What a kind's statement is made of. `title` and `more` are SQL of a row; words may stand in either. */
interface Source<R extends Row> {
  kind: FoundKind
  /** Columns beside `id`, `title` and `rank`. */
  columns: string
  /** Ends with a condition. */
  from: string
  id: string
  title: string
  more?: string
  /** Of equal rank, the first of these. */
  order: string
  /** Null: not to be shown. */
  shown(row: R, mask: (text: string) => string): Pick<Found, 'detail' | 'path'> | null
}

/** The type of the source's rows is its own matter. */
const source = <R extends Row>(value: Source<R>): Source<Row> => value as unknown as Source<Row>

const typeTitles = new Map(alertTypes.map(({ kind, title }) => [kind, title]))
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
const dictionary = (query: Record<string, string>) => `/explore/dictionary?${new URLSearchParams(query)}`

const SEEN_ON = 'count(*) AS domains, min(domain) AS domain'

const SOURCES: readonly Source<Row>[] = [
  source<Row & { status: string; severity: string; domain: string | null }>({
    kind: 'issue',
    columns: 'status, severity, (SELECT name FROM domain WHERE domain.id = issue.domainId) AS domain',
    from: 'FROM issue WHERE orgId = @orgId',
    id: 'id',
    title: 'title',
    more: `ifnull(notes, '') || ' ' || ifnull(trackerKey, '')`,
    order: `status IN ('open', 'acknowledged') DESC, severityRank DESC, lastSeenAt DESC`,
    shown: ({ id, status, severity, domain }) => ({
      detail: [capital(severity), status, ...(domain === null ? [] : [domain])].join(', '),
      path: `/issues/${id}`,
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
      detail: `${typeTitles.get(alertType) ?? alertType}${enabled ? '' : ', switched off'}`,
      path: `/alerts/${id}`,
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
    shown: ({ id, url }) => ({ detail: url ?? '', path: `/domains/${id}` }),
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
    shown: ({ title: vendor, ...seen }, mask) =>
      mask(vendor) === vendor ? { detail: on(seen), path: dictionary({ vendor }) } : null,
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
    shown: ({ title: event, vendor, ...seen }, mask) =>
      mask(vendor) === vendor && mask(event) === event
        ? { detail: `${vendor} ${on(seen)}`, path: dictionary({ vendor, event }) }
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
    shown: ({ id, occurredAt, domain }) => ({
      detail: `${domain}, ${new Date(occurredAt).toISOString().slice(0, 10)}`,
      path: `/changes/${id}`,
    }),
  }),
]

/** E-mail addresses are found and shown where the caller may see them. */
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
    shown: ({ role, email }) => ({ detail: mayMail ? `${email}, ${role}` : role, path: '/settings/members' }),
  })
}

function on({ domains, domain }: { domains: number; domain: string }): string {
  return `on ${domain}${domains > 1 ? ` and ${domains - 1} more` : ''}`
}

/**
 * Returns what the caller's organization has with all words of `q` in its name or what belongs to it, best first:
 * the whole name before its beginning, before the beginning of a word, before any part. Only ASCII letters are found in
 * either case.
 */
export function search({ db, privacyOf }: SearchParts, principal: Principal, q: string, limit: number): Found[] {
  const { orgId } = principal
  const text = q.trim().replaceAll(/\s+/g, ' ')
  const words = text.split(' ').slice(0, MOST_WORDS)
  const values: Record<string, unknown> = {
    ...{ orgId, limit, text, begin: `${escaped(text)}%`, word: `% ${escaped(text)}%`, part: `%${escaped(text)}%` },
    ...Object.fromEntries(words.map((word, index) => [`word${index}`, `%${escaped(word)}%`])),
  }
  const privacy = privacyOf(orgId)
  const mask = (name: string) => maskPersonal(name, '', privacy)
  const seesAll = may(principal, 'seePersonal')
  const found = [...SOURCES, membersFor(principal)].flatMap((from) =>
    prepared<[object], Row>(db, statementOf(from, words.length, seesAll))
      .all(values)
      .flatMap((row) => {
        const shown = from.shown(row, mask)
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
 * Returns the rank of a row as whoever may not see personal data finds it, by its masked texts; null when these do not
 * have all of the words.
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

/** Statements for masked texts have no limit, because rows that only what is hidden would find are left out afterwards. */
function statementOf(
  { columns, from, id, title, more = `''`, order }: Source<Row>,
  words: number,
  isLimited: boolean,
): string {
  const like = (expression: string, name: string) => `${expression} LIKE @${name} ESCAPE '\\'`
  const every = Array.from({ length: words }, (_, index) => like(`(${title} || ' ' || ${more})`, `word${index}`))
  // The last one groups names of several domains; everything else has an id of its own.
  return `SELECT ${id} AS id, ${title} AS title, ifnull(${more}, '') AS more, ${columns},
      CASE WHEN ${id} = @text THEN 5 WHEN ${title} = @text COLLATE NOCASE THEN 4 WHEN ${like(title, 'begin')} THEN 3
        WHEN ${like(title, 'word')} THEN 2 WHEN ${like(title, 'part')} THEN 1 ELSE 0 END AS rank
    ${from} AND (${id} = @text OR ${every.join(' AND ')})
    GROUP BY 1 ORDER BY ${isLimited ? 'rank DESC, ' : ''}${order}, title${isLimited ? ' LIMIT @limit' : ''}`
}
