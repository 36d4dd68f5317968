import type { AlertChannel } from '../alerts/alert.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { RECORD_RETENTION_MS, type Retention } from '../store/retention.ts'
import { type CaptureCount, sumOf } from './capture-count.ts'
import type { CaptureRule } from './capture-rule.ts'
import { type CaptureState, INITIAL_STATE } from './judge-rule.ts'

/** A rule with its organization and the result of its last evaluation. */
export interface StoredRule extends CaptureRule {
  orgId: string
  /** Orders that settled before this are counted; 0: none. */
  countedTo: Instant
  state: CaptureState
}

interface RuleRow extends Omit<StoredRule, 'channels' | 'enabled' | 'state'> {
  channels: string
  enabled: number
  state: string
}

const COLUMNS =
  'id, orgId, domainId, vendor, minCapturePct, maxDuplicates, maxValueDeviationPct, settlingMinutes, channels, enabled, countedTo, state'

const ruleOf = ({ channels, enabled, state, ...row }: RuleRow): StoredRule => ({
  ...row,
  channels: JSON.parse(channels) as AlertChannel[],
  enabled: enabled === 1,
  state: JSON.parse(state) as CaptureState,
})

/** Returns the rules of an organization in their order. */
export function rulesOf(db: Db, orgId: string): StoredRule[] {
  const find = prepared<[string], RuleRow>(
    db,
    `SELECT ${COLUMNS} FROM orderCaptureRule WHERE orgId = ? ORDER BY position`,
  )
  return find.all(orgId).map(ruleOf)
}

/** Returns the enabled rules of all organizations, those of a domain one after another. */
export function enabledRules(db: Db): StoredRule[] {
  const find = prepared<[], RuleRow>(
    db,
    `SELECT ${COLUMNS} FROM orderCaptureRule WHERE enabled = 1 ORDER BY domainId, position`,
  )
  return find.all().map(ruleOf)
}

/** Returns a rule; null when it was deleted. */
export function findRule(db: Db, id: string): StoredRule | null {
  const row = prepared<[string], RuleRow>(db, `SELECT ${COLUMNS} FROM orderCaptureRule WHERE id = ?`).get(id)
  return row ? ruleOf(row) : null
}

/**
 * Replaces the rules of an organization. Counts of a rule are kept unless its domain, vendor, settling time or tolerance
 * changed. Returns the ids of deleted rules.
 */
export function replaceRules(db: Db, orgId: string, rules: readonly CaptureRule[]): string[] {
  const before = new Map(rulesOf(db, orgId).map((rule) => [rule.id, rule]))
  const kept = new Set(rules.map(({ id }) => id))
  const deleted = [...before.keys()].filter((id) => !kept.has(id))
  const save = prepared<[object]>(
    db,
    `INSERT INTO orderCaptureRule (${COLUMNS}, position)
     VALUES (@id, @orgId, @domainId, @vendor, @minCapturePct, @maxDuplicates, @maxValueDeviationPct, @settlingMinutes,
       @channels, @enabled, @countedTo, @state, @position)
     ON CONFLICT (id) DO UPDATE SET domainId = excluded.domainId, vendor = excluded.vendor,
       minCapturePct = excluded.minCapturePct, maxDuplicates = excluded.maxDuplicates,
       maxValueDeviationPct = excluded.maxValueDeviationPct, settlingMinutes = excluded.settlingMinutes,
       channels = excluded.channels, enabled = excluded.enabled, countedTo = excluded.countedTo, state = excluded.state,
       position = excluded.position`,
  )
  tx(db, () => {
    for (const id of deleted) prepared(db, 'DELETE FROM orderCaptureRule WHERE id = ?').run(id)
    for (const [position, rule] of rules.entries()) {
      const old = before.get(rule.id)
      const isSame = old !== undefined && countsSame(old, rule)
      if (old && !isSame) prepared(db, 'DELETE FROM orderCaptureCount WHERE ruleId = ?').run(rule.id)
      save.run({
        ...rule,
        orgId,
        position,
        channels: JSON.stringify(rule.channels),
        enabled: rule.enabled ? 1 : 0,
        countedTo: isSame ? old.countedTo : 0,
        state: JSON.stringify(isSame ? old.state : INITIAL_STATE),
      })
    }
  })
  return deleted
}

/** True when the stored counts of a rule are valid for its new settings. */
export const countsSame = (a: CaptureRule, b: CaptureRule): boolean =>
  a.domainId === b.domainId &&
  a.vendor === b.vendor &&
  a.settlingMinutes === b.settlingMinutes &&
  a.maxValueDeviationPct === b.maxValueDeviationPct

/** Returns the counts of a rule that begin at or after `from`, oldest first. */
export function countsSince(db: Db, ruleId: string, from: Instant): CaptureCount[] {
  const find = prepared<[string, Instant], CaptureCount>(
    db,
    `SELECT startAt, orders, captured, duplicated, duplicates, valued, deviating, shopValue, reportedValue, value,
       capturedValue, delayMs
     FROM orderCaptureCount WHERE ruleId = ? AND startAt >= ? ORDER BY startAt`,
  )
  return find.all(ruleId, from)
}

/** Replaces the counts of a rule in these hours. */
export function replaceHours(db: Db, ruleId: string, hours: Iterable<Instant>, counts: readonly CaptureCount[]): void {
  const remove = prepared(db, 'DELETE FROM orderCaptureCount WHERE ruleId = ? AND startAt >= ? AND startAt < ?')
  const save = prepared<[object]>(
    db,
    `INSERT INTO orderCaptureCount VALUES (@ruleId, @startAt, @orders, @captured, @duplicated, @duplicates, @valued,
       @deviating, @shopValue, @reportedValue, @value, @capturedValue, @delayMs)`,
  )
  tx(db, () => {
    for (const hour of hours) remove.run(ruleId, hour, hour + HOUR_MS)
    for (const count of counts) save.run({ ...count, ruleId })
  })
}

/** Time for which counts are stored per 5 minutes. */
export const FINE_MS = 2 * DAY_MS

/** Merges the counts of hours that are older than two days. */
export function mergeHours(db: Db, ruleId: string, now: Instant): void {
  const before = Math.floor((now - FINE_MS) / HOUR_MS) * HOUR_MS
  // Looks back one day, so that an hour is merged even if the program was not running for some time.
  const rows = prepared<[string, Instant, Instant], CaptureCount>(
    db,
    'SELECT * FROM orderCaptureCount WHERE ruleId = ? AND startAt >= ? AND startAt < ? ORDER BY startAt',
  ).all(ruleId, before - DAY_MS, before)
  const hours = Map.groupBy(rows, ({ startAt }) => Math.floor(startAt / HOUR_MS) * HOUR_MS)
  for (const [hour, counts] of hours) {
    if (counts.length === 1 && counts[0]?.startAt === hour) continue
    replaceHours(db, ruleId, [hour], [sumOf(hour, counts)])
  }
}

/** Stores the result of an evaluation. */
export function saveEvaluation(db: Db, id: string, countedTo: Instant, state: CaptureState): void {
  prepared(db, 'UPDATE orderCaptureRule SET countedTo = ?, state = ? WHERE id = ?').run(
    countedTo,
    JSON.stringify(state),
    id,
  )
}

/** Deletes counts older than the retention period. */
export const removeOldCounts: Retention = (db, now) => {
  db.prepare('DELETE FROM orderCaptureCount WHERE startAt < ?').run(now - RECORD_RETENTION_MS)
}
