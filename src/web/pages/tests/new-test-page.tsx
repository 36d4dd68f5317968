import { Paper } from '@mantine/core'
import { useHasRole } from '../../api/whoami.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { messages } from '../../messages.ts'
import { TestForm } from './test-form.tsx'

/** `/tests/new`: a form for a recording and the tags that must fire. */
export function NewTestPage() {
  const may = useHasRole('member')
  return (
    <>
      <PageHeader title={messages.tests.newTest} />
      <RoleNotice needs="member" what={messages.tests.restrictedAction} />
      {may && (
        <Paper>
          <TestForm test={null} />
        </Paper>
      )}
    </>
  )
}
