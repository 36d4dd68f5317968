import { Button, Group, Modal, NativeSelect, Paper, Stack, Text, TextInput } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { listChanges, postChange } from '#client/sdk.gen'
import type { Change } from '#client/types.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { invalidate, sharedQueries } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Data, dataOption } from '../../components/data-text.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { Form } from '../../components/form.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Paginated } from '../../components/paginated.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { useIsMounted } from '../../components/use-is-mounted.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { SHARED_PARAMS } from '../../url-state/search-params.ts'
import { useSearchParams } from '../../url-state/use-search-params.ts'
import classes from './changes.module.css'
import { CHANGES, changesQuery } from './queries.ts'
import { CHANGE_MARKS } from './status-marks.ts'

/** Source of manually recorded changes. */
const SOURCE = 'by_hand'

/** `/changes`: releases and container versions with the issues they caused, most recent first. */
export function ChangesPage() {
  const [values] = useSearchParams({ ...CHANGES, ...SHARED_PARAMS })
  const listQuery = changesQuery(values)
  const query = useInfiniteQuery({ ...listQuery, placeholderData: keepPreviousData })
  const may = useHasRole('member')
  const [isRecording, record] = useState(false)
  const t = messages.changes
  const isFiltered = [values.domainId, values.status, values.project].some(Boolean)
  const button = <Button onClick={() => record(true)}>{t.record}</Button>
  const empty = isFiltered ? (
    <Text>{messages.components.noneMatch}</Text>
  ) : (
    <Stack align="flex-start">
      <Text maw="72ch">{t.none}</Text>
    </Stack>
  )
  return (
    <>
      <PageHeader title={messages.shell.pages.changes}>
        <ExportMenu of={listChanges} queryKey={listQuery.queryKey} name="changes" />
        <Button component={Link} to={PAGE_PATHS.changes.gate} variant="default">
          {messages.gate.title}
        </Button>
        {may && button}
      </PageHeader>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <Filters />
      <QueryState query={query} isEmpty={({ pages }) => pages[0]?.changes.length === 0} empty={empty}>
        {({ pages }) => (
          <Paginated rows={pages.flatMap(({ changes }) => changes)} pages={query}>
            {(changes) => (
              <ol className={classes.list} aria-label={messages.shell.pages.changes}>
                {changes.map((change) => (
                  <li key={change.id}>
                    <Row change={change} />
                  </li>
                ))}
              </ol>
            )}
          </Paginated>
        )}
      </QueryState>
      <Modal
        opened={isRecording}
        onClose={() => record(false)}
        title={t.record}
        closeButtonProps={{ 'aria-label': messages.shell.close }}
      >
        <RecordForm close={() => record(false)} />
      </Modal>
    </>
  )
}

function Filters() {
  const { data } = useQuery(sharedQueries.domains())
  const t = messages.changes
  const any = { value: '', label: messages.components.any }
  return (
    <FilterBar
      fields={CHANGES}
      filters={[
        {
          is: 'one',
          name: 'domainId',
          label: t.domain,
          options: [any, ...(data?.domains ?? []).map(({ id, name }) => ({ value: id, label: name }))],
        },
        {
          is: 'one',
          name: 'status',
          label: t.status,
          options: [any, ...Object.entries(t.statuses).map(([value, label]) => ({ value, label }))],
        },
      ]}
    />
  )
}

function Row({ change: { id, title, domain, occurredAt, status, findings } }: { change: Change }) {
  const [worst] = findings.items.filter(({ harmful }) => harmful)
  return (
    <Paper>
      <Group justify="space-between" gap="md" wrap="nowrap">
        <div className={classes.what}>
          <Link to="/changes/$id" params={{ id }} className={classes.link}>
            <Data>{title}</Data>
          </Link>
          <div className="under">
            <Data>{domain}</Data> · <TimeAgo at={occurredAt} />
          </div>
          {worst && (
            <Text fz="sm" mt={4}>
              <Data>{worst.detail}</Data>
            </Text>
          )}
        </div>
        <StatusMark status={CHANGE_MARKS[status]} word={messages.changes.statuses[status]} />
      </Group>
    </Paper>
  )
}

/** Records a change that no pipeline reported. */
function RecordForm({ close }: { close(): void }) {
  const navigate = useNavigate()
  const { data } = useQuery(sharedQueries.domains())
  const domains = data?.domains ?? []
  const firstId = domains[0]?.id ?? ''
  const t = messages.changes
  const isHere = useIsMounted()
  const { field, sending } = useFormFields({ domainId: '', title: '', ref: '' }, async ({ domainId, title, ref }) => {
    const body = { domainId: domainId || firstId, source: SOURCE, ref: ref || title, title }
    const answer = await postChange({ body })
    await invalidate('listChanges')
    notices.say(t.recorded)
    if (!isHere()) return
    close()
    await navigate({ to: '/changes/$id', params: { id: answer.data.id } })
  })
  return (
    <Form submission={sending} button={t.save}>
      <Stack gap="md">
        <NativeSelect
          label={t.domain}
          {...field('domainId')}
          data={domains.map(({ id, name }) => dataOption(id, name))}
        />
        <TextInput label={t.title} {...field('title')} required maxLength={200} data-autofocus />
        <TextInput label={t.ref} description={t.refHint} {...field('ref')} maxLength={200} />
      </Stack>
    </Form>
  )
}
