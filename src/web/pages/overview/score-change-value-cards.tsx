import { Anchor, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { Card } from '../../components/card.tsx'
import { Data } from '../../components/data-text.tsx'
import { Help } from '../../components/help-tooltip.tsx'
import { Money, Num } from '../../components/numbers.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { CHANGE_MARKS } from '../changes/status-marks.ts'
import classes from './overview.module.css'
import { overviewQueries } from './queries.ts'

/** Path of the page that explains each score. */
const SCORES = { availability: '/signals', accuracy: '/issues', compliance: '/compliance' } as const
const NAMES = Object.keys(SCORES) as (keyof typeof SCORES)[]

/** The three scores, each with an explanation. */
export function ScoresCard({ project }: { project: string }) {
  const query = useQuery(overviewQueries.scores(project))
  return (
    <Card title={messages.overview.scores} actions={<Help term="score">{messages.overview.scoreHelp}</Help>}>
      <QueryState query={query}>
        {(scores) => (
          <Stack gap="md">
            {NAMES.map((name) => (
              <Group key={name} gap="md" wrap="nowrap" align="flex-start">
                <Text fz={20} fw={600} w={40} ta="end" component="div">
                  <Num value={Math.round(scores[name].score)} />
                </Text>
                <div>
                  <Anchor component={Link} to={SCORES[name]} fw={600} c="inherit">
                    {messages.overview.score[name]}
                  </Anchor>
                  <Text fz="xs" c="dimmed">
                    <Data>{scores[name].detail}</Data>
                  </Text>
                </div>
              </Group>
            ))}
          </Stack>
        )}
      </QueryState>
    </Card>
  )
}

/** Releases and container versions with their verdicts, most recent first. */
export function ChangesCard({ project }: { project: string }) {
  const query = useQuery(overviewQueries.changes(project))
  const t = messages.overview
  const compare = query.data && query.data.changes.length > 0 && (
    <Anchor component={Link} to={PAGE_PATHS.changes.compare} fz="sm">
      {t.compareReleases}
    </Anchor>
  )
  return (
    <Card title={t.changes} actions={compare}>
      <QueryState query={query} isEmpty={({ changes }) => changes.length === 0} empty={<Text>{t.noChanges}</Text>}>
        {({ changes }) => (
          <ul className={classes.list}>
            {changes.map(({ id, title, domain, occurredAt, status }) => (
              <li key={id}>
                <Group justify="space-between" wrap="nowrap" gap="md">
                  <div>
                    <Anchor component={Link} to={`/changes/${id}`} className={classes.title}>
                      <Data>{title}</Data>
                    </Anchor>
                    <div className={classes.under}>
                      <Data>{domain}</Data> · <TimeAgo at={occurredAt} />
                    </div>
                  </div>
                  <StatusMark status={CHANGE_MARKS[status]} word={messages.changes.statuses[status]} />
                </Group>
              </li>
            ))}
          </ul>
        )}
      </QueryState>
    </Card>
  )
}

/** The estimated cost of resolved and open issues. */
export function ValueCard() {
  const query = useQuery(overviewQueries.value())
  const t = messages.overview
  return (
    <Card title={t.value}>
      <QueryState query={query} isEmpty={({ valuedAlerts }) => valuedAlerts === 0} empty={<Text>{t.noValue}</Text>}>
        {({ resolvedValue30d, openValue }) => (
          <>
            <Text fz={20} fw={600} component="div">
              <Anchor
                component={Link}
                to="/issues"
                search={{ status: 'resolved', sort: 'impactValue' } as never}
                c="inherit"
                fz="inherit"
              >
                <Money value={resolvedValue30d} />
              </Anchor>
            </Text>
            <Text fz="sm" c="dimmed" component="div">
              {t.resolved} ·{' '}
              <Anchor
                component={Link}
                to="/issues"
                search={{ sort: 'impactValue' } as never}
                fz="sm"
                underline="always"
              >
                <Money value={openValue} /> {t.open}
              </Anchor>
            </Text>
          </>
        )}
      </QueryState>
    </Card>
  )
}
