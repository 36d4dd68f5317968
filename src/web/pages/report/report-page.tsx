import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { getWeeklyReportOptions } from '#client/@tanstack/react-query.gen'
import type { WeeklyReport } from '#client/types.gen'
import { STALE_MS } from '../../api/queries.ts'
import { useWhoami } from '../../api/whoami.ts'
import { Data, Dot } from '../../components/data-text.tsx'
import { formatSpan } from '../../components/format.ts'
import { Duration, Money, Num } from '../../components/numbers.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { useTimeZone } from '../../components/use-time-zone.ts'
import { messages } from '../../messages.ts'
import { useSearchParams, useSharedParams } from '../../url-state/use-search-params.ts'
import classes from './report.module.css'
import { ChangeTable, ScoreTable, WorstTable } from './report-tables.tsx'
import { REPORT, weekOf } from './week-param.ts'

const BandChart = lazy(async () => ({ default: (await import('../../charts/band-chart.tsx')).BandChart }))

const CHART_PX = 180
const DAY_MS = 86_400_000

/** `/report`: a summary of a week, to print or save as PDF. */
export function ReportPage() {
  const [{ week }] = useSearchParams(REPORT)
  const [{ project }] = useSharedParams()
  const query = useQuery({
    ...getWeeklyReportOptions({ query: { ...(week && { week }), ...(project && { projectId: project }) } }),
    staleTime: STALE_MS.dictionary,
  })
  return (
    <div className={classes.report}>
      <PageHeader title={messages.shell.pages.report}>
        <Button className="screen-only" onClick={() => print()}>
          {messages.report.print}
        </Button>
      </PageHeader>
      <QueryState query={query}>{(report) => <Report report={report} />}</QueryState>
    </div>
  )
}

function Report({ report }: { report: WeeklyReport }) {
  const t = messages.report
  const { issues, value, signals } = report
  return (
    <Stack gap="lg">
      <Week report={report} />
      <Text fz="lg">
        {issues.opened === 0 && issues.open === 0
          ? t.nothingBroke
          : t.summary(issues.opened, issues.resolved, issues.open)}
      </Text>
      <Part title={t.whatBroke}>
        <WorstTable issues={report.worst} />
      </Part>
      <div className={classes.columns}>
        <Part title={t.issues}>
          <Facts
            facts={[
              [t.opened, <Num key="" value={issues.opened} />],
              [t.resolved, <Num key="" value={issues.resolved} />],
              [t.open, <Num key="" value={issues.open} />],
              [t.median, <Duration key="" ms={issues.medianResolveMs} />],
            ]}
          />
        </Part>
        <Part title={t.valueTitle}>
          <Facts
            facts={[
              [t.valueResolved, <Money key="" value={value.resolved} />],
              [t.valueOpen, <Money key="" value={value.open} />],
            ]}
          />
        </Part>
      </div>
      <Part title={t.scores}>
        <ScoreTable scores={report.scores} />
      </Part>
      <Volume report={report} />
      <Part title={t.changes}>
        <ChangeTable changes={report.changes} />
      </Part>
      <Part title={t.monitoring}>
        <Text>{t.signals(signals.watched, signals.silent, signals.learning)}</Text>
      </Part>
    </Stack>
  )
}

/** The week, with links to the next and previous one. */
function Week({ report: { week, from, to } }: { report: WeeklyReport }) {
  const zone = useTimeZone()
  const who = useWhoami()
  const t = messages.report
  const isLast = weekOf(Date.now()) <= weekOf(to + 1)
  return (
    <Group gap="md" className={classes.week}>
      <Text c="dimmed">
        {who && (
          <>
            <Data>{who.orgName}</Data>
            <Dot />
          </>
        )}
        {t.week(week, formatSpan(from, to, zone, true))}
      </Text>
      <Group gap="sm" className="screen-only">
        <Anchor component={Link} to={`/report?week=${weekOf(from - DAY_MS)}`} fz="sm">
          {t.previousWeek}
        </Anchor>
        {!isLast && (
          <Anchor component={Link} to={`/report?week=${weekOf(to + DAY_MS)}`} fz="sm">
            {t.nextWeek}
          </Anchor>
        )}
      </Group>
    </Group>
  )
}

function Volume({ report: { volume, changes } }: { report: WeeklyReport }) {
  const t = messages.report
  return (
    <Part title={t.volumeTitle}>
      <Text mb="sm">
        <Num value={volume.events} /> {t.events} · <Num value={volume.before} /> {t.inPreviousWeek}
      </Text>
      <Suspense fallback={<div style={{ height: CHART_PX }} />}>
        <div className={classes.chart}>
          <BandChart
            title={t.volumeTitle}
            isTitleHidden
            summary={t.volumeSummary}
            points={volume.series}
            changes={changes}
            special={volume.specialPeriods}
            unit={messages.overview.unit.hour}
            height={CHART_PX}
          />
        </div>
      </Suspense>
    </Part>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.part}>
      <Title order={2} mb="sm">
        {title}
      </Title>
      {children}
    </section>
  )
}

function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name} className={classes.fact}>
          <dt>{name}</dt>
          <dd>
            <Data>{value}</Data>
          </dd>
        </div>
      ))}
    </dl>
  )
}
