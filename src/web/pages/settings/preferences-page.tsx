import {
  Paper,
  PasswordInput,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
  useMantineColorScheme,
} from '@mantine/core'
import { changePassword, changeWhoami } from '#client/sdk.gen'
import type { Whoami } from '#client/types.gen'
import { MAX_NAME_LENGTH, PASSWORD_LENGTH } from '../../../contract/limits.ts'
import { invalidate } from '../../api/queries.ts'
import { useHasRole, useWhoami } from '../../api/whoami.ts'
import { Form } from '../../components/form.tsx'
import { LabelledSwitch } from '../../components/labelled-switch.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { preferences, usePreferences } from '../../state/preferences.ts'
import { SecondFactorCard } from './second-factor-card.tsx'
import { SessionsCard } from './sessions-card.tsx'
import { SettingsLayout } from './settings-layout.tsx'

/** `/settings/preferences`: settings of this browser, and the user's name, password, second factor and sessions. */
export function PreferencesPage() {
  const who = useWhoami()
  const may = useHasRole('viewer')
  return (
    <SettingsLayout name="preferences">
      <RoleNotice needs="viewer" what={messages.settings.preferences.restrictedAction} />
      <Stack gap="lg" maw={480}>
        <Paper>
          <BrowserPreferences />
        </Paper>
        {who && may && (
          <Paper>
            <NameForm who={who} />
          </Paper>
        )}
        {who?.via === 'session' && (
          <Paper>
            <PasswordForm />
          </Paper>
        )}
        {who?.via === 'session' && (
          <Paper>
            <SecondFactorCard />
          </Paper>
        )}
      </Stack>
      {who?.via === 'session' && (
        <Paper maw={960} mt="lg">
          <SessionsCard />
        </Paper>
      )}
    </SettingsLayout>
  )
}

function BrowserPreferences() {
  const { singleKeys, timeZone } = usePreferences()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const t = messages.settings.preferences
  const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <Stack gap="md">
      <Text c="dimmed" fz="sm">
        {t.intro}
      </Text>
      <div>
        <Text component="span" fz="sm" fw={600} id="theme-name">
          {t.theme}
        </Text>
        <SegmentedControl
          fullWidth
          aria-labelledby="theme-name"
          value={colorScheme}
          onChange={(chosen) => setColorScheme(chosen as typeof colorScheme)}
          data={(['auto', 'light', 'dark'] as const).map((value) => ({ value, label: t.themes[value] }))}
        />
      </div>
      <Select
        label={t.timeZone}
        placeholder={t.browserZone(browserZone)}
        value={timeZone}
        onChange={(chosen) => preferences.change({ timeZone: chosen })}
        data={Intl.supportedValuesOf('timeZone')}
        searchable
        clearable
      />
      <LabelledSwitch
        label={t.singleKeys}
        description={t.singleKeysHint}
        checked={singleKeys}
        onChange={({ currentTarget }) => preferences.change({ singleKeys: currentTarget.checked })}
      />
    </Stack>
  )
}

function NameForm({ who }: { who: Whoami }) {
  const { field, sending } = useFormFields({ name: who.name ?? '' }, async (body) => {
    await changeWhoami({ body })
    await invalidate('whoami')
    notices.say(messages.settings.preferences.nameSaved)
  })
  return (
    <Form submission={sending} button={messages.settings.preferences.saveName}>
      <TextInput
        label={messages.settings.preferences.yourName}
        {...field('name')}
        maxLength={MAX_NAME_LENGTH}
        autoComplete="name"
        required
      />
    </Form>
  )
}

const NO_PASSWORDS = { currentPassword: '', newPassword: '' }

function PasswordForm() {
  const { field, set, sending } = useFormFields(NO_PASSWORDS, async (body) => {
    const { revokedKeys } = (await changePassword({ body })).data
    set(NO_PASSWORDS)
    notices.say(messages.signIn.passwordChanged(revokedKeys))
  })
  return (
    <Form submission={sending} button={messages.settings.preferences.savePassword}>
      <PasswordInput
        label={messages.settings.preferences.currentPassword}
        autoComplete="current-password"
        {...field('currentPassword')}
        required
        maxLength={PASSWORD_LENGTH.max}
      />
      <PasswordInput
        label={messages.settings.preferences.password}
        description={messages.signIn.passwordHint}
        autoComplete="new-password"
        {...field('newPassword')}
        required
        maxLength={PASSWORD_LENGTH.max}
      />
    </Form>
  )
}
