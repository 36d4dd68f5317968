import type { AlertChannel } from '../alerts/alert.ts'
import type { Finding } from '../alerts/finding.ts'
import { projectIdOf } from '../domains/store.ts'
import { labelIdsOf } from '../labels/store.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { firstMatch, type MatchedFacts, type OwnershipMatch } from './ownership-rule.ts'

/** A rule as stored, with encrypted channel targets. */
export interface StoredRule {
  match: OwnershipMatch
  assigneeId: string | null
  channels: AlertChannel[]
}

type Field = keyof OwnershipMatch
const FIELDS = ['domainId', 'projectId', 'vendor', 'labelId', 'pathPrefix'] as const satisfies readonly Field[]

type RuleRow = Record<Field, string | null> & { assigneeId: string | null; channels: string }

/** Returns the organization's rules in order of precedence. */
export function ownershipRules(db: Db, orgId: string): StoredRule[] {
  return prepared<[string], RuleRow>(
    db,
    `SELECT ${FIELDS.join(', ')}, assigneeId, channels FROM ownershipRule WHERE orgId = ? ORDER BY position`,
  )
    .all(orgId)
    .map((row) => ({
      match: Object.fromEntries(FIELDS.flatMap((field) => (row[field] === null ? [] : [[field, row[field]]]))),
      assigneeId: row.assigneeId,
      channels: JSON.parse(row.channels),
    }))
}

/** Replaces the organization's rules. Their fields must have been checked. */
export function replaceOwnershipRules(db: Db, orgId: string, rules: readonly StoredRule[]): void {
  tx(db, () => {
    prepared(db, 'DELETE FROM ownershipRule WHERE orgId = ?').run(orgId)
    const insert = prepared(
      db,
      `INSERT INTO ownershipRule (orgId, position, ${FIELDS.join(', ')}, assigneeId, channels)
       VALUES (?, ?, ${FIELDS.map(() => '?').join(', ')}, ?, ?)`,
    )
    for (const [position, { match, assigneeId, channels }] of rules.entries()) {
      const fields = FIELDS.map((field) => match[field] ?? null)
      insert.run(orgId, position, ...fields, assigneeId, JSON.stringify(channels))
    }
  })
}

/** Issue data that determines its rule. */
interface RuledIssue {
  orgId: string
  domainId: string | null
}

/** Returns the first rule that the issue matches, with its position (counted from 1); null if there is none. */
export function ruleOf(db: Db, issue: RuledIssue, finding: Finding | null): (StoredRule & { position: number }) | null {
  const rules = ownershipRules(db, issue.orgId)
  if (rules.length === 0) return null
  const index = firstMatch(rules, factsOf(db, issue, finding))
  const rule = rules[index]
  return rule ? { ...rule, position: index + 1 } : null
}

function factsOf(db: Db, { orgId, domainId }: RuledIssue, finding: Finding | null): MatchedFacts {
  const path = finding?.sample?.path
  const vendor = finding?.vendor ?? null
  return {
    domainId,
    projectId: domainId === null ? null : projectIdOf(db, domainId),
    vendor,
    labelIds: vendor === null ? [] : labelIdsOf(db, orgId, { vendor, event: finding?.event ?? '' }),
    path: typeof path === 'string' ? path : null,
  }
}
