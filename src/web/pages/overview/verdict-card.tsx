import { Button, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { CauseList, Signal } from '#client/types.gen'
import { useLive } from '../../api/change-stream.ts'
import { Data, Dot, Sentence } from '../../components/data-text.tsx'
import { ErrorNotice } from '../../components/query-state.tsx'
import { SeverityMark } from '../../components/severity-mark.tsx'
import { DateTime, TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import classes from './overview.module.css'
import { overviewQueries } from './queries.ts'
import { badDomains, type Situation, type Verdict, verdictOf } from './verdict.ts'

/** The verdict in one sentence. */
export function VerdictCard({ project }: { project: string }) {
  const issues = useQuery(overviewQueries.issues(project))
  const domains = useQuery(overviewQueries.domains(project))
  const signals = useQuery(overviewQueries.signals(project))
  const causes = useQuery(overviewQueries.causes(project))
  const { pulse } = useLive()
  const failed = [issues, domains].find(({ data, error }) => data === undefined && error !== null)
  if (failed)
    return <ErrorNotice refusal={failed.error} retry={() => void failed.refetch()} isAsking={failed.isFetching} />
  if (!issues.data || !domains.data) {
    return (
      <section aria-label={messages.overview.verdict} aria-busy="true">
        <Skeleton height={108} />
      </section>
    )
  }
  const verdict = verdictOf({
    openCounts: issues.data.openCounts,
    issues: issues.data.issues,
    domains: domains.data.domains,
    signals: signalsOf(signals.data?.signals ?? []),
    gapSince: pulse?.gapSince ?? null,
  })
  const { tone, headline, sentence, acts } = verdictView(verdict, {
    badDomains: badDomains(issues.data.issues, domains.data.domains.length),
    domains: domains.data.domains.length,
    causes: causes.data?.causes ?? [],
  })
  return (
    <Paper component="section" aria-label={messages.overview.verdict} className={classes.edge} data-tone={tone}>
      <Group justify="space-between" gap="md">
        <Stack gap={4} flex="1 1 320px" miw={0}>
          <Title order={2} fz={18}>
            {headline}
          </Title>
          {sentence && (
            <Text component="div" c="var(--tw-text2)" maw="72ch">
              {sentence}
            </Text>
          )}
        </Stack>
        {acts && <Group gap="sm">{acts}</Group>}
      </Group>
    </Paper>
  )
}

/** Context of a verdict: the number of affected domains and the likely causes. */
interface VerdictContext {
  badDomains: number
  domains: number
  causes: CauseList['causes']
}

/** Numbers of monitored signals and of signals that are still learning. */
function signalsOf(all: readonly Signal[]): Situation['signals'] {
  const judged = all.filter(({ mode }) => mode === 'auto')
  const learning = judged.filter(({ state }) => state === 'learning')
  const moments = learning.flatMap(({ learningUntil }) => learningUntil ?? [])
  return {
    watched: judged.length,
    learning: learning.length,
    learnedAt: moments.length === 0 ? null : Math.max(...moments),
  }
}

interface VerdictView {
  tone: 'critical' | 'high' | 'low' | 'ok'
  headline: string
  sentence: ReactNode
  acts: ReactNode
}

const changesLink = () => (
  <Button component={Link} to="/changes" variant="default">
    {messages.overview.whatChanged}
  </Button>
)

function verdictView(verdict: Verdict, { badDomains, domains, causes }: VerdictContext): VerdictView {
  const t = messages.overview
  switch (verdict.is) {
    case 'behind':
      return { tone: 'critical', headline: t.behind, sentence: since(verdict.since), acts: null }
    case 'critical':
    case 'high':
    case 'small':
      return issueView(verdict, { badDomains, domains, causes })
    case 'silent':
      return {
        tone: 'high',
        headline: t.silent(verdict.domains.length),
        sentence: verdict.domains.map(({ id, name, lastEventAt }) => (
          <div key={id}>
            <Data>{name}</Data>
            <Dot />
            {t.lastEvent} <TimeAgo at={lastEventAt} />
          </div>
        )),
        acts: null,
      }
    case 'waiting':
      return {
        tone: 'low',
        headline: t.waiting,
        sentence: <Data>{verdict.domain.name}</Data>,
        acts: (
          <Button component={Link} to="/domains/$id/setup" params={{ id: verdict.domain.id } as never}>
            {t.openDomain}
          </Button>
        ),
      }
    case 'learning':
      return {
        tone: 'low',
        headline: t.learning,
        acts: null,
        sentence: verdict.until !== null && (
          <>
            {t.readyBy} <DateTime at={verdict.until} />
          </>
        ),
      }
    case 'empty':
      return {
        tone: 'low',
        headline: t.empty,
        sentence: null,
        acts: (
          <Button component={Link} to="/settings/projects" variant="default">
            {t.toProjects}
          </Button>
        ),
      }
    case 'well':
      return {
        tone: 'ok',
        headline: verdict.signals > 0 ? t.allGood(verdict.signals) : t.allGoodNoSignals,
        sentence: verdict.lastEventAt !== null && (
          <>
            {t.lastEvent} <TimeAgo at={verdict.lastEventAt} />
          </>
        ),
        acts: null,
      }
  }
}

const since = (at: number) => (
  <>
    {messages.overview.started} <TimeAgo at={at} />
  </>
)

type IssueVerdict = Extract<Verdict, { is: 'critical' | 'high' | 'small' }>

function issueView(verdict: IssueVerdict, { badDomains, domains, causes }: VerdictContext): VerdictView {
  const t = messages.overview
  const { worst, problems } = verdict
  const more = verdict.is === 'small' ? 0 : verdict.more
  // The cause `tag` only means that there is no other cause.
  const cause = causes.find(({ kind, issueIds }) => kind !== 'tag' && issueIds.includes(worst.id))
  return {
    tone: verdict.is === 'small' ? 'low' : verdict.is,
    headline: verdict.is === 'small' ? t.small(problems) : t[verdict.is](problems, badDomains, domains),
    sentence: (
      <>
        <SeverityMark severity={worst.severity} /> <Sentence>{worst.title}</Sentence>
        <div>
          {since(worst.firstSeenAt)}
          {more > 0 && ` · ${t.moreOpen(more)}`}
        </div>
        {cause && (
          <div>
            {t.likelyCause} <Sentence>{cause.title}</Sentence>
          </div>
        )}
      </>
    ),
    acts: (
      <>
        {changesLink()}
        <Button component={Link} to="/issues/$id" params={{ id: worst.id } as never}>
          {t.openIssue}
        </Button>
      </>
    ),
  }
}
