import { NativeSelect, NumberInput, Paper, Stack, TagsInput, TextInput } from '@mantine/core'
import { createAudit } from '#client/sdk.gen'
import type { AuditInput } from '#client/types.gen'
import { invalidate } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Form } from '../../components/form.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { useNavigateIfMounted } from '../../components/use-is-mounted.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { Expectations } from '../tests/expectations.tsx'
import { ScheduleField } from '../tests/schedule/schedule-field.tsx'
import { DomainField } from '../tests/test-form.tsx'

type Mode = NonNullable<AuditInput['consent']>['mode']
const MODES: readonly Mode[] = ['none', 'accept', 'deny', 'compare']
const EMPTY = {
  name: '',
  domainId: null as string | null,
  startUrls: [] as string[],
  sitemap: '',
  maxPages: 50,
  schedule: '',
  timezone: '',
  consent: { mode: 'accept' as Mode },
  expect: [] as NonNullable<AuditInput['expect']>,
}

/** `/audits/new`: start pages, limits and required tags. */
export function NewAuditPage() {
  const may = useHasRole('member')
  return (
    <>
      <PageHeader title={messages.tests.newAudit} />
      <RoleNotice needs="member" what={messages.tests.restrictedAction} />
      {may && (
        <Paper>
          <AuditForm />
        </Paper>
      )}
    </>
  )
}

function AuditForm() {
  const goOn = useNavigateIfMounted()
  const t = messages.tests
  const { values, field, set, sending } = useFormFields(EMPTY, async ({ sitemap, schedule, timezone, ...given }) => {
    const body = { ...given, sitemap: sitemap || null, schedule: schedule || null, ...(timezone && { timezone }) }
    const { data } = await createAudit({ body })
    await invalidate('listAudits')
    notices.say(t.auditStarted)
    await goOn({ to: '/audits/$id', params: { id: data.id } })
  })
  return (
    <Form submission={sending} button={t.startAudit} isWide>
      <Stack gap="md" maw={640}>
        <TextInput label={t.name} {...field('name')} required maxLength={200} />
        <DomainField {...field('domainId')} />
        <TagsInput label={t.startUrls} description={t.startUrlsHint} {...field('startUrls')} />
        <TextInput label={t.sitemap} {...field('sitemap')} />
        <NumberInput label={t.maxPages} {...field('maxPages')} min={1} allowDecimal={false} />
        <NativeSelect
          label={t.consent}
          value={values.consent.mode}
          onChange={({ currentTarget }) => set({ consent: { mode: currentTarget.value as Mode } })}
          data={MODES.map((value) => ({ value, label: t.consents[value] }))}
          error={sending.errorOf('consent')}
        />
        <ScheduleField pattern={values.schedule} timezone={values.timezone} change={set} errorOf={sending.errorOf} />
      </Stack>
      <Expectations
        expectations={values.expect}
        steps={[]}
        change={(expect) => set({ expect: expect.map(({ step, ...rest }) => rest) })}
        error={sending.errorOf('expect')}
      />
    </Form>
  )
}
