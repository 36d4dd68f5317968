import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { getAuditOptions, listAuditPagesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { cancelAudit } from '#client/sdk.gen'
import type { AuditDetail } from '#client/types.gen'
import { PAGED } from '../../api/pages.ts'
import { useMay } from '../../api/who.ts'
import { Ago } from '../../parts/ago.tsx'
import { Data } from '../../parts/data.tsx'
import { MayLine } from '../../parts/may.tsx'
import { NoSuch } from '../../parts/no-such.tsx'
import { Duration, Num } from '../../parts/numbers.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { StatusMark } from '../../parts/status-mark.tsx'
import { notices } from '../../shell/notices.ts'
import { words } from '../../words.ts'
import { ShareDialog } from '../tests/run/share-dialog.tsx'
import { AUDIT_STANDING } from '../tests/standing.ts'
import { PageTable } from './page-table.tsx'

/** The stream does not tell of each page, so an audit that goes on is looked at so often. */
const LOOK_EVERY_MS = 2000
const AT_ONCE = 100

const isOver = (status: AuditDetail['status'] | undefined) => status !== 'queued' && status !== 'running'

/** `/audits/{id}`: what was found page by page, and what is different from the audit before. */
export function AuditPage() {
  const id = useParams({ strict: false }).id ?? ''
  const query = useQuery({
    ...getAuditOptions({ path: { id } }),
    refetchInterval: ({ state }) => (isOver(state.data?.status) ? false : LOOK_EVERY_MS),
  })
  const said = words.tests
  const gone = (
    <NoSuch sentence={said.noSuchAudit}>
      <Link to="/audits">{said.toAudits}</Link>
    </NoSuch>
  )
  return (
    <QueryState query={query} room={words.shell.pages.tests} gone={gone}>
      {(audit) => <AuditDetailView audit={audit} />}
    </QueryState>
  )
}

function AuditDetailView({ audit }: { audit: AuditDetail }) {
  const [isSharing, share] = useState(false)
  const may = useMay('member')
  const queries = useQueryClient()
  const said = words.tests
  const cancel = async () => {
    await cancelAudit({ path: { id: audit.id }, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'getAudit' }] })
    notices.say(said.auditCancelled)
  }
  return (
    <>
      <PageHead title={audit.name} isData>
        <StatusMark status={AUDIT_STANDING[audit.status]} word={said.auditStatuses[audit.status]} />
        {may && (audit.status === 'finished' || audit.status === 'failed') && (
          <Button variant="default" onClick={() => share(true)}>
            {said.shareAudit}
          </Button>
        )}
        {may && !isOver(audit.status) && (
          <Button variant="default" onClick={() => void cancel()}>
            {said.cancelAudit}
          </Button>
        )}
      </PageHead>
      <MayLine needs="member" what={words.tests.sharing} />
      <Stack gap="lg">
        <Summary audit={audit} />
        {audit.differences && <Differences differences={audit.differences} />}
        <Pages id={audit.id} />
      </Stack>
      <ShareDialog id={audit.id} shares={[]} title={said.shareAudit} isOpen={isSharing} close={() => share(false)} />
    </>
  )
}

function Summary({ audit: { summary, error, createdAt, durationMs, startUrls } }: { audit: AuditDetail }) {
  const said = words.tests
  const facts = [
    ...[[said.pagesTotal, summary.pagesTotal] as const, [said.pagesFailed, summary.pagesFailed] as const],
    ...[[said.vendors, summary.vendors] as const, [said.missing, summary.missing] as const],
    ...[[said.twice, summary.duplicates] as const, [said.beforeConsent, summary.beforeConsent] as const],
    [said.errors, summary.errors] as const,
  ]
  return (
    <Paper>
      {error !== null && (
        <Text fw={600} mb="sm">
          <Data>{error}</Data>
        </Text>
      )}
      <Group gap="lg">
        {facts.map(([name, value]) => (
          <div key={name}>
            <Text fz="xs" c="dimmed">
              {name}
            </Text>
            <Text fz={20} fw={600} component="div">
              <Num value={value} />
            </Text>
          </div>
        ))}
      </Group>
      <Group gap="md" mt="md" c="dimmed" fz="sm">
        <Data>{startUrls.join(', ')}</Data>
        <Ago at={createdAt} />
        <span>
          {said.took} <Duration ms={durationMs} />
        </span>
      </Group>
    </Paper>
  )
}

function Differences({ differences: { pages } }: { differences: NonNullable<AuditDetail['differences']> }) {
  const said = words.tests
  return (
    <section>
      <Title order={2} mb="sm">
        {said.differences}
      </Title>
      {pages.length === 0 ? (
        <Text>{said.noDifferences}</Text>
      ) : (
        <SimpleTable
          name={said.differences}
          rows={pages}
          keyOf={({ url, change, vendor, event }) => `${url} ${change} ${vendor} ${event}`}
          columns={[
            { head: said.page, cell: ({ url }) => <Data>{url}</Data> },
            { head: said.change, cell: ({ change }) => said.changes[change] },
            { head: said.vendor, cell: ({ vendor }) => <Data>{vendor}</Data> },
            { head: said.event, cell: ({ event }) => <Data>{event}</Data> },
          ]}
        />
      )}
    </section>
  )
}

function Pages({ id }: { id: string }) {
  const query = useInfiniteQuery({
    ...listAuditPagesInfiniteOptions({ path: { id }, query: { limit: AT_ONCE } }),
    ...PAGED,
    initialPageParam: { path: { id } },
  })
  return (
    <section>
      <Title order={2} mb="sm">
        {words.tests.pages}
      </Title>
      <QueryState query={query}>
        {({ pages }) => <PageTable pages={pages.flatMap(({ pages }) => pages)} query={query} />}
      </QueryState>
    </section>
  )
}
