import { NativeSelect, Paper, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getPageViewSamplingOptions, getPageViewSamplingQueryKey } from '#client/@tanstack/react-query.gen'
import { setPageViewSampling } from '#client/sdk.gen'
import type { PageViewSampling, PageViewSamplingInput } from '#client/types.gen'
import { queries } from '../../../api/queries.ts'
import { useHasRole } from '../../../api/whoami.ts'
import { joinIsolated } from '../../../bidi-isolation.ts'
import { Data } from '../../../components/data-text.tsx'
import { Form, useSubmit } from '../../../components/form.tsx'
import { formatPercent, UNKNOWN } from '../../../components/format.ts'
import { Num } from '../../../components/numbers.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { RoleNotice } from '../../../components/role-notice.tsx'
import { messages } from '../../../messages.ts'
import { notices } from '../../../state/notices.ts'
import { DomainLayout, useDomainId } from './domain-layout.tsx'

/** `/domains/{id}/sampling`: the share of page views that is stored. */
export function DomainSamplingPage() {
  return <DomainLayout part="sampling">{() => <Sampling />}</DomainLayout>
}

function Sampling() {
  const id = useDomainId()
  const query = useQuery(getPageViewSamplingOptions({ path: { id } }))
  const t = messages.domains.sampling
  return (
    <>
      <RoleNotice needs="admin" what={t.restrictedAction} />
      <Text c="dimmed" mb="md" maw="72ch">
        {t.intro}
      </Text>
      <QueryState query={query} isEmpty={({ supported }) => !supported} empty={<Text>{t.notSupported}</Text>}>
        {(sampling) => <SamplingForm id={id} sampling={sampling} />}
      </QueryState>
    </>
  )
}

type Rate = NonNullable<PageViewSamplingInput['prodRate']>

function SamplingForm({ id, sampling }: { id: string; sampling: PageViewSampling }) {
  const may = useHasRole('admin')
  const { rates, pageViewsPerHour, available, eligible } = sampling
  const [given, change] = useState({ prodRate: sampling.prodRate, devRate: sampling.devRate })
  const t = messages.domains.sampling
  const sending = useSubmit(['prodRate', 'devRate'], async () => {
    const body = { prodRate: given.prodRate as Rate, devRate: given.devRate as Rate }
    const { data } = await setPageViewSampling({ path: { id }, body })
    queries.setQueryData(getPageViewSamplingQueryKey({ path: { id } }), data)
    notices.say(t.saved)
  })
  const field = (name: keyof typeof given) => (
    <NativeSelect
      label={name === 'prodRate' ? t.prod : t.dev}
      value={String(given[name])}
      onChange={({ currentTarget }) => change({ ...given, [name]: Number(currentTarget.value) })}
      data={rates.map((rate) => ({ value: String(rate), label: rate === 1 ? t.all : formatPercent(rate) }))}
      error={sending.errorOf(name)}
      disabled={!may}
    />
  )
  return (
    <Stack gap="lg" maw={560}>
      <Paper>
        <dl className="facts">
          <dt>{t.typicalHour}</dt>
          <dd>{available ? <Num value={pageViewsPerHour.typical} /> : t.none}</dd>
          <dt>{t.quietHour}</dt>
          <dd>
            <Num value={available ? pageViewsPerHour.quiet : null} />
          </dd>
          <dt>{t.storedInTypicalHour}</dt>
          <dd>
            <Num value={available ? Math.round(pageViewsPerHour.typical * given.prodRate) : null} />
          </dd>
          <dt>{t.eligible}</dt>
          <dd>
            <Data>{eligible.map(({ vendor, event }) => joinIsolated([vendor, event], ' ')).join(', ') || UNKNOWN}</Data>
          </dd>
        </dl>
      </Paper>
      <Paper>
        {may ? (
          <Form submission={sending} button={messages.settings.save}>
            {field('prodRate')}
            {field('devRate')}
          </Form>
        ) : (
          <Stack gap="md">
            {field('prodRate')}
            {field('devRate')}
          </Stack>
        )}
      </Paper>
    </Stack>
  )
}
