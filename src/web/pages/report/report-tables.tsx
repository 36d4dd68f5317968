import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Change, Issue, WeeklyReport } from '#client/types.gen'
import { Data, Sentence } from '../../components/data-text.tsx'
import { Money, Num } from '../../components/numbers.tsx'
import { SeverityMark } from '../../components/severity-mark.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { DateTime } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'

/** The most severe issues of the week, with their current status. */
export function WorstTable({ issues }: { issues: readonly Issue[] }) {
  const t = messages.report
  if (issues.length === 0) return <Text>{t.noIssues}</Text>
  return (
    <SimpleTable
      name={t.whatBroke}
      rows={issues}
      keyOf={({ id }) => id}
      columns={[
        {
          head: t.issue,
          cell: ({ id, title }) => (
            <Anchor component={Link} to={`/issues/${id}`} c="inherit">
              <Sentence>{title}</Sentence>
            </Anchor>
          ),
        },
        { head: t.severity, cell: ({ severity }) => <SeverityMark severity={severity} /> },
        { head: t.status, cell: ({ status }) => messages.displayNames.statuses[status] },
        { head: t.value, isNumber: true, cell: ({ impactValue }) => <Money value={impactValue} /> },
        { head: t.since, cell: ({ firstSeenAt }) => <DateTime at={firstSeenAt} isQuiet /> },
      ]}
    />
  )
}

const SCORES = ['availability', 'accuracy', 'compliance'] as const

/** The three scores, compared with the scores of the week before. */
export function ScoreTable({ scores: { now, before } }: Pick<WeeklyReport, 'scores'>) {
  const t = messages.report
  const round = (score: number | undefined) => (score === undefined ? null : Math.round(score))
  return (
    <SimpleTable
      name={t.scores}
      rows={SCORES}
      keyOf={(name) => name}
      columns={[
        { head: t.score, cell: (name) => messages.overview.score[name] },
        { head: t.thisWeek, isNumber: true, cell: (name) => <Num value={round(now?.[name].score)} /> },
        { head: t.lastWeek, isNumber: true, cell: (name) => <Num value={round(before?.[name].score)} /> },
        { head: t.reason, cell: (name) => <Data>{now?.[name].detail}</Data> },
      ]}
    />
  )
}

/** Releases and versions of the week, with their verdicts. */
export function ChangeTable({ changes }: { changes: readonly Change[] }) {
  const t = messages.report
  if (changes.length === 0) return <Text>{t.noChanges}</Text>
  return (
    <SimpleTable
      name={t.changes}
      rows={changes}
      keyOf={({ id }) => id}
      columns={[
        { head: t.change, cell: ({ title, domain }) => <Data>{`${title} · ${domain}`}</Data> },
        { head: t.verdict, cell: ({ status }) => messages.changes.statuses[status] },
        { head: t.time, cell: ({ occurredAt }) => <DateTime at={occurredAt} isQuiet /> },
      ]}
    />
  )
}
