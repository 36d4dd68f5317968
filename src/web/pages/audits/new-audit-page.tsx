import { NativeSelect, NumberInput, Paper, Stack, TagsInput, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { createAudit } from '#client/sdk.gen'
import type { AuditInput } from '#client/types.gen'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/who.ts'
import { Form, useSending } from '../../parts/form.tsx'
import { MayLine } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { notices } from '../../shell/notices.ts'
import { words } from '../../words.ts'
import { Expectations } from '../tests/expectations.tsx'
import { DomainField } from '../tests/test-form.tsx'

type Mode = NonNullable<AuditInput['consent']>['mode']
const MODES: readonly Mode[] = ['none', 'accept', 'deny', 'compare']
const FIELDS = ['name', 'domainId', 'startUrls', 'sitemap', 'maxPages', 'consent', 'schedule', 'expect']

/** `/audits/new`: where to look, how far, and what each page must send. */
export function NewAuditPage() {
  const may = useMay('member')
  return (
    <>
      <PageHead title={words.tests.newAudit} />
      <MayLine needs="member" what={words.tests.what} />
      {may && (
        <Paper>
          <AuditForm />
        </Paper>
      )}
    </>
  )
}

function AuditForm() {
  const [given, change] = useState<AuditInput>({
    ...{ name: '', domainId: null, startUrls: [], sitemap: null, maxPages: 50, schedule: null, expect: [] },
    consent: { mode: 'accept' },
  })
  const navigate = useNavigate()
  const set = (part: Partial<AuditInput>) => change((before) => ({ ...before, ...part }))
  const said = words.tests
  const sending = useSending(FIELDS, async () => {
    const { data } = await createAudit({ body: given, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listAudits' }] })
    notices.say(said.auditBegun)
    await navigate({ to: '/audits/$id', params: { id: data.id } })
  })
  const { errorOf } = sending
  return (
    <Form sending={sending} button={said.begin} isWide>
      <Stack gap="md" maw={640}>
        <TextInput
          label={said.name}
          value={given.name}
          onChange={({ currentTarget }) => set({ name: currentTarget.value })}
          error={errorOf('name')}
          required
          maxLength={200}
        />
        <DomainField
          value={given.domainId ?? null}
          change={(domainId) => set({ domainId })}
          error={errorOf('domainId')}
        />
        <TagsInput
          label={said.startUrls}
          description={said.startUrlsHint}
          value={given.startUrls}
          onChange={(startUrls) => set({ startUrls })}
          error={errorOf('startUrls')}
        />
        <TextInput
          label={said.sitemap}
          value={given.sitemap ?? ''}
          onChange={({ currentTarget }) => set({ sitemap: currentTarget.value || null })}
          error={errorOf('sitemap')}
        />
        <NumberInput
          label={said.maxPages}
          value={given.maxPages}
          onChange={(value) => set({ maxPages: Number(value) })}
          min={1}
          allowDecimal={false}
          error={errorOf('maxPages')}
        />
        <NativeSelect
          label={said.consent}
          value={given.consent?.mode}
          onChange={({ currentTarget }) => set({ consent: { mode: currentTarget.value as Mode } })}
          data={MODES.map((value) => ({ value, label: said.consents[value] }))}
          error={errorOf('consent')}
        />
        <TextInput
          label={said.cron}
          description={said.cronHint}
          value={given.schedule ?? ''}
          onChange={({ currentTarget }) => set({ schedule: currentTarget.value || null })}
          error={errorOf('schedule')}
        />
      </Stack>
      <Expectations
        expectations={given.expect ?? []}
        steps={[]}
        change={(expect) => set({ expect: expect.map(({ step, ...rest }) => rest) })}
        error={errorOf('expect')}
      />
    </Form>
  )
}
