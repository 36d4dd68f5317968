import { DAY_MS, type Instant } from '../../core/clock.ts'
import type { IssueStatus } from '../../issues/issue.ts'
import { addHistory } from '../../issues/store.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
import type { LinkedIssue } from '../providers/provider-context.ts'
import { memoryJson } from '../store.ts'

/** An issue in one notification channel. */
export interface IssueChannel {
  issueId: string
  channelType: string
  channelTarget: string
}

const KEY = 'issueId = @issueId AND channelType = @channelType AND channelTarget = @channelTarget'

/** Provider memory and ticket key of an issue in a channel. Null if nothing was saved. */
export function memoryOf(db: Db, channel: IssueChannel): { memory: unknown; ticketKey: string | null } | null {
  const sql = `SELECT memory, ticketKey FROM issueMemory WHERE ${KEY}`
  const row = prepared<[object], { memory: string; ticketKey: string | null }>(db, sql).get(channel)
  return row ? { memory: JSON.parse(row.memory), ticketKey: row.ticketKey } : null
}

interface NewMemory {
  memory: unknown
  integrationId: string | null
  /** Null keeps the current key. */
  ticketKey: string | null
  now: Instant
}

/**
 * Saves the provider memory and links the issue to its ticket. If the status has changed since the issue opened, it is
 * synced as soon as the first memory or ticket is saved. Does nothing if the issue or integration was deleted.
 */
export function saveMemory(db: Db, channel: IssueChannel, { memory, integrationId, ticketKey, now }: NewMemory): void {
  const text = memoryJson(memory)
  tx(db, () => {
    const before = memoryOf(db, channel)
    const { changes } = prepared(
      db,
      `INSERT INTO issueMemory (issueId, channelType, channelTarget, integrationId, memory, ticketKey, syncAt)
       SELECT issue.id, @channelType, @channelTarget, @integrationId, @text, @ticketKey,
         CASE issue.status WHEN 'open' THEN NULL ELSE 0 END
       FROM issue WHERE issue.id = @issueId
         AND (@integrationId IS NULL OR EXISTS (SELECT 1 FROM integration WHERE id = @integrationId))
       ON CONFLICT DO UPDATE SET memory = @text, ticketKey = ifnull(@ticketKey, ticketKey),
         syncAt = CASE WHEN ticketKey IS NULL AND @ticketKey IS NOT NULL THEN ifnull(syncAt, excluded.syncAt) ELSE syncAt END`,
    ).run({ ...channel, integrationId, ticketKey, text })
    if (changes === 0 || ticketKey === null || before?.ticketKey === ticketKey) return
    prepared(db, 'UPDATE issue SET trackerKey = ? WHERE id = ?').run(ticketKey, channel.issueId)
    const { channelType: type, channelTarget: target } = channel
    addHistory(db, channel.issueId, 'tracker_linked', { ticketKey, channel: { type, target } }, now)
  })
}

type LinkedRow = Omit<LinkedIssue, 'memory'> & { memory: string; channelType: string; channelTarget: string }

const LINKED = `SELECT issueId, issue.status, ticketKey, memory, channelType, channelTarget
  FROM issueMemory JOIN issue ON issue.id = issueMemory.issueId`

const linkedOf = ({ issueId, status, ticketKey, memory, channelTarget }: LinkedRow): LinkedIssue => ({
  issueId,
  status,
  ticketKey,
  memory: JSON.parse(memory),
  target: channelTarget,
})

/** Finds an issue by its ticket key in an integration. Null if there is none. */
export function findLinkedIssue(db: Db, integrationId: string, ticketKey: string): LinkedIssue | null {
  const sql = `${LINKED} WHERE integrationId = ? AND ticketKey = ? ORDER BY issueId DESC LIMIT 1`
  const row = prepared<[string, string], LinkedRow>(db, sql).get(integrationId, ticketKey)
  return row ? linkedOf(row) : null
}

/** Issues linked to an integration: unresolved first, then most recent first. */
export function linkedIssues(db: Db, integrationId: string, limit: number): LinkedIssue[] {
  const sql = `${LINKED} WHERE integrationId = ?
    ORDER BY issue.status = 'resolved', issue.lastSeenAt DESC, issueId DESC LIMIT ?`
  return prepared<[string, number], LinkedRow>(db, sql).all(integrationId, limit).map(linkedOf)
}

/**
 * An integration's memory of an issue: for `target` only, or for all of the integration's channels if `target` is null.
 */
interface Linked {
  integrationId: string
  issueId: string
  target: string | null
}

const LINK = `integrationId = @integrationId AND issueId = @issueId AND (@target IS NULL OR channelTarget = @target)`

