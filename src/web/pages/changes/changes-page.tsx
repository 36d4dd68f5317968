import { Button, Group, Modal, Paper, Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { listDomainsOptions } from '#client/@tanstack/react-query.gen'
import type { Change } from '#client/types.gen'
import { SHARED } from '../../address/search.ts'
import { useValues } from '../../address/use-search.ts'
import { useMay } from '../../api/who.ts'
import { messages } from '../../messages.ts'
import { Ago } from '../../parts/ago.tsx'
import { Data } from '../../parts/data.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { MayLine } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Paged } from '../../parts/paged.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { StatusMark } from '../../parts/status-mark.tsx'
import { CHANGES } from './address.ts'
import classes from './changes.module.css'
import { changesAskedFor } from './question.ts'
import { RecordForm } from './record-form.tsx'
import { STANDING } from './standing.ts'

/** `/changes`: releases and container versions with what they broke, most recent first. */
export function ChangesPage() {
  const [values] = useValues({ ...CHANGES, ...SHARED })
  const query = useInfiniteQuery({ ...changesAskedFor(values), placeholderData: keepPreviousData })
  const may = useMay('member')
  const [isRecording, record] = useState(false)
  const t = messages.changes
  const isFiltered = [values.domainId, values.status, values.project].some(Boolean)
  const button = <Button onClick={() => record(true)}>{t.record}</Button>
  const empty = isFiltered ? (
    <Text>{messages.parts.noneMatch}</Text>
  ) : (
    <Stack align="flex-start">
      <Text maw="72ch">{t.none}</Text>
    </Stack>
  )
  return (
    <>
      <PageHead title={messages.shell.pages.changes}>{may && button}</PageHead>
      <MayLine needs="member" what={t.what} />
      <Filters />
      <QueryState query={query} isEmpty={({ pages }) => pages[0]?.changes.length === 0} empty={empty}>
        {({ pages }) => (
          <Paged rows={pages.flatMap(({ changes }) => changes)} pages={query}>
            {(changes) => (
              <ol className={classes.list} aria-label={messages.shell.pages.changes}>
                {changes.map((change) => (
                  <li key={change.id}>
                    <Row change={change} />
                  </li>
                ))}
              </ol>
            )}
          </Paged>
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
  const { data } = useQuery(listDomainsOptions({ query: { limit: 200 } }))
  const t = messages.changes
  const any = { value: '', label: messages.parts.any }
  return (
    <FilterBar
      fields={CHANGES}
      filters={[
        {
          ...{ is: 'one', name: 'domainId', label: t.domain },
          options: [any, ...(data?.domains ?? []).map(({ id, name }) => ({ value: id, label: name }))],
        },
        {
          ...{ is: 'one', name: 'status', label: t.status },
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
            <Data>{domain}</Data> · <Ago at={occurredAt} />
          </div>
          {worst && (
            <Text fz="sm" mt={4}>
              <Data>{worst.detail}</Data>
            </Text>
          )}
        </div>
        <StatusMark status={STANDING[status]} word={messages.changes.statuses[status]} />
      </Group>
    </Paper>
  )
}
