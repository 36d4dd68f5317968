import { alertTypes } from '../../alerts/types/index.ts'
import { describeKindGroups } from '../../alerts/types/type-descriptions.ts'
import { AppError } from '../../core/error.ts'
import type { IssueKind } from './kind.ts'
import { AUDIT, FLOW_TEST } from './run-kinds.ts'

/** Everything that raises issues, in the order of the documentation: types of alerts, then runs. */
export const issueKinds: readonly IssueKind[] = [...alertTypes, FLOW_TEST, AUDIT]

/** The wire name of each: `alertType` of an issue. */
export const ISSUE_KINDS: readonly string[] = issueKinds.map(({ kind }) => kind)

/** Returns what raised an issue. Throws `AppError('invalid')` for a kind that this version does not know. */
export function issueKindOf(kind: string): IssueKind {
  const found = issueKinds.find((candidate) => candidate.kind === kind)
  if (!found) throw new AppError('invalid', `alertType: ${kind} is not available in this version`)
  return found
}

/** Returns a text that describes all kinds: ``Of `a`: violating events; of `b`, `c`: windows that fired``. */
export function describeByKind(describe: (kind: IssueKind) => string): string {
  return describeKindGroups(issueKinds, describe)
}