/** Replaces existing memory, and the ticket key unless it is null. Does nothing if there is no memory. */
export function updateMemory(db: Db, of: Linked, memory: unknown, ticketKey: string | null): void {
  const text = memoryJson(memory)
  tx(db, () => {
    const sql = `UPDATE issueMemory SET memory = @text, ticketKey = ifnull(@ticketKey, ticketKey) WHERE ${LINK}`
    const { changes } = prepared(db, sql).run({ ...of, text, ticketKey })
    if (changes === 0 || ticketKey === null) return
    prepared(db, 'UPDATE issue SET trackerKey = ? WHERE id = ?').run(ticketKey, of.issueId)
  })
}

/** Cancels a status sync because the status came from the other service. */
export function cancelSync(db: Db, of: Linked): void {
  prepared(db, `UPDATE issueMemory SET syncAt = NULL WHERE ${LINK}`).run(of)
}

/** Ticket key of the issue. Null if it has none. */
export function ticketKeyOf(db: Db, of: Linked): string | null {
  const sql = `SELECT ticketKey FROM issueMemory WHERE ticketKey IS NOT NULL AND ${LINK}`
  return prepared<[object], { ticketKey: string }>(db, sql).get(of)?.ticketKey ?? null
}

/** A channel that shows an outdated status. */
export interface PendingSync extends IssueChannel {
  orgId: string
  syncAttempts: number
}

/** Maximum number of due rows considered per query. */
const MAX_DUE = 10_000

/**
 * Returns due status syncs. Organizations take turns, and so do the channels of each organization. The longest overdue
 * come first.
 */
export function pendingSyncs(db: Db, now: Instant, limit: number): PendingSync[] {
  return prepared<[Instant, number], PendingSync>(
    db,
    `WITH due AS (
       SELECT issue.orgId, issueId, channelType, channelTarget, syncAttempts, syncAt
       FROM issueMemory JOIN issue ON issue.id = issueMemory.issueId
       WHERE syncAt <= ? ORDER BY syncAt LIMIT ${MAX_DUE}
     ), ofChannel AS (
       SELECT *, row_number() OVER (PARTITION BY orgId, channelTarget ORDER BY syncAt) AS place FROM due
     ), ofOrg AS (
       SELECT *, row_number() OVER (PARTITION BY orgId ORDER BY place, syncAt) AS turn FROM ofChannel
     )
     SELECT orgId, issueId, channelType, channelTarget, syncAttempts FROM ofOrg ORDER BY turn, syncAt LIMIT ?`,
  ).all(now, limit)
}

/** Records that the channel shows `status`. The sync stays due if the issue's status has changed in the meantime. */
export function markSynced(db: Db, channel: IssueChannel, status: IssueStatus): void {
  prepared(
    db,
    `UPDATE issueMemory SET syncAt = NULL, syncAttempts = 0
     WHERE ${KEY} AND (SELECT status FROM issue WHERE id = @issueId) = @status`,
  ).run({ ...pick(channel), status })
}

/** Postpones a due sync until `at`. Null: until the status changes again. */
export function postponeSync(db: Db, channel: IssueChannel, at: Instant | null, counts: boolean): void {
  const sql = `UPDATE issueMemory SET syncAt = @at, syncAttempts = syncAttempts + @counts
    WHERE ${KEY} AND syncAt IS NOT NULL`
  prepared(db, sql).run({ ...pick(channel), at, counts: counts ? 1 : 0 })
}

const pick = ({ issueId, channelType, channelTarget }: IssueChannel): IssueChannel => ({
  issueId,
  channelType,
  channelTarget,
})

const REPEAT_KNOWN_MS = 7 * DAY_MS

/** True if an inbound call with this key was processed in the last 7 days. */
export function isKnownCall(db: Db, integrationId: string, key: string, now: Instant): boolean {
  const sql = 'SELECT 1 FROM inboundCall WHERE integrationId = ? AND key = ? AND receivedAt > ?'
  return prepared(db, sql).get(integrationId, key, now - REPEAT_KNOWN_MS) !== undefined
}

export function saveCall(db: Db, integrationId: string, key: string, now: Instant): void {
  const sql = 'INSERT OR REPLACE INTO inboundCall (integrationId, key, receivedAt) VALUES (?, ?, ?)'
  prepared(db, sql).run(integrationId, key, now)
  const old = `DELETE FROM inboundCall WHERE (integrationId, key) IN
    (SELECT integrationId, key FROM inboundCall WHERE receivedAt <= ? ORDER BY receivedAt LIMIT 100)`
  prepared(db, old).run(now - REPEAT_KNOWN_MS)
}
