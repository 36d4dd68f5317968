import { Anchor, Button, Checkbox, Group, Paper, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ComplianceFinding } from '#client/types.gen'
import { sharedQueries } from '../../api/queries.ts'
import { Code, Data, Dot } from '../../components/data-text.tsx'
import { formatList, formatNumber } from '../../components/format.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { decide } from './decide-findings.tsx'
import { eventsOfFinding } from './events-of-finding.ts'
import { isOfConsent, kindOf, nameOf, Where } from './finding-texts.tsx'
import classes from './findings.module.css'
import type { Grouping } from './queries.ts'
import { type FindingSelection, keyOf } from './use-finding-selection.ts'

interface ListProps {
  findings: readonly ComplianceFinding[]
  /** The property that all of the findings share, which they don't repeat. */
  by: Grouping
  /** Null for viewers, who can't decide. */
  selection: FindingSelection | null
}

/** Findings of a group. */
export function FindingList({ findings, by, selection }: ListProps) {
  return (
    <ul className={classes.list} aria-label={messages.compliance.findings}>
      {findings.map((finding) => (
        <li key={keyOf(finding)}>
          <Finding finding={finding} by={by} selection={selection} />
        </li>
      ))}
    </ul>
  )
}

function Finding({ finding, by, selection }: Omit<ListProps, 'findings'> & { finding: ComplianceFinding }) {
  const { vendor, key, kind, domainIds, pages = [], count, example, lastSeenAt, firstSeenAt, action, note } = finding
  const ofConsent = isOfConsent(finding)
  const t = messages.compliance
  return (
    <Paper p="sm">
      <div className={classes.finding}>
        {selection && (
          <Checkbox
            size="xs"
            mt={4}
            aria-label={messages.components.select(nameOf(finding))}
            checked={selection.has(finding)}
            onChange={({ currentTarget }) => selection.set([finding], currentTarget.checked)}
          />
        )}
        <Stack gap={2} miw={0} className={classes.about}>
          <Text fw={600} component="h3">
            {kindOf(kind)}
            {!ofConsent && (
              <>
                {' '}
                <Where name={key} />
              </>
            )}
            {by !== 'vendor' && (
              <>
                <Dot />
                <Data>{vendor}</Data>
              </>
            )}
            <Dot />
            {t.times(count, formatNumber(count, 0))} <Domains ids={domainIds} />
          </Text>
          <Text component="div" fz="sm" maw="72ch">
            {ofConsent ? (
              <Data>{example}</Data>
            ) : (
              <>
                {t.example} <Code>{example}</Code>
              </>
            )}
          </Text>
          <Text component="div" fz="xs" c="dimmed" className={classes.seen}>
            <span>
              {t.actions[action]} · {t.firstSeen} <TimeAgo at={firstSeenAt} /> · {t.lastSeen}{' '}
              <TimeAgo at={lastSeenAt} />
            </span>
            {pages.length > 0 && <Pages pages={pages} />}
          </Text>
          {note && (
            <Text fz="sm">
              {t.note} <Data>{note}</Data>
            </Text>
          )}
        </Stack>
        <Actions finding={finding} mayDecide={selection !== null} />
      </div>
    </Paper>
  )
}

function Domains({ ids }: { ids: readonly string[] }) {
  const { data } = useQuery(sharedQueries.domains())
  const names = (data?.domains ?? []).filter(({ id }) => ids.includes(id)).map(({ name }) => name)
  if (names.length === 0) return null
  return (
    <>
      {messages.compliance.on} <Data>{formatList(names)}</Data>
    </>
  )
}

function Pages({ pages }: { pages: readonly string[] }) {
  return (
    <>
      {messages.compliance.pages(pages.length)}
      {pages.map((page) => (
        <Anchor key={page} component={Link} to="/compliance" search={{ page } as never} fz="inherit">
          <Code>{page}</Code>
        </Anchor>
      ))}
    </>
  )
}

function Actions({ finding, mayDecide }: { finding: ComplianceFinding; mayDecide: boolean }) {
  const { action, issueId } = finding
  const t = messages.compliance
  const what = nameOf(finding)
  const names = { file: t.file, ignore: t.ignore, watch: t.watch }
  const offered = (['file', 'ignore', 'watch'] as const).filter(
    (one) => mayDecide && one !== action && !(one === 'file' && issueId),
  )
  return (
    <Group gap="xs" className={classes.actions}>
      <Button
        component={Link}
        to="/explore/events"
        search={eventsOfFinding(finding) as never}
        size="compact-sm"
        variant="subtle"
        aria-description={what}
      >
        {t.showEvents}
      </Button>
      {issueId && (
        <Button component={Link} to={`/issues/${issueId}`} size="compact-sm" variant="default">
          {t.openIssue}
        </Button>
      )}
      {offered.map((one) => (
        <Button
          key={one}
          size="compact-sm"
          variant="default"
          aria-description={what}
          onClick={() => void decide([finding], one)}
        >
          {names[one]}
        </Button>
      ))}
    </Group>
  )
}
