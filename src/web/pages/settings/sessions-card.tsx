import { Badge, Button, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { listSessionsOptions } from '#client/@tanstack/react-query.gen'
import { endSession } from '#client/sdk.gen'
import type { Session } from '#client/types.gen'
import { Ago } from '../../parts/ago.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { notices } from '../../shell/notices.ts'
import { words } from '../../words.ts'

/** Where the user is signed in; each of the other sessions can be ended. */
export function SessionsCard() {
  const query = useQuery(listSessionsOptions())
  const queries = useQueryClient()
  const said = words.settings.sessions
  const end = async ({ id }: Session) => {
    await endSession({ path: { id }, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listSessions' }] })
    notices.say(said.ended)
  }
  return (
    <>
      <Text fw={600} mb="sm">
        {said.title}
      </Text>
      <QueryState query={query}>
        {({ sessions }) => (
          <SimpleTable
            name={said.title}
            rows={sessions}
            keyOf={({ id }) => id}
            columns={[
              { head: said.opened, cell: ({ createdAt }) => <Ago at={createdAt} /> },
              { head: said.lastUsed, cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
              {
                head: words.settings.actions,
                isHeadHidden: true,
                cell: (session) =>
                  session.current ? (
                    <Badge variant="light">{said.current}</Badge>
                  ) : (
                    <Button size="compact-sm" variant="default" onClick={() => void end(session)}>
                      {said.end}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </QueryState>
    </>
  )
}
