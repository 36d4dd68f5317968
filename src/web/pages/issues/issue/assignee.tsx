import { Select } from '@mantine/core'
import { changeIssue } from '#client/sdk.gen'
import type { IssueDetail } from '#client/types.gen'
import { memberName, useMemberNames, useMembers } from '../../../api/members.ts'
import { mutate } from '../../../api/mutate.ts'
import { useHasRole } from '../../../api/whoami.ts'
import { Data } from '../../../components/data-text.tsx'
import { messages } from '../../../messages.ts'

/** The member to whom an issue is assigned, and a field to change it. */
export function Assignee({ issue: { id, assigneeId = null } }: { issue: IssueDetail }) {
  const mayChange = useHasRole('member')
  const members = useMembers()
  const nameOf = useMemberNames()
  const t = messages.issue
  if (!mayChange) {
    const name = assigneeId === null ? null : (nameOf(assigneeId) ?? t.someMember)
    return name === null ? t.nobody : <Data>{name}</Data>
  }
  const active = members.filter(({ status }) => status === 'active')
  const options = active.map((member) => ({ value: member.id, label: memberName(member) ?? t.someMember }))
  return (
    <Select
      aria-label={t.assignee}
      placeholder={t.nobody}
      size="xs"
      data={options}
      value={assigneeId}
      onChange={(chosen) => void assign(id, chosen)}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t.unassign }}
      nothingFoundMessage={t.noMember}
      translate="no"
    />
  )
}

async function assign(id: string, assigneeId: string | null) {
  await mutate({
    optimistic: [
      { queryKey: [{ _id: 'getIssue', path: { id } }], update: (issue: IssueDetail) => ({ ...issue, assigneeId }) },
    ],
    invalidates: ['listIssues', 'investigateIssue'],
    send: () => changeIssue({ path: { id }, body: { assigneeId } }),
    message: assigneeId === null ? messages.issue.unassigned : messages.issue.assigned,
  })
}
