import { Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { getAlertOptions } from '#client/@tanstack/react-query.gen'
import { STALE_MS } from '../../../api/queries.ts'
import { Data } from '../../../components/data-text.tsx'
import { PathLink } from '../../../components/path-link.tsx'
import { messages } from '../../../messages.ts'

/** The alerts whose rules an event has violated, with links to their issues. */
export function ViolatedRules({ alertIds }: { alertIds: readonly string[] }) {
  const t = messages.explore.events
  return (
    <Stack gap="xs" component="section">
      <Title order={3}>{t.violated}</Title>
      <ul>
        {alertIds.map((id) => (
          <li key={id}>
            <ViolatedRule id={id} />
          </li>
        ))}
      </ul>
    </Stack>
  )
}

function ViolatedRule({ id }: { id: string }) {
  const { data } = useQuery({ ...getAlertOptions({ path: { id } }), staleTime: STALE_MS.dictionary })
  const t = messages.explore.events
  return (
    <>
      <PathLink path={`/alerts/${id}`}>
        <Data>{data?.name ?? id}</Data>
      </PathLink>
      {' · '}
      <Link to="/issues" search={{ alertId: id } as never}>
        {t.issues}
      </Link>
    </>
  )
}
