import type { CauseList, Issue } from '#client/types.gen'

type Cause = CauseList['causes'][number]

/** Issues with the same likely cause, or a single issue. */
export interface Group {
  cause: Cause | null
  issues: Issue[]
}

/**
 * Groups issues by likely cause. Groups are ordered by their most severe issue. Causes with a single issue are ignored,
 * as is the cause `tag`, which means that there is no other cause.
 */
export function groupByCause(issues: readonly Issue[], causes: readonly Cause[]): Group[] {
  const causeOf = new Map<string, Cause>()
  for (const cause of causes.toReversed()) {
    if (cause.kind !== 'tag' && cause.issueIds.length > 1) for (const id of cause.issueIds) causeOf.set(id, cause)
  }
  const groups: Group[] = []
  const byCause = new Map<Cause, Group>()
  for (const issue of issues) {
    const cause = causeOf.get(issue.id) ?? null
    const group = cause && byCause.get(cause)
    if (group) group.issues.push(issue)
    else {
      const added = { cause, issues: [issue] }
      groups.push(added)
      if (cause) byCause.set(cause, added)
    }
  }
  return groups
}
