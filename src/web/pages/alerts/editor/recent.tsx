import { Anchor, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listIssuesOptions } from '#client/@tanstack/react-query.gen'
import { messages } from '../../../messages.ts'
import { Ago } from '../../../parts/ago.tsx'
import { Card } from '../../../parts/card.tsx'
import { Sentence } from '../../../parts/data.tsx'
import { SeverityMark } from '../../../parts/severity-mark.tsx'
import classes from './editor.module.css'

const SHOWN = 5

/** Unresolved issues of the alert; renders nothing when there are none. */
export function Recent({ alertId }: { alertId: string }) {
  const { data } = useQuery(
    listIssuesOptions({ query: { alertId: [alertId], limit: SHOWN, status: ['open', 'acknowledged'] } }),
  )
  if (!data || data.issues.length === 0) return null
  return (
    <div className={classes.recent}>
      <Card title={messages.alert.recent}>
        <Stack gap="sm">
          {data.issues.map(({ id, severity, title, lastSeenAt }) => (
            <Group key={id} justify="space-between" gap="sm">
              <Group gap="sm" wrap="nowrap" miw={0}>
                <SeverityMark severity={severity} />
                <Anchor component={Link} to={`/issues/${id}`} fz="sm">
                  <Sentence>{title}</Sentence>
                </Anchor>
              </Group>
              <Ago at={lastSeenAt} isQuiet />
            </Group>
          ))}
        </Stack>
      </Card>
    </div>
  )
}
