import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { getAuditOptions, listAuditPagesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { cancelAudit, listAuditPages } from '#client/sdk.gen'
import type { AuditDetail } from '#client/types.gen'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { invalidate } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Breadcrumb } from '../../components/breadcrumb.tsx'
import { Data } from '../../components/data-text.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { NotFoundNotice } from '../../components/not-found-notice.tsx'
import { Duration, Num } from '../../components/numbers.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { ShareDialog } from '../tests/run/share-dialog.tsx'
import { AUDIT_MARKS } from '../tests/status-marks.ts'
import { PageTable } from './audited-pages-table.tsx'

/** Polling interval while an audit runs; the change stream does not report individual pages. */
const POLL_INTERVAL_MS = 2000
const isOver = (status: AuditDetail['status'] | undefined) => status !== 'queued' && status !== 'running'

/** `/audits/{id}`: findings per page, and differences from the previous audit. */
export function AuditPage() {
  const id = useParams({ strict: false }).id ?? ''
  const query = useQuery({
    ...getAuditOptions({ path: { id } }),
    refetchInterval: ({ state }) => (isOver(state.data?.status) ? false : POLL_INTERVAL_MS),
  })
  const t = messages.tests
  const gone = (
    <NotFoundNotice sentence={t.auditNotFound}>
      <Link to="/audits">{t.toAudits}</Link>
    </NotFoundNotice>
  )
  return (
    <QueryState query={query} title={messages.shell.pages.tests} notFound={gone}>
      {(audit) => <AuditDetailView audit={audit} />}
    </QueryState>
  )
}

function AuditDetailView({ audit }: { audit: AuditDetail }) {
  const [isSharing, share] = useState(false)
  const may = useHasRole('member')
  const t = messages.tests
  const cancel = async () => {
    await cancelAudit({ path: { id: audit.id } })
    await invalidate('getAudit')
    notices.say(t.auditCancelled)
  }
  return (
    <>
      <PageHeader title={audit.name} isData above={<Breadcrumb to="/audits">{messages.tests.audits}</Breadcrumb>}>
        <StatusMark status={AUDIT_MARKS[audit.status]} word={t.auditStatuses[audit.status]} />
        {may && (audit.status === 'finished' || audit.status === 'failed') && (
          <Button variant="default" onClick={() => share(true)}>
            {t.shareAudit}
          </Button>
        )}
        {may && !isOver(audit.status) && (
          <Button variant="default" onClick={() => void cancel()}>
            {t.cancelAudit}
          </Button>
        )}
      </PageHeader>
      <RoleNotice needs="member" what={messages.tests.restrictedSharing} />
      <Stack gap="lg">
        <Summary audit={audit} />
        {audit.differences && <Differences differences={audit.differences} />}
        <Pages id={audit.id} />
      </Stack>
      <ShareDialog id={audit.id} shares={[]} title={t.shareAudit} isOpen={isSharing} close={() => share(false)} />
    </>
  )
}

function Summary({ audit: { summary, error, createdAt, durationMs, startUrls } }: { audit: AuditDetail }) {
  const t = messages.tests
  const facts = [
    [t.pagesTotal, summary.pagesTotal] as const,
    [t.pagesFailed, summary.pagesFailed] as const,
    [t.vendors, summary.vendors] as const,
    [t.missing, summary.missing] as const,
    [t.duplicates, summary.duplicates] as const,
    [t.beforeConsent, summary.beforeConsent] as const,
    [t.errors, summary.errors] as const,
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
        <TimeAgo at={createdAt} />
        <span>
          {t.duration} <Duration ms={durationMs} />
        </span>
      </Group>
    </Paper>
  )
}

function Differences({ differences: { pages } }: { differences: NonNullable<AuditDetail['differences']> }) {
  const t = messages.tests
  return (
    <section>
      <Title order={2} mb="sm">
        {t.differences}
      </Title>
      {pages.length === 0 ? (
        <Text>{t.noDifferences}</Text>
      ) : (
        <SimpleTable
          name={t.differences}
          rows={pages}
          keyOf={({ url, change, vendor, event }) => `${url} ${change} ${vendor} ${event}`}
          columns={[
            { head: t.page, cell: ({ url }) => <Data>{url}</Data> },
            { head: t.change, cell: ({ change }) => t.changes[change] },
            { head: t.vendor, cell: ({ vendor }) => <Data>{vendor}</Data> },
            { head: t.event, cell: ({ event }) => <Data>{event}</Data> },
          ]}
        />
      )}
    </section>
  )
}

function Pages({ id }: { id: string }) {
  const options = listAuditPagesInfiniteOptions({ path: { id }, query: { limit: PAGE_SIZE } })
  const query = useInfiniteQuery(options)
  return (
    <section>
      <Group justify="space-between" mb="sm">
        <Title order={2}>{messages.tests.pages}</Title>
        <ExportMenu of={listAuditPages} queryKey={options.queryKey} name="audit-pages" />
      </Group>
      <QueryState query={query}>
        {({ pages }) => <PageTable pages={pages.flatMap(({ pages }) => pages)} query={query} />}
      </QueryState>
    </section>
  )
}
