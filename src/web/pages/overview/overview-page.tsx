import { Button, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useHasRole } from '../../api/whoami.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { messages } from '../../messages.ts'
import { useSharedParams } from '../../url-state/use-search-params.ts'
import { AttentionCard } from './attention-card.tsx'
import classes from './overview.module.css'
import { overviewQueries } from './queries.ts'
import { ChangesCard, ScoresCard, ValueCard } from './score-change-value-cards.tsx'
import { VerdictCard } from './verdict-card.tsx'
import { VolumeCard } from './volume-card.tsx'

/** `/`: the overall verdict, then the most severe problems. */
export function OverviewPage() {
  const [{ project }] = useSharedParams()
  const { data } = useQuery(overviewQueries.domains(project))
  const isNew = project === '' && data?.domains.length === 0
  return (
    <>
      <PageHeader title={messages.shell.pages.overview} />
      {isNew ? (
        <FirstDomain />
      ) : (
        <div className={classes.grid}>
          <div className={classes.verdict}>
            <VerdictCard project={project} />
          </div>
          <div className={classes.attention}>
            <AttentionCard project={project} />
          </div>
          <div>
            <VolumeCard project={project} />
          </div>
          <div className={`column ${classes.side}`}>
            <ScoresCard project={project} />
            <ChangesCard project={project} />
            <ValueCard />
          </div>
        </div>
      )}
    </>
  )
}

/** Shown on a new server: a link to add the first domain. */
function FirstDomain() {
  const may = useHasRole('admin')
  const t = messages.overview.first
  return (
    <Paper maw={560}>
      <Stack gap="md" align="flex-start">
        <Title order={2}>{t.title}</Title>
        <Text>{t.text}</Text>
        {may ? (
          <Button component={Link} to="/domains/new">
            {t.add}
          </Button>
        ) : (
          <Text c="dimmed">
            {messages.shell.needsRole(messages.domains.restrictedAction, messages.displayNames.roles.admin)}
          </Text>
        )}
      </Stack>
    </Paper>
  )
}
