import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Change, Issue, WeeklyReport } from '#client/types.gen'
import { At } from '../../parts/ago.tsx'
import { Data, Sentence } from '../../parts/data.tsx'
import { Money, Num } from '../../parts/numbers.tsx'
import { SeverityMark } from '../../parts/severity-mark.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { words } from '../../words.ts'

/** The gravest issues of the week, as they are today. */
export function WorstTable({ issues }: { issues: readonly Issue[] }) {
  const said = words.report
  if (issues.length === 0) return <Text>{said.noWorst}</Text>
  return (
    <SimpleTable
      name={said.worst}
      rows={issues}
      keyOf={({ id }) => id}
      columns={[
        {
          head: said.issue,
          cell: ({ id, title }) => (
            <Anchor component={Link} to={`/issues/${id}`} c="inherit">
              <Sentence>{title}</Sentence>
            </Anchor>
          ),
        },
        { head: said.severity, cell: ({ severity }) => <SeverityMark severity={severity} /> },
        { head: said.status, cell: ({ status }) => words.api.statuses[status] },
        { head: said.value, isNumber: true, cell: ({ impactValue }) => <Money value={impactValue} /> },
        { head: said.since, cell: ({ firstSeenAt }) => <At at={firstSeenAt} isQuiet /> },
      ]}
    />
  )
}

const SCORES = ['availability', 'accuracy', 'compliance'] as const

/** The three scores, beside those of the week before. */
export function ScoreTable({ scores: { now, before } }: Pick<WeeklyReport, 'scores'>) {
  const said = words.report
  const round = (score: number | undefined) => (score === undefined ? null : Math.round(score))
  return (
    <SimpleTable
      name={said.scores}
      rows={SCORES}
      keyOf={(name) => name}
      columns={[
        { head: said.score, cell: (name) => words.overview.score[name] },
        { head: said.now, isNumber: true, cell: (name) => <Num value={round(now?.[name].score)} /> },
        { head: said.earlier, isNumber: true, cell: (name) => <Num value={round(before?.[name].score)} /> },
        { head: said.why, cell: (name) => <Data>{now?.[name].detail}</Data> },
      ]}
    />
  )
}

/** Releases and versions of the week, with their verdicts. */
export function ChangeTable({ changes }: { changes: readonly Change[] }) {
  const said = words.report
  if (changes.length === 0) return <Text>{said.noChanges}</Text>
  return (
    <SimpleTable
      name={said.changes}
      rows={changes}
      keyOf={({ id }) => id}
      columns={[
        { head: said.change, cell: ({ title, domain }) => <Data>{`${title} · ${domain}`}</Data> },
        { head: said.verdict, cell: ({ status }) => words.changes.statuses[status] },
        { head: said.when, cell: ({ occurredAt }) => <At at={occurredAt} isQuiet /> },
      ]}
    />
  )
}
