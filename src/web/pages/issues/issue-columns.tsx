import type { Issue } from '#client/types.gen'
import { useMemberNames } from '../../api/members.ts'
import { DailyBars } from '../../charts/daily-bars.tsx'
import { Data } from '../../components/data-text.tsx'
import { formatNumber } from '../../components/format.ts'
import { AlertName, IssueTitle } from '../../components/issue-title.tsx'
import { MaintenanceNote } from '../../components/maintenance-note.tsx'
import { Money, Num } from '../../components/numbers.tsx'
import { SeverityMark } from '../../components/severity-mark.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { DateTime, TimeAgo } from '../../components/time-ago.tsx'
import type { Column } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import classes from './issue-columns.module.css'

/** Occurrences by day, by issue id, as in the list's `dailyCounts`. */
type DailyCounts = Readonly<Record<string, readonly number[]>>

/** The columns of a list of issues. */
export function issueColumns(dailyCounts: DailyCounts = {}): readonly Column<Issue>[] {
  const { issues } = messages
  return [
    {
      id: 'severity',
      head: issues.severity,
      width: '104px',
      hideBelow: 768,
      cell: ({ severity }) => <SeverityMark severity={severity} />,
    },
    {
      id: 'title',
      head: issues.issue,
      isLink: true,
      cell: ({ title }) => <IssueTitle title={title} />,
      below: (issue) => <Details issue={issue} dailyCounts={dailyCounts} />,
    },
    {
      id: 'value',
      head: issues.value,
      width: '112px',
      isFigure: true,
      hideBelow: 1200,
      cell: ({ impactValue }) => <Money value={impactValue} />,
    },
    {
      id: 'assignee',
      head: issues.assignee,
      width: '128px',
      hideBelow: 1200,
      cell: ({ assigneeId }) => assigneeId && <AssigneeName id={assigneeId} />,
    },
    {
      id: 'occurrences',
      head: issues.occurrenceCount,
      width: '112px',
      isFigure: true,
      hideBelow: 1200,
      isOptional: true,
      cell: ({ occurrences }) => <Num value={occurrences} />,
    },
    {
      id: 'firstSeen',
      head: issues.firstSeen,
      width: '120px',
      isFigure: true,
      hideBelow: 1200,
      isOptional: true,
      cell: ({ firstSeenAt }) => <TimeAgo at={firstSeenAt} isQuiet />,
    },
    {
      id: 'lastSeen',
      head: issues.lastSeen,
      width: '120px',
      isFigure: true,
      hideBelow: 768,
      cell: ({ lastSeenAt }) => <TimeAgo at={lastSeenAt} isQuiet />,
      below: ({ id }) => <Trend counts={dailyCounts[id]} />,
    },
    {
      id: 'status',
      head: issues.status,
      width: '148px',
      hideBelow: 768,
      cell: (issue) => <Status issue={issue} />,
    },
  ]
}

function AssigneeName({ id }: { id: string }) {
  const nameOf = useMemberNames()
  const name = nameOf(id)
  return name !== null && <Data>{name}</Data>
}

function Trend({ counts }: { counts: readonly number[] | undefined }) {
  if (!counts) return null
  const total = counts.reduce((sum, count) => sum + count, 0)
  const { trend } = messages.issues
  return (
    <span className={classes.trend}>
      <DailyBars counts={counts} label={trend(formatNumber(total), counts.length, formatNumber(counts.at(-1) ?? 0))} />
    </span>
  )
}

/** Alert, host, type and occurrences. On narrow screens, includes the fields without a column. */
function Details({ issue, dailyCounts }: { issue: Issue; dailyCounts: DailyCounts }) {
  const { alertType, occurrences, hosts, title } = issue
  const [host, ...others] = hosts ?? []
  return (
    <span className={`${classes.details} under`}>
      <span className={classes.narrow}>
        <SeverityMark severity={issue.severity} isWordShown={false} />
        <StatusMark status={issue.status} word={messages.displayNames.statuses[issue.status]} />
        <TimeAgo at={issue.lastSeenAt} isQuiet />
        <Trend counts={dailyCounts[issue.id]} />
      </span>
      <AlertName title={title} />
      {host !== undefined && (
        <span className={classes.host}>
          <Data>{host}</Data> {others.length > 0 && messages.issues.moreHosts(others.length)}
        </span>
      )}
      <span className={classes.wide}>{messages.displayNames.alertTypes[alertType] ?? <Data>{alertType}</Data>}</span>
      <span className={classes.wide}>{messages.issues.occurrences(formatNumber(occurrences))}</span>
    </span>
  )
}

/** The status as an icon and a word. Includes the end of the mute for muted issues. */
export function Status({
  issue: { status, mutedUntil, mutedHosts, maintenance },
}: {
  issue: Pick<Issue, 'status' | 'mutedUntil' | 'mutedHosts' | 'maintenance'>
}) {
  return (
    <>
      <StatusMark status={status} word={messages.displayNames.statuses[status]} />
      {status === 'muted' && mutedUntil !== undefined && (
        <span className={classes.until}>
          {messages.issues.until} <DateTime at={mutedUntil} isQuiet />
        </span>
      )}
      {status === 'muted' && mutedHosts !== undefined && (
        <span className={classes.until}>
          {messages.issues.on} <Data>{mutedHosts.join(', ')}</Data>
        </span>
      )}
      <MaintenanceNote maintenance={maintenance} className={classes.until} />
    </>
  )
}
