import { ActionIcon, Anchor, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { getIssueOptions, investigateIssueOptions, listGateRunsOptions } from '#client/@tanstack/react-query.gen'
import type { IssueDetail, IssueEvidence } from '#client/types.gen'
import { PAGE_PATHS } from '../../../../contract/page-paths.ts'
import { useHasRole } from '../../../api/whoami.ts'
import { copyText } from '../../../components/copy-text.ts'
import { Data, Dot, Sentence } from '../../../components/data-text.tsx'
import { formatDuration, formatNumber } from '../../../components/format.ts'
import { NotFoundNotice } from '../../../components/not-found-notice.tsx'
import { PageHeader } from '../../../components/page-header.tsx'
import { PathLink } from '../../../components/path-link.tsx'
import { QueryState, SkeletonLines } from '../../../components/query-state.tsx'
import { RoleNotice } from '../../../components/role-notice.tsx'
import { SeverityMark } from '../../../components/severity-mark.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { useOrganizationTimeZone } from '../../../components/use-time-zone.ts'
import { messages } from '../../../messages.ts'
import { useKeyBindings } from '../../../state/key-bindings.ts'
import { notices } from '../../../state/notices.ts'
import { Status } from '../issue-columns.tsx'
import { listSearch, positionInList } from '../list-position.ts'
import { Comments } from './comments.tsx'
import { Evidence } from './evidence.tsx'
import { IssueActions } from './issue-actions-bar.tsx'
import { Facts } from './issue-facts.tsx'
import { markdownOf } from './issue-markdown.ts'
import classes from './issue-page.module.css'
import { NextEscalation } from './next-escalation.tsx'
import { Note } from './note.tsx'
import { IssueTimeline } from './timeline.tsx'

const MINUTE_MS = 60_000

/** `/issues/{id}`: an issue with its evidence and actions. */
export function IssuePage() {
  const { id = '' } = useParams({ strict: false })
  const query = useQuery(getIssueOptions({ path: { id } }))
  const gone = (
    <NotFoundNotice sentence={messages.issue.notFound}>
      <Link to="/issues">{messages.issue.toList}</Link>
    </NotFoundNotice>
  )
  return (
    <QueryState query={query} skeleton={<SkeletonLines count={8} />} title={messages.issues.issue} notFound={gone}>
      {(issue) => <IssueView key={issue.id} issue={issue} />}
    </QueryState>
  )
}

function IssueView({ issue }: { issue: IssueDetail }) {
  const { id, title } = issue
  const evidence = useQuery(investigateIssueOptions({ path: { id } }))
  const isFirstAsked = evidence.data === undefined && evidence.failureReason === null
  const mayChange = useHasRole('member')
  const [isMuting, setMuting] = useState(false)
  const note = useRef<HTMLTextAreaElement>(null)
  const link = `${location.origin}/issues/${id}`
  const timeZone = useOrganizationTimeZone()
  const copyLink = async () => {
    await copyText(link)
    notices.say(messages.issue.linkCopied)
  }
  const copyMarkdown = async () => {
    await copyText(markdownOf(issue, evidence.data, { link, timeZone: timeZone ?? 'UTC' }))
    notices.say(messages.issue.markdownCopied)
  }
  useKeyBindings({
    y: () => void copyLink(),
    n: () => note.current?.focus(),
  })
  return (
    <>
      <PageHeader title={title} isData above={<ListNavigation issue={issue} />}>
        <Button variant="default" onClick={() => void copyLink()}>
          {messages.issue.copyLink}
        </Button>
        <Button variant="default" onClick={() => void copyMarkdown()}>
          {messages.issue.copyMarkdown}
        </Button>
        {mayChange && <IssueActions issue={issue} isMuting={isMuting} setMuting={setMuting} />}
      </PageHeader>
      <RoleNotice what={messages.issues.restrictedAction} needs="member" />
      {/* Rendered at once, because adjacent parts would move if they loaded one after the other. */}
      {isFirstAsked ? (
        <QueryState query={evidence} skeleton={<SkeletonLines count={8} />}>
          {() => null}
        </QueryState>
      ) : (
        <>
          <Summary issue={issue} evidence={evidence.data} />
          <div className={classes.columns}>
            <QueryState query={evidence} skeleton={<SkeletonLines count={8} />}>
              {(answer) => <Evidence evidence={answer} occurrences={issue.occurrenceSeries} />}
            </QueryState>
            <Stack gap="lg">
              <Facts issue={issue} evidence={evidence.data} />
              <Paper>
                <Note issue={issue} field={note} />
              </Paper>
              <Comments issue={issue} />
              <Paper>
                <Title order={2} mb="md">
                  {messages.issue.history}
                </Title>
                <IssueTimeline history={issue.history} deliveries={evidence.data?.deliveries ?? []} />
              </Paper>
            </Stack>
          </div>
        </>
      )}
    </>
  )
}

/** Position in the list, with links to the next and previous issue. */
function ListNavigation({ issue }: { issue: IssueDetail }) {
  const navigate = useNavigate()
  const [neighbours] = useState(() => positionInList(issue.id))
  const to = (id: string | null | undefined) => {
    if (id) void navigate({ to: '/issues/$id', params: { id }, replace: true })
  }
  useKeyBindings({ j: () => to(neighbours?.next), k: () => to(neighbours?.previous) })
  return (
    <>
      <Group justify="space-between" mb="sm">
        <nav aria-label={messages.components.breadcrumb}>
          <Anchor component={Link} to="/issues" search={listSearch() as never}>
            {messages.shell.pages.issues}
          </Anchor>
        </nav>
        {neighbours && (
          <Group gap="xs">
            <Step
              name={messages.issue.previous}
              isBack
              go={() => to(neighbours.previous)}
              isEnd={!neighbours.previous}
            />
            <Text fz="sm" c="dimmed" className="figure">
              {messages.issue.position(neighbours.position, neighbours.total)}
            </Text>
            <Step name={messages.issue.next} go={() => to(neighbours.next)} isEnd={!neighbours.next} />
          </Group>
        )}
      </Group>
      <Group gap="md" mb="xs">
        <SeverityMark severity={issue.severity} />
        <Status issue={issue} />
        <Text c="dimmed" fz="sm">
          {messages.issue.seen(formatNumber(issue.occurrences))}
          <Dot />
          {messages.issue.firstSeen} <TimeAgo at={issue.firstSeenAt} />
          <Dot />
          {messages.issue.lastSeen} <TimeAgo at={issue.lastSeenAt} />
        </Text>
      </Group>
    </>
  )
}

function Step({ name, isBack = false, isEnd, go }: { name: string; isBack?: boolean; isEnd: boolean; go(): void }) {
  const Icon = isBack ? IconChevronLeft : IconChevronRight
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={name} disabled={isEnd} onClick={go}>
      <Icon size={16} aria-hidden />
    </ActionIcon>
  )
}

