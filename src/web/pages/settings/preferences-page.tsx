import {
  Badge,
  Button,
  Paper,
  PasswordInput,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
  useMantineColorScheme,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { listSessionsOptions } from '#client/@tanstack/react-query.gen'
import { changePassword, changeWhoami, endSession } from '#client/sdk.gen'
import type { Session, Whoami } from '#client/types.gen'
import { MAX_NAME_LENGTH, PASSWORD_LENGTH } from '../../../contract/limits.ts'
import { invalidate } from '../../api/queries.ts'
import { useHasRole, useWhoami } from '../../api/whoami.ts'
import { Form } from '../../components/form.tsx'
import { LabelledSwitch } from '../../components/labelled-switch.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { preferences, usePreferences } from '../../state/preferences.ts'
import { SettingsLayout } from './settings-layout.tsx'

/** `/settings/preferences`: settings of this browser, and the user's name and password. */
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
            <SessionsCard />
          </Paper>
        )}
      </Stack>
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

/** The user's sessions. All except the current one can be ended. */
function SessionsCard() {
  const query = useQuery(listSessionsOptions())
  const t = messages.settings.sessions
  const end = async ({ id }: Session) => {
    await endSession({ path: { id } })
    await invalidate('listSessions')
    notices.say(t.ended)
  }
  return (
    <>
      <Text fw={600} mb="sm">
        {t.title}
      </Text>
      <QueryState query={query}>
        {({ sessions }) => (
          <SimpleTable
            name={t.title}
            rows={sessions}
            keyOf={({ id }) => id}
            columns={[
              { head: t.opened, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
              { head: t.lastUsed, cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} /> },
              {
                head: messages.settings.actions,
                isHeadHidden: true,
                cell: (session) =>
                  session.current ? (
                    <Badge variant="light">{t.current}</Badge>
                  ) : (
                    <Button size="compact-sm" variant="default" onClick={() => void end(session)}>
                      {t.end}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </QueryState>
    </>
  )
}
