import { Button, Checkbox, Paper, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getOrganizationOptions, getOrganizationQueryKey } from '#client/@tanstack/react-query.gen'
import { rotateWebhookSecret, updateOrganization } from '#client/sdk.gen'
import type { Organization } from '#client/types.gen'
import { MAX_NAME_LENGTH } from '../../../contract/limits.ts'
import { errorMessage } from '../../api/api-error.ts'
import { invalidate, queries } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Form } from '../../components/form.tsx'
import { timeZones } from '../../components/local-time.ts'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { SettingsLayout } from './settings-layout.tsx'

/** Width of the cards. */
const CARD_PX = 512

/** `/settings/organization`: name, currency and personal-data settings. */
export function OrganizationPage() {
  const query = useQuery(getOrganizationOptions())
  return (
    <SettingsLayout name="organization">
      <RoleNotice needs="admin" what={messages.settings.organization.restrictedAction} />
      <QueryState query={query}>{(organization) => <OrganizationForm organization={organization} />}</QueryState>
    </SettingsLayout>
  )
}

/** Currency codes known to the browser. */
const currencies = () => Intl.supportedValuesOf('currency')

function OrganizationForm({ organization }: { organization: Organization }) {
  const may = useHasRole('admin')
  const { name, currency, phoneRegions, consentOptIn, timezone, requireSecondFactor } = organization
  const saved = { name, currency, phoneRegions, consentOptIn, timezone, requireSecondFactor }
  const { field, check, sending } = useFormFields(saved, async (body) => {
    queries.setQueryData(getOrganizationQueryKey(), (await updateOrganization({ body })).data)
    await invalidate('whoami')
    notices.say(messages.settings.organization.saved)
  })
  const fields = (
    <fieldset disabled={!may} className="plain">
      <Stack gap="md">
        <TextInput label={messages.settings.fields.name} {...field('name')} required maxLength={MAX_NAME_LENGTH} />
        <Select
          label={messages.settings.fields.currency}
          description={messages.settings.organization.currencyHint}
          placeholder={messages.settings.organization.noCurrency}
          {...field('currency')}
          data={currencies()}
          disabled={!may}
          searchable
          clearable
        />
        <Select
          label={messages.settings.organization.timezone}
          description={messages.settings.organization.timezoneHint}
          {...field('timezone')}
          data={timeZones(timezone)}
          disabled={!may}
          allowDeselect={false}
          searchable
        />
        <TagsInput
          label={messages.settings.organization.phoneRegions}
          description={messages.settings.organization.phoneRegionsHint}
          {...field('phoneRegions')}
          disabled={!may}
        />
        <Checkbox
          label={messages.settings.organization.consentOptIn}
          description={messages.settings.organization.consentOptInHint}
          {...check('consentOptIn')}
        />
        <Checkbox
          label={messages.settings.organization.requireSecondFactor}
          description={messages.settings.organization.requireSecondFactorHint}
          {...check('requireSecondFactor')}
        />
      </Stack>
    </fieldset>
  )
  if (!may) return <Paper maw={CARD_PX}>{fields}</Paper>
  return (
    <Stack gap="lg" maw={CARD_PX}>
      <Paper>
        <Form submission={sending} button={messages.settings.save}>
          {fields}
        </Form>
      </Paper>
      <WebhookSecret secret={organization.webhookSecret} />
    </Stack>
  )
}

/** The secret that signs webhook messages; for admins. */
function WebhookSecret({ secret }: { secret: string | null }) {
  if (secret === null) return null
  const rotate = async () => {
    try {
      await rotateWebhookSecret()
      await queries.invalidateQueries({ queryKey: getOrganizationQueryKey() })
      notices.say(messages.settings.organization.secretRotated)
    } catch (error) {
      notices.refuse(errorMessage(error), () => void rotate())
    }
  }
  return (
    <Paper>
      <Stack gap="sm">
        <TextInput
          label={messages.settings.organization.webhookSecret}
          description={messages.settings.organization.webhookSecretHint}
          value={secret}
          readOnly
          translate="no"
        />
        <Button variant="default" onClick={() => void rotate()} w="fit-content">
          {messages.settings.organization.rotateSecret}
        </Button>
      </Stack>
    </Paper>
  )
}
