import { Alert, Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { getAlertOptions, listFormsOptions } from '#client/@tanstack/react-query.gen'
import { STALE_MS } from '../../../api/queries.ts'
import { ManagedNotice } from '../../../components/managed-by.tsx'
import { NotFoundNotice } from '../../../components/not-found-notice.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { messages } from '../../../messages.ts'
import { draftOf } from './convert-alert-draft.ts'
import { Editor } from './editor.tsx'

/** `/alerts/{id}`: edits an alert. */
export function AlertPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const alert = useQuery(getAlertOptions({ path: { id } }))
  const forms = useQuery({ ...listFormsOptions(), staleTime: STALE_MS.dictionary })
  return (
    <QueryState query={alert} title={messages.shell.pages.alerts} notFound={<NoSuchAlert />}>
      {(saved) => (
        <QueryState query={forms}>
          {(forms) => (
            <>
              {saved.lateShare !== undefined && (
                <Alert color="yellow" mb="md">
                  {messages.alert.evaluatedSeparately(saved.lateShare)}
                </Alert>
              )}
              <ManagedNotice managedBy={saved.managedBy} />
              <Editor key={saved.id} forms={forms} initial={draftOf(saved)} saved={saved} />
            </>
          )}
        </QueryState>
      )}
    </QueryState>
  )
}

const NoSuchAlert = () => (
  <NotFoundNotice sentence={messages.alert.notFound}>
    <Anchor component={Link} to="/alerts">
      {messages.alert.toList}
    </Anchor>
  </NotFoundNotice>
)
