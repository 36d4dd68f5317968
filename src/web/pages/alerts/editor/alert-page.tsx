import { Alert, Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { getAlertOptions, listFormsOptions } from '#client/@tanstack/react-query.gen'
import { FRESH } from '../../../api/queries.ts'
import { messages } from '../../../messages.ts'
import { NoSuch } from '../../../parts/no-such.tsx'
import { QueryState } from '../../../parts/query-state.tsx'
import { draftOf } from './draft-input.ts'
import { Editor } from './editor.tsx'

/** `/alerts/{id}`: edits an alert. */
export function AlertPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const alert = useQuery(getAlertOptions({ path: { id } }))
  const forms = useQuery({ ...listFormsOptions(), staleTime: FRESH.dictionary })
  return (
    <QueryState query={alert} room={messages.shell.pages.alerts} gone={<NoSuchAlert />}>
      {(saved) => (
        <QueryState query={forms}>
          {(forms) => (
            <>
              {saved.lateShare !== undefined && (
                <Alert color="yellow" mb="md">
                  {messages.alert.judgedLate(saved.lateShare)}
                </Alert>
              )}
              <Editor key={saved.id} forms={forms} initial={draftOf(saved)} saved={saved} />
            </>
          )}
        </QueryState>
      )}
    </QueryState>
  )
}

const NoSuchAlert = () => (
  <NoSuch sentence={messages.alert.notFound}>
    <Anchor component={Link} to="/alerts">
      {messages.alert.toList}
    </Anchor>
  </NoSuch>
)
