import { DAY_MS, type Instant } from '../../core/clock.ts'
import type { IssueStatus } from '../../issues/issue.ts'
import { addHistory } from '../../issues/store.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
import type { LinkedIssue } from '../providers/provider-context.ts'
import { memoryJson } from '../store.ts'

/** One issue as one channel is told of it. */
export interface IssueChannel {
  issueId: string
  channelType: string
  channelTarget: string
}

const KEY = 'issueId = @issueId AND channelType = @channelType AND channelTarget = @channelTarget'

/** Null when nothing is remembered. */
export function memoryOf(db: Db, channel: IssueChannel): { memory: unknown; ticketKey: string | null } | null {
  const sql = `SELECT memory, ticketKey FROM issueMemory WHERE ${KEY}`
  const row = prepared<[object], { memory: string; ticketKey: string | null }>(db, sql).get(channel)
  return row ? { memory: JSON.parse(row.memory), ticketKey: row.ticketKey } : null
}

interface NewMemory {
  memory: unknown
  integrationId: string | null
  /** Null: the present one stays. */
  ticketKey: string | null
  now: Instant
}

/**
 * Stores what is remembered, and links the issue with its ticket. The first memory of an issue that has been given another
 * status since it opened is synced at once, and so is its first ticket. Does nothing when issue or integration is gone.
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

/** The issue that an integration's other side calls so; null when it is none of ours. */
export function findLinkedIssue(db: Db, integrationId: string, ticketKey: string): LinkedIssue | null {
  const sql = `${LINKED} WHERE integrationId = ? AND ticketKey = ? ORDER BY issueId DESC LIMIT 1`
  const row = prepared<[string, string], LinkedRow>(db, sql).get(integrationId, ticketKey)
  return row ? linkedOf(row) : null
}

/** Issues of which an integration remembers something: those that are not resolved first, the latest first. */
export function linkedIssues(db: Db, integrationId: string, limit: number): LinkedIssue[] {
  const sql = `${LINKED} WHERE integrationId = ?
    ORDER BY issue.status = 'resolved', issue.lastSeenAt DESC, issueId DESC LIMIT ?`
  return prepared<[string, number], LinkedRow>(db, sql).all(integrationId, limit).map(linkedOf)
}

/** What an integration remembers of an issue: through all its channels, or through that of `target`. */
export interface Linked {
  integrationId: string
  issueId: string
  target: string | null
}

const LINK = `integrationId = @integrationId AND issueId = @issueId AND (@target IS NULL OR channelTarget = @target)`

/** Replaces what is remembered, and with a `ticketKey` that too; does nothing when nothing is remembered yet. */
export function updateMemory(db: Db, of: Linked, memory: unknown, ticketKey: string | null): void {
  const text = memoryJson(memory)
  tx(db, () => {
    const sql = `UPDATE issueMemory SET memory = @text, ticketKey = ifnull(@ticketKey, ticketKey) WHERE ${LINK}`
    const { changes } = prepared(db, sql).run({ ...of, text, ticketKey })
    if (changes === 0 || ticketKey === null) return
    prepared(db, 'UPDATE issue SET trackerKey = ? WHERE id = ?').run(ticketKey, of.issueId)
  })
}

/** The other side shows the issue's present status: it came from there. */
export function cancelSync(db: Db, of: Linked): void {
  prepared(db, `UPDATE issueMemory SET syncAt = NULL WHERE ${LINK}`).run(of)
}

/** What the other side calls the issue; null when it has no name for it. */
export function ticketKeyOf(db: Db, of: Linked): string | null {
  const sql = `SELECT ticketKey FROM issueMemory WHERE ticketKey IS NOT NULL AND ${LINK}`
  return prepared<[object], { ticketKey: string }>(db, sql).get(of)?.ticketKey ?? null
}

/** A channel that is to be shown its issue's status. */
export interface PendingSync extends IssueChannel {
  orgId: string
  syncAttempts: number
}

/** Looked through for those whose turn it is. */
const MAX_DUE = 10_000

/** Those that are due: organizations take turns, and so do the channels of each, the longest due first. */
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

/** It was shown `status`; when the issue has another one by now it stays due. */
export function markSynced(db: Db, channel: IssueChannel, status: IssueStatus): void {
  prepared(
    db,
    `UPDATE issueMemory SET syncAt = NULL, syncAttempts = 0
     WHERE ${KEY} AND (SELECT status FROM issue WHERE id = @issueId) = @status`,
  ).run({ ...pick(channel), status })
}

/** What is due is tried again at `at`; null: not before the next change. */
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

/** True when a call of this key was taken in the last 7 days. */
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
