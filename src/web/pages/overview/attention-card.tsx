import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { CauseList, Issue } from '#client/types.gen'
import { useHasRole } from '../../api/whoami.ts'
import { Card } from '../../components/card.tsx'
import { Data, Dot, Sentence } from '../../components/data-text.tsx'
import { AlertName, IssueTitle } from '../../components/issue-title.tsx'
import { MaintenanceNote } from '../../components/maintenance-note.tsx'
import { Money } from '../../components/numbers.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { SeverityMark } from '../../components/severity-mark.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { groupByCause } from './group-by-cause.ts'
import classes from './overview.module.css'
import { overviewQueries } from './queries.ts'

/** The most severe open issues, grouped by likely cause. */
export function AttentionCard({ project }: { project: string }) {
  const query = useQuery(overviewQueries.issues(project))
  const causes = useQuery(overviewQueries.causes(project))
  const open = Object.values(query.data?.openCounts ?? {}).reduce((sum, count) => sum + count, 0)
  const all = open > 0 && (
    <Anchor component={Link} to="/issues" fz="sm">
      {messages.overview.allIssues(open)}
    </Anchor>
  )
  return (
    <Card title={messages.overview.attention} actions={all}>
      <QueryState query={query} isEmpty={({ issues }) => issues.length === 0} empty={<NoOpenIssues />}>
        {({ issues }) => (
          <>
            <ul className={classes.list}>
              {groupByCause(issues, causes.data?.causes ?? []).map(({ cause, issues }) => (
                <li key={issues[0]?.id}>{cause ? <CauseGroup cause={cause} issues={issues} /> : issues.map(toRow)}</li>
              ))}
            </ul>
            <FirstAlert />
          </>
        )}
      </QueryState>
    </Card>
  )
}

const toRow = (issue: Issue) => <Row key={issue.id} issue={issue} />

interface GroupProps {
  cause: CauseList['causes'][number]
  issues: readonly Issue[]
}

function CauseGroup({ cause, issues }: GroupProps) {
  return (
    <div className={classes.group}>
      <div>
        <Text fz="sm" fw={600} component="span">
          {messages.overview.oneCause(cause.issueIds.length)}
        </Text>{' '}
        <Sentence className={classes.under}>{cause.title}</Sentence>
      </div>
      <ul>
        {issues.map((issue) => (
          <li key={issue.id}>
            <Row issue={issue} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function Row({ issue }: { issue: Issue }) {
  const { id, title, severity, alertType, hosts, impactValue, lastSeenAt, maintenance } = issue
  const [host] = hosts ?? []
  return (
    <div className={classes.issue}>
      <SeverityMark severity={severity} />
      <div>
        <Anchor component={Link} to={`/issues/${id}`} className={classes.title}>
          <IssueTitle title={title} />
        </Anchor>
        <div className={classes.under}>
          <AlertName title={title} after={<Dot />} />
          {host && (
            <>
              <Data>{host}</Data> ·{' '}
            </>
          )}
          {messages.displayNames.alertTypes[alertType]}
        </div>
        <MaintenanceNote maintenance={maintenance} className={classes.under} />
      </div>
      <Money value={impactValue} />
      <TimeAgo at={lastSeenAt} />
    </div>
  )
}

/** Shown when there are no open issues: templates if there are no alerts yet, otherwise a message. */
function NoOpenIssues() {
  const { data } = useQuery(overviewQueries.alerts())
  return data?.alerts.length === 0 ? <FirstAlert /> : <Text>{messages.overview.noOpenIssues}</Text>
}

/** Three templates, shown when there are no alerts. */
function FirstAlert() {
  const { data } = useQuery(overviewQueries.alerts())
  const may = useHasRole('member')
  const t = messages.overview
  if (data?.alerts.length !== 0) return null
  return (
    <Stack gap="sm" className={classes.first}>
      <Text>{may ? t.noAlerts : t.noAlertsYet}</Text>
      {may && (
        <Group gap="sm">
          {(['stopped', 'blank', 'personal'] as const).map((template) => (
            <Button key={template} component={Link} to="/alerts/new" search={{ template } as never} variant="default">
              {t.templates[template]}
            </Button>
          ))}
        </Group>
      )}
    </Stack>
  )
}
