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
import { useQueryClient } from '@tanstack/react-query'
import { changePassword, changeWhoami } from '#client/sdk.gen'
import type { Whoami } from '#client/types.gen'
import { useMay, useWho } from '../../api/who.ts'
import { useFields } from '../../parts/fields.ts'
import { Form } from '../../parts/form.tsx'
import { MayLine } from '../../parts/may.tsx'
import { Toggle } from '../../parts/toggle.tsx'
import { notices } from '../../shell/notices.ts'
import { preferences, usePreferences } from '../../shell/preferences.ts'
import { words } from '../../words.ts'
import { SessionsCard } from './sessions-card.tsx'
import { SettingsFrame } from './settings-frame.tsx'

/** `/settings/preferences`: what a person chose for this browser, and their own name and password. */
export function PreferencesPage() {
  const who = useWho()
  const may = useMay('viewer')
  return (
    <SettingsFrame name="preferences">
      <MayLine needs="viewer" what={words.settings.preferences.what} />
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
            <SessionsCard />
          </Paper>
        )}
      </Stack>
    </SettingsFrame>
  )
}

function BrowserPreferences() {
  const { singleKeys, timeZone } = usePreferences()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const said = words.settings.preferences
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <Stack gap="md">
      <Text c="dimmed" fz="sm">
        {said.intro}
      </Text>
      <div>
        <Text component="span" fz="sm" fw={600} id="theme-name">
          {said.theme}
        </Text>
        <SegmentedControl
          fullWidth
          aria-labelledby="theme-name"
          value={colorScheme}
          onChange={(chosen) => setColorScheme(chosen as typeof colorScheme)}
          data={(['auto', 'light', 'dark'] as const).map((value) => ({ value, label: said.themes[value] }))}
        />
      </div>
      <Select
        label={said.timeZone}
        placeholder={said.ownZone(own)}
        value={timeZone}
        onChange={(chosen) => preferences.change({ timeZone: chosen })}
        data={Intl.supportedValuesOf('timeZone')}
        searchable
        clearable
      />
      <Toggle
        label={said.singleKeys}
        description={said.singleKeysHint}
        checked={singleKeys}
        onChange={({ currentTarget }) => preferences.change({ singleKeys: currentTarget.checked })}
      />
    </Stack>
  )
}

function NameForm({ who }: { who: Whoami }) {
  const queries = useQueryClient()
  const { field, sending } = useFields({ name: who.name ?? '' }, async (body) => {
    await changeWhoami({ body, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'whoami' }] })
    notices.say(words.settings.preferences.nameSaved)
  })
  return (
    <Form sending={sending} button={words.settings.preferences.saveName}>
      <TextInput
        label={words.settings.preferences.yourName}
        {...field('name')}
        maxLength={200}
        autoComplete="name"
        required
      />
    </Form>
  )
}

const NO_PASSWORDS = { currentPassword: '', newPassword: '' }
const MOST_LETTERS = 1000

function PasswordForm() {
  const { field, set, sending } = useFields(NO_PASSWORDS, async (body) => {
    const { revokedKeys } = (await changePassword({ body, throwOnError: true })).data
    set(NO_PASSWORDS)
    notices.say(words.signIn.passwordChanged(revokedKeys))
  })
  return (
    <Form sending={sending} button={words.settings.preferences.savePassword}>
      <PasswordInput
        label={words.settings.preferences.currentPassword}
        autoComplete="current-password"
        {...field('currentPassword')}
        required
        maxLength={MOST_LETTERS}
      />
      <PasswordInput
        label={words.settings.preferences.password}
        description={words.signIn.passwordHint}
        autoComplete="new-password"
        {...field('newPassword')}
        required
        maxLength={MOST_LETTERS}
      />
    </Form>
  )
}
