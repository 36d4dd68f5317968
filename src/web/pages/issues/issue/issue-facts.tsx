import { Button, Paper, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { IssueDetail, IssueEvidence } from '#client/types.gen'
import { useHasRole } from '../../../api/whoami.ts'
import { joinIsolated } from '../../../bidi-isolation.ts'
import { Data } from '../../../components/data-text.tsx'
import { formatNumber } from '../../../components/format.ts'
import { Help } from '../../../components/help-tooltip.tsx'
import { Money, Num } from '../../../components/numbers.tsx'
import { PathLink } from '../../../components/path-link.tsx'
import { DateTime, TimeAgo } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { unmuteHosts } from '../change-issue-status.ts'
import { Assignee } from './assignee.tsx'
import classes from './issue-page.module.css'

/** Details of an issue, shown next to its evidence. */
export function Facts({ issue, evidence }: { issue: IssueDetail; evidence: IssueEvidence | undefined }) {
  const { detail, details } = messages.issue
  const { alertId, alertType, domain, domainId, hosts, impactValue, occurrences, trackerKey } = issue
  const alert = evidence?.alert ?? null
  const vendors = alert?.vendors ?? []
  return (
    <Paper component="section" aria-label={details}>
      <Title order={2} mb="sm">
        {details}
      </Title>
      <dl className={classes.facts}>
        <Fact name={messages.issue.assignee}>
          <Assignee issue={issue} />
        </Fact>
        {alert && (
          <Fact name={detail.alert}>
            <PathLink path={`/alerts/${alertId}`}>
              <Data>{alert.name}</Data>
            </PathLink>
          </Fact>
        )}
        <Fact name={detail.type}>{messages.displayNames.alertTypes[alertType] ?? <Data>{alertType}</Data>}</Fact>
        {domain && (
          <Fact name={detail.domain}>
            <PathLink path={`/domains/${domainId}`}>
              <Data>{domain}</Data>
            </PathLink>
          </Fact>
        )}
        {vendors.length > 0 && (
          <Fact name={detail.vendors}>
            <Data>{joinIsolated(vendors, ', ')}</Data>
          </Fact>
        )}
        {hosts && hosts.length > 0 && (
          <Fact name={detail.hosts}>
            <Data>{hosts.join(', ')}</Data>
          </Fact>
        )}
        {(issue.status === 'muted' || issue.mutedHosts) && (
          <Fact name={detail.muted}>
            <MuteFact issue={issue} />
          </Fact>
        )}
        <Fact name={<Help term="value">{detail.value}</Help>}>
          <Money value={impactValue} />
        </Fact>
        <Fact name={<Help term="occurrences">{detail.occurrences}</Help>}>
          <Num value={occurrences} />
        </Fact>
        <Fact name={detail.first}>
          <TimeAgo at={issue.firstSeenAt} />
        </Fact>
        <Fact name={detail.last}>
          <TimeAgo at={issue.lastSeenAt} />
        </Fact>
        <Fact name={detail.notifications}>
          <PathLink path="/deliveries" search={{ issueId: issue.id, from: String(issue.firstSeenAt) }}>
            {detail.deliveries(formatNumber(issue.notificationsSent))}
          </PathLink>
        </Fact>
        {trackerKey && (
          <Fact name={detail.ticket}>
            <Data>{trackerKey}</Data>
          </Fact>
        )}
      </dl>
    </Paper>
  )
}

/** Until when, where and why the issue is muted. */
function MuteFact({ issue }: { issue: IssueDetail }) {
  const { status, mutedUntil, muteReason, mutedHosts } = issue
  const isMember = useHasRole('member')
  const t = messages.issues
  return (
    <>
      {mutedUntil === undefined ? (
        messages.issue.detail.untilUnmuted
      ) : (
        <>
          {t.until} <DateTime at={mutedUntil} />
        </>
      )}
      {mutedHosts && (
        <div>
          {t.on} <Data>{mutedHosts.join(', ')}</Data>
        </div>
      )}
      {muteReason && (
        <div>
          <Data>{muteReason}</Data>
        </div>
      )}
      {mutedHosts && status !== 'muted' && isMember && (
        <Button size="compact-sm" variant="default" onClick={() => void unmuteHosts(issue)}>
          {t.unmuteHosts}
        </Button>
      )}
    </>
  )
}

const Fact = ({ name, children }: { name: ReactNode; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)
