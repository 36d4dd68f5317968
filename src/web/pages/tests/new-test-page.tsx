import { Paper } from '@mantine/core'
import { useMay } from '../../api/who.ts'
import { messages } from '../../messages.ts'
import { MayLine } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { TestForm } from './test-form.tsx'

/** `/tests/new`: a recording, and the tags that must fire. */
export function NewTestPage() {
  const may = useMay('member')
  return (
    <>
      <PageHead title={messages.tests.newTest} />
      <MayLine needs="member" what={messages.tests.restrictedAction} />
      {may && (
        <Paper>
          <TestForm test={null} />
        </Paper>
      )}
    </>
  )
}
