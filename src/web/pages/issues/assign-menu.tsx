import { Button, Menu } from '@mantine/core'
import { changeIssues } from '#client/sdk.gen'
import type { Issue, IssueList } from '#client/types.gen'
import { MAX_CHANGED_ISSUES } from '../../../contract/limits.ts'
import { memberName, useMembers } from '../../api/members.ts'
import { type CacheUpdate, mutate } from '../../api/mutate.ts'
import { updatePages } from '../../api/pagination.ts'
import { useWhoami } from '../../api/whoami.ts'
import { Data } from '../../components/data-text.tsx'
import { messages } from '../../messages.ts'

type Assigned = Pick<Issue, 'id' | 'assigneeId'>

/** A button with a menu that assigns the selected issues to a member, or to nobody. */
export function AssignMenu({ issues }: { issues: readonly Issue[] }) {
  const own = useWhoami()?.userId
  const active = useMembers().filter(({ status }) => status === 'active')
  const members = active.toSorted((a, b) => Number(b.id === own) - Number(a.id === own))
  const t = messages.issues
  return (
    <Menu position="top" width={240} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button variant="default">{t.assign}</Button>
      </Menu.Target>
      <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
        <Menu.Label>{t.assignee}</Menu.Label>
        {members.map((member) => (
          <Menu.Item key={member.id} onClick={() => void assign(issues, member.id)}>
            <Data>{memberName(member) ?? messages.issue.someMember}</Data>
            {member.id === own && ` ${t.you}`}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void assign(issues, null)}>{t.unassigned}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Assigns issues to a member; null: to nobody. */
async function assign(issues: readonly Issue[], assigneeId: string | null) {
  const changed = issues.filter((issue) => (issue.assigneeId ?? null) !== assigneeId).slice(0, MAX_CHANGED_ISSUES)
  if (changed.length === 0) return
  const unassigned = assigneeId === null
  await save(
    changed.map(({ id }) => ({ id, assigneeId })),
    (failed) => {
      const count = changed.length - failed.length
      return unassigned ? messages.issues.unassignedCount(count) : messages.issues.assignedCount(count)
    },
    () => void save(changed, () => messages.issues.undone(changed.length)),
  )
}

function save(to: readonly Assigned[], message: (failed: readonly unknown[]) => string, undo?: () => void) {
  const assignees = new Map(to.map(({ id, assigneeId = null }) => [id, assigneeId]))
  const update = <T extends Assigned>(issue: T): T =>
    assignees.has(issue.id) ? { ...issue, assigneeId: assignees.get(issue.id) } : issue
  const optimistic: CacheUpdate[] = [
    {
      queryKey: [{ _id: 'listIssues' }],
      update: updatePages((list: IssueList) => ({ ...list, issues: list.issues.map(update) })),
    },
    { queryKey: [{ _id: 'getIssue' }], update },
  ]
  return mutate({
    optimistic,
    invalidates: ['investigateIssue'],
    send: async () => {
      const failed = []
      for (const [assigneeId, ids] of Map.groupBy(assignees.keys(), (id) => assignees.get(id) ?? null)) {
        failed.push(...(await changeIssues({ body: { ids, assigneeId } })).data.errors)
      }
      return failed
    },
    message,
    ...(undo && { undo }),
  })
}
