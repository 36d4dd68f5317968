import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { type InfiniteData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { decideFinding } from '#client/sdk.gen'
import type { ComplianceFinding, ComplianceFindingList } from '#client/types.gen'
import type { FindingAction } from '../../../contract/statuses.ts'
import { mutate } from '../../api/mutate.ts'
import { updatePages } from '../../api/pagination.ts'
import { sharedQueries } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Code, Data, Dot } from '../../components/data-text.tsx'
import { formatList, formatNumber } from '../../components/format.ts'
import { Paginated } from '../../components/paginated.tsx'
import { type AnyQuery, QueryState } from '../../components/query-state.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import type { PagedQuery } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import classes from './findings.module.css'
import { FINDINGS_PAGE_SIZE } from './queries.ts'

/** The key of consent findings. */
const CONSENT = '$consent'

interface FindingsProps {
  title: string
  query: AnyQuery<InfiniteData<ComplianceFindingList>> & PagedQuery
  /** Shown when there are no findings. */
  none: ReactNode
}

/** Findings of one kind as cards. */
export function Findings({ title, query, none }: FindingsProps) {
  return (
    <section>
      <Title order={2} mb="md">
        {title}
      </Title>
      <QueryState query={query} isEmpty={({ pages }) => pages[0]?.findings.length === 0} empty={none}>
        {({ pages }) => (
          <Paginated rows={pages.flatMap(({ findings }) => findings)} pages={query} size={FINDINGS_PAGE_SIZE}>
            {(findings) => (
              <ul className={classes.list} aria-label={messages.compliance.findings}>
                {findings.map((finding) => (
                  <li key={`${finding.vendor} ${finding.key} ${finding.kind}`}>
                    <Finding finding={finding} />
                  </li>
                ))}
              </ul>
            )}
          </Paginated>
        )}
      </QueryState>
    </section>
  )
}

/** Looks up own properties only, because a kind or key may have the name of an inherited property. */
const ownEntry = (known: Readonly<Record<string, string>>, name: string): string | null =>
  Object.hasOwn(known, name) ? (known[name] ?? null) : null

const kindOf = (kind: string): string =>
  ownEntry(messages.compliance.kinds, kind) ?? messages.compliance.customPattern(kind)

const Where = ({ name }: { name: string }) => (
  <>
    {messages.compliance.in} {ownEntry(messages.compliance.fields, name) ?? <Code>{name}</Code>}
  </>
)

const Example = ({ masked }: { masked: string }) => (
  <>
    {messages.compliance.example} <Code>{masked}</Code>
  </>
)

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

function Finding({ finding }: { finding: ComplianceFinding }) {
  const { vendor, key, kind, domainIds, count, example, firstSeenAt, lastSeenAt, action, note, issueId } = finding
  const may = useHasRole('member')
  const ofConsent = key === CONSENT
  const t = messages.compliance
  return (
    <Paper>
      <Group justify="space-between" align="flex-start" gap="md">
        <Stack gap={4} flex="1 1 320px" miw={0}>
          <Text fw={600} component="h3">
            {kindOf(kind)} {!ofConsent && <Where name={key} />}
            <Dot />
            <Data>{vendor}</Data>
            <Dot />
            {t.times(count, formatNumber(count, 0))} <Domains ids={domainIds} />
          </Text>
          <Text component="div" fz="sm" maw="72ch">
            {ofConsent ? <Data>{example}</Data> : <Example masked={example} />}
          </Text>
          <Text component="div" fz="xs" c="dimmed">
            {t.firstSeen} <TimeAgo at={firstSeenAt} /> · {t.lastSeen} <TimeAgo at={lastSeenAt} /> · {t.actions[action]}
          </Text>
          {note && (
            <Text fz="sm">
              {t.note} <Data>{note}</Data>
            </Text>
          )}
        </Stack>
        <Group gap="sm">
          {issueId && (
            <Button component={Link} to={`/issues/${issueId}`} variant="default">
              {t.openIssue}
            </Button>
          )}
          {may && <Acts finding={finding} />}
        </Group>
      </Group>
    </Paper>
  )
}

function Acts({ finding }: { finding: ComplianceFinding }) {
  const t = messages.compliance
  const where = finding.key === CONSENT ? '' : ` ${t.in} ${finding.key}`
  const what = `${kindOf(finding.kind)}${where}, ${finding.vendor}`
  const names = { file: t.file, ignore: t.ignore, watch: t.watch }
  return (['file', 'ignore', 'watch'] as const)
    .filter((action) => action !== finding.action && !(action === 'file' && finding.issueId))
    .map((action) => (
      <Button key={action} variant="default" aria-description={what} onClick={() => void decide(finding, action)}>
        {names[action]}
      </Button>
    ))
}

/** Sets the action of a finding optimistically, with undo unless the action opens an issue. */
async function decide(finding: ComplianceFinding, action: FindingAction): Promise<void> {
  const { vendor, key, kind } = finding
  const t = messages.compliance
  const texts = { file: t.filed, ignore: t.ignored, watch: t.watched }
  const change = (one: ComplianceFinding) =>
    one.vendor === vendor && one.key === key && one.kind === kind ? { ...one, action } : one
  const update = updatePages<ComplianceFindingList>((page) => ({ ...page, findings: page.findings.map(change) }))
  await mutate({
    send: () => decideFinding({ body: { vendor, key, kind, action } }),
    optimistic: [
      { queryKey: [{ _id: 'listPersonalData' }], update },
      { queryKey: [{ _id: 'listConsentFindings' }], update },
    ],
    invalidates: ['listIssues', 'getScores'],
    message: texts[action],
    ...(action === 'file' ? {} : { undo: () => void decide({ ...finding, action }, finding.action) }),
  })
}
