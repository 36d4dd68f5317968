import { Button, NativeSelect, Paper, Stack, Switch, Text, Textarea, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getMyDigestOptions, getMyDigestQueryKey } from '#client/@tanstack/react-query.gen'
import { previewDigest, setMyDigest } from '#client/sdk.gen'
import type { DigestSubscription } from '#client/types.gen'
import { queries } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Data } from '../../components/data-text.tsx'
import { Form } from '../../components/form.tsx'
import { utcHourChoices } from '../../components/local-time.ts'
import { ErrorNotice, QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { useOrganizationTimeZone } from '../../components/use-time-zone.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { SettingsLayout } from './settings-layout.tsx'

/** `/settings/digest`: subscription to the e-mail digest. */
export function DigestPage() {
  const query = useQuery(getMyDigestOptions())
  return (
    <SettingsLayout name="digest">
      <RoleNotice needs="viewer" what={messages.settings.digest.restrictedAction} />
      <Text c="dimmed" mb="md">
        {messages.settings.digest.intro}
      </Text>
      <QueryState query={query}>{(subscription) => <DigestForm subscription={subscription} />}</QueryState>
    </SettingsLayout>
  )
}

function DigestForm({ subscription }: { subscription: DigestSubscription }) {
  const may = useHasRole('viewer')
  const timeZone = useOrganizationTimeZone() ?? 'UTC'
  const t = messages.settings.digest
  const { subscribed, context, hourUtc } = subscription
  const { values, field, check, set, sending } = useFormFields({ subscribed, context, hourUtc }, async (body) => {
    const { data } = await setMyDigest({ body })
    queries.setQueryData(getMyDigestQueryKey(), data)
    notices.say(t.saved)
  })
  const fields = (
    <fieldset disabled={!may} className="plain">
      <Stack gap="md">
        <Switch label={t.subscribe} {...check('subscribed')} />
        <Textarea label={t.focus} description={t.focusHint} {...field('context')} autosize minRows={2} />
        <NativeSelect
          label={t.hour}
          description={t.hourHint}
          {...field('hourUtc')}
          onChange={({ currentTarget }) => set({ hourUtc: Number(currentTarget.value) })}
          data={utcHourChoices(timeZone, Date.now())}
        />
        {subscription.nextAt !== null && (
          <Text fz="sm">
            {t.next} <TimeAgo at={subscription.nextAt} />
          </Text>
        )}
      </Stack>
    </fieldset>
  )
  return (
    <Stack gap="xl">
      <Paper maw={512}>
        {may ? (
          <Form submission={sending} button={messages.settings.save}>
            {fields}
          </Form>
        ) : (
          fields
        )}
      </Paper>
      <Preview context={values.context} />
    </Stack>
  )
}

/** A preview of the next digest, in a frame that runs no scripts and loads no resources. */
function Preview({ context }: { context: string }) {
  const t = messages.settings.digest
  const preview = useMutation({
    mutationFn: async () => (await previewDigest({ body: { context } })).data,
  })
  return (
    <Stack gap="md">
      <Title order={2}>{t.preview}</Title>
      <Button variant="default" w="fit-content" loading={preview.isPending} onClick={() => preview.mutate()}>
        {t.showPreview}
      </Button>
      {preview.error && <ErrorNotice refusal={preview.error} retry={() => preview.mutate()} />}
      {preview.data &&
        (preview.data.hasData ? (
          <Paper>
            <Text fw={600} mb="sm">
              <Data>{preview.data.subject}</Data>
            </Text>
            <iframe title={t.preview} sandbox="" srcDoc={preview.data.html} className="preview" />
          </Paper>
        ) : (
          <Text>{t.empty}</Text>
        ))}
    </Stack>
  )
}