/** A summary of the problem and its likely cause. */
function Summary({ issue, evidence }: { issue: IssueDetail; evidence: IssueEvidence | undefined }) {
  return (
    <Stack gap="xs" mb="lg" maw="72ch" mih={24}>
      {evidence && (
        <Text c="var(--tw-text2)">
          <Data>{evidence.summary}</Data>
        </Text>
      )}
      {evidence && <LikelyCause evidence={evidence} />}
      {issue.capReached && <Text c="dimmed">{messages.issue.heldBack}</Text>}
      <NextEscalation issue={issue} />
    </Stack>
  )
}

/** The likely cause; renders nothing when there is none. */
function LikelyCause({ evidence }: { evidence: IssueEvidence }) {
  const { explainedBy, cause, changes, issue } = evidence
  const change = changes.find(({ id }) => id === cause?.changeId) ?? changes[0] ?? null
  if (explainedBy) {
    return (
      <Text>
        {messages.issue.partOfIssue}{' '}
        <PathLink path={`/issues/${explainedBy.issueId}`}>
          <Sentence>{explainedBy.title}</Sentence>
        </PathLink>
      </Text>
    )
  }
  if (change) {
    const ms = issue.firstSeenAt - change.occurredAt
    return (
      <Text>
        {messages.issue.likelyCause}{' '}
        <PathLink path={`/changes/${change.id}`}>
          <Data>{change.title}</Data>
        </PathLink>{' '}
        {distanceOf(ms)} ·{' '}
        <Anchor
          component={Link}
          to={PAGE_PATHS.changes.compare}
          search={comparisonOf(issue, change.occurredAt) as never}
        >
          {messages.compare.link}
        </Anchor>
        <GateOfChange changeId={change.id} />
      </Text>
    )
  }
  // A cause with the same title as the issue adds no information.
  if (!cause || cause.kind === 'tag' || cause.title === issue.title) return null
  return (
    <Text>
      {messages.issue.likelyCause} {messages.issue.causes[cause.kind]} <Sentence>{cause.title}</Sentence>
    </Text>
  )
}

/** The run of the release gate that checked a change before its release; renders nothing when there is none. */
function GateOfChange({ changeId }: { changeId: string }) {
  const { data } = useQuery(listGateRunsOptions({ query: { changeId, limit: 1 } }))
  const [run] = data?.runs ?? []
  if (!run) return null
  return (
    <>
      {' '}
      · <PathLink path={`/gate/${run.id}`}>{messages.gate.ofIssue[run.status]}</PathLink>
    </>
  )
}

/** Search parameters of the comparison of the hour after a change with the hour before it. */
function comparisonOf({ domainId }: IssueEvidence['issue'], at: number) {
  return {
    by: 'periods',
    ...(domainId && { domainId }),
    aFrom: at - 60 * MINUTE_MS,
    aTo: at,
    bFrom: at,
    bTo: at + 60 * MINUTE_MS,
  }
}

/**
 * Text for the time between the change and the first occurrence. If they are less than a minute apart, their order is
 * unknown.
 */
function distanceOf(ms: number): string {
  if (Math.abs(ms) < MINUTE_MS) return messages.issue.sameMinute
  return ms > 0 ? messages.issue.before(formatDuration(ms)) : messages.issue.after(formatDuration(-ms))
}
