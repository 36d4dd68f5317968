import { Badge, Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { listSessionsOptions } from '#client/@tanstack/react-query.gen'
import { endSession } from '#client/sdk.gen'
import type { Session } from '#client/types.gen'
import { invalidate } from '../../api/queries.ts'
import { Data } from '../../components/data-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'

/** The user's sessions. All except the current one can be ended. */
export function SessionsCard() {
  const query = useQuery(listSessionsOptions())
  const t = messages.settings.sessions
  const end = async ({ id }: Session) => {
    await endSession({ path: { id } })
    await invalidate('listSessions')
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
              { head: t.browser, cell: ({ browser }) => <Data>{browser ?? t.unknown}</Data> },
              { head: t.address, cell: ({ address }) => <Data>{address ?? t.unknown}</Data> },
              { head: t.opened, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
              { head: t.lastUsed, cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} /> },
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
