import { Badge, Button, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { listSessionsOptions } from '#client/@tanstack/react-query.gen'
import { endSession } from '#client/sdk.gen'
import type { Session } from '#client/types.gen'
import { messages } from '../../messages.ts'
import { Ago } from '../../parts/ago.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { notices } from '../../shell/notices.ts'

/** The user's sessions; all but the current one can be ended. */
export function SessionsCard() {
  const query = useQuery(listSessionsOptions())
  const queries = useQueryClient()
  const t = messages.settings.sessions
  const end = async ({ id }: Session) => {
    await endSession({ path: { id }, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listSessions' }] })
    notices.say(t.ended)
  }
  return (
    <>
      <Text fw={600} mb="sm">
        {t.title}
      </Text>
      <QueryState query={query}>
        {({ sessions }) => (
          <SimpleTable
            name={t.title}
            rows={sessions}
            keyOf={({ id }) => id}
            columns={[
              { head: t.opened, cell: ({ createdAt }) => <Ago at={createdAt} /> },
              { head: t.lastUsed, cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
              {
                head: messages.settings.actions,
                isHeadHidden: true,
                cell: (session) =>
                  session.current ? (
                    <Badge variant="light">{t.current}</Badge>
                  ) : (
                    <Button size="compact-sm" variant="default" onClick={() => void end(session)}>
                      {t.end}
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
