import { type Clock, HOUR_MS, type Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, type Static, Text, Type } from '../core/schema.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import type { Audit } from '../http/perform-call.ts'
import { type Db, prepared } from '../store/database.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import { noteOfCall } from './audit-note.ts'

/** An entry of the audit log: one change or sign-in. */
export const AuditEntrySchema = Closed(
  {
    id: Type.String(),
    at: InstantSchema,
    act: Type.String({ description: 'The `operationId` of the call, or `signIn` or `signInFailed`' }),
    userId: Nullable(Type.String({ description: 'User who acted; null when unknown' })),
    email: Nullable(Type.String({ description: 'Current e-mail address of this user' })),
    keyId: Nullable(Type.String({ description: 'API key that was used; null for a session' })),
    address: Nullable(Type.String({ description: 'IP address of the request' })),
    target: Nullable(Type.String({ description: 'Id of the affected object' })),
    targetName: Nullable(
      Type.String({ description: 'Most recent name or e-mail address of the affected object; null when unknown' }),
    ),
    note: Type.Record(Type.String(), Type.Unknown(), { description: 'Further details; never includes secrets' }),
  },
  {
    $id: 'AuditEntry',
    examples: [
      {
        id: '42',
        at: 1_767_614_400_000,
        act: 'changeMemberRole',
        userId: 'usr_01ke7jhv00t2y7h4f6q9a3w5kc',
        email: 'ann@example.com',
        keyId: null,
        address: '192.0.2.7',
        target: 'usr_01ke7jhv00b6d8n2r5v7y1j3fq',
        targetName: 'bob@example.com',
        note: { role: 'admin' },
      },
    ],
  },
)
export type AuditEntry = Static<typeof AuditEntrySchema>

/** Filters for the list of entries. Without filters, all entries are returned. */
export const auditFilterFields = {
  act: Type.Optional(Text(1, 100)),
  userId: Type.Optional(Text(1, 100)),
  from: Type.Optional(Int({ minimum: 0, description: 'Only actions at this time or later' })),
  to: Type.Optional(Int({ minimum: 0, description: 'Only actions before this time' })),
}
const AuditFilter = Closed(auditFilterFields)
export type AuditFilter = Static<typeof AuditFilter>

/** A new entry. Omitted fields are unknown. */
export interface NewAuditEntry {
  orgId: string
  act: string
  userId?: string | null
  keyId?: string | null
  address?: string | null
  target?: string | null
  /** Must not contain secrets. */
  note?: Record<string, unknown>
}

/**
 * Writes an entry with the current time. Does nothing when the organization has been deleted, because its audit log has
 * been deleted as well.
 */
export function writeAuditEntry(db: Db, clock: Clock, entry: NewAuditEntry): void {
  const { orgId, act, userId = null, keyId = null, address = null, target = null, note = {} } = entry
  db.prepare(
    `INSERT INTO auditEntry (orgId, at, act, userId, keyId, address, target, note)
     SELECT id, @at, @act, @userId, @keyId, @address, @target, @note FROM org WHERE id = @orgId`,
  ).run({ orgId, at: clock.now(), act, userId, keyId, address, target, note: JSON.stringify(note) })
}

type AuditEntryRow = Omit<AuditEntry, 'id' | 'note'> & { seq: number; note: string }

/** SQL: the name of the target in an entry of the subquery. */
const NAME = "COALESCE(named.note ->> 'name', named.note ->> 'label', named.note ->> 'email')"

/** SQL expressions by which entries can be sorted. Later entries have a higher number. */
const AUDIT_ORDERS = { at: 'seq', act: '(act)' }
export const AUDIT_SORTS = Object.keys(AUDIT_ORDERS) as (keyof typeof AUDIT_ORDERS)[]

/** Returns a page of the matching entries, newest first by default. */
export function listAuditEntries(
  db: Db,
  orgId: string,
  { act, userId, from, to, sort, ...page }: AuditFilter & PageRequest & { sort?: string },
): Page<AuditEntry> {
  return readPage(db, page, {
    sort,
    orders: AUDIT_ORDERS,
    // The names are subqueries, so that they are read only for the entries of the page.
    sql: `SELECT seq, at, act, userId, (SELECT email FROM user WHERE id = auditEntry.userId) AS email, keyId, address, target,
        COALESCE(
          (SELECT email FROM user WHERE id = auditEntry.target),
          (SELECT name FROM org WHERE id = auditEntry.target),
          (SELECT ${NAME} FROM auditEntry AS named
           WHERE named.orgId = @orgId AND named.target = auditEntry.target AND ${NAME} IS NOT NULL
           ORDER BY named.seq DESC LIMIT 1)) AS targetName, note
      FROM auditEntry
      WHERE orgId = @orgId
        AND (@act IS NULL OR act = @act) AND (@userId IS NULL OR userId = @userId)
        AND (@from IS NULL OR at >= @from) AND (@to IS NULL OR at < @to)`,
    values: { orgId, act: act ?? null, userId: userId ?? null, from: from ?? null, to: to ?? null },
    sortBy: 'seq',
    descending: true,
    itemOf: ({ seq, ...row }: AuditEntryRow): AuditEntry => ({ ...row, id: String(seq), note: JSON.parse(row.note) }),
  })
}

/** Deletes entries older than the retention period, for all organizations. */
export function removeOldAuditEntries(db: Db, now: Instant): void {
  db.prepare('DELETE FROM auditEntry WHERE at < ?').run(now - RECORD_RETENTION_MS)
}

type Act = Pick<NewAuditEntry, 'orgId' | 'act' | 'userId' | 'keyId'>

function wasWrittenWithinHour(db: Db, now: Instant, act: Act): boolean {
  const find = prepared<[object]>(
    db,
    `SELECT 1 FROM auditEntry WHERE orgId = @orgId AND act = @act AND userId = @userId AND keyId IS @keyId
       AND at > @since AND at <= @now LIMIT 1`,
  )
  return find.get({ ...act, now, since: now - HOUR_MS }) !== undefined
}

function idOf(thing: unknown): string | null {
  const id = typeof thing === 'object' && thing !== null && 'id' in thing ? thing.id : null
  return typeof id === 'string' ? id : null
}

/**
 * Returns the function that writes successful calls to the audit log, with the caller, the route, the target and a
 * note. Public routes write their own entries.
 */
export function auditor(db: Db, clock: Clock): Audit {
  return ({ route, call, answer }) => {
    const { principal, params, origin } = call
    if (!principal) return
    const { orgId, userId, keyId } = principal
    if (route.isFeed && wasWrittenWithinHour(db, clock.now(), { orgId, act: route.id, userId, keyId })) return
    const target = route.target?.(answer) ?? idOf(params) ?? idOf(answer)
    const note = route.note?.(call) ?? noteOfCall(route, call, answer)
    writeAuditEntry(db, clock, { orgId, act: route.id, userId, keyId, address: origin.address, target, note })
  }
}
