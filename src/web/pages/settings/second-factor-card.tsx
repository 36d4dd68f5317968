import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { getSecondFactorOptions } from '#client/@tanstack/react-query.gen'
import { removeSecondFactor } from '#client/sdk.gen'
import type { SecondFactor } from '#client/types.gen'
import { invalidate } from '../../api/queries.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { NewRecoveryCodes } from './recovery-codes.tsx'

const SecondFactorSetup = lazy(async () => ({
  default: (await import('./second-factor-setup.tsx')).SecondFactorSetup,
}))

/** The user's second factor, with buttons to set it up, to replace the recovery codes, and to remove it. */
export function SecondFactorCard() {
  const query = useQuery(getSecondFactorOptions())
  return (
    <Stack gap="md">
      <Text fw={600}>{messages.settings.secondFactor.title}</Text>
      <QueryState query={query}>{(state) => (state.enabled ? <Enabled state={state} /> : <Disabled />)}</QueryState>
    </Stack>
  )
}

function Disabled() {
  const [isSettingUp, setUp] = useState(false)
  const t = messages.settings.secondFactor
  if (isSettingUp) {
    return (
      <Suspense fallback={<div aria-busy="true" />}>
        <SecondFactorSetup close={() => setUp(false)} />
      </Suspense>
    )
  }
  return (
    <>
      <Text c="dimmed" fz="sm">
        {t.intro}
      </Text>
      <Button variant="default" w="fit-content" onClick={() => setUp(true)}>
        {t.setUp}
      </Button>
    </>
  )
}

function Enabled({ state }: { state: SecondFactor }) {
  const [isRemoving, remove] = useState(false)
  const [isReplacing, replace] = useState(false)
  const t = messages.settings.secondFactor
  const act = async () => {
    await removeSecondFactor()
    await Promise.all([invalidate('getSecondFactor'), invalidate('whoami')])
    notices.say(t.removed)
  }
  return (
    <>
      <Text fz="sm">
        {t.since} <TimeAgo at={state.enabledAt} />
        <br />
        {t.codesLeft(state.recoveryCodesLeft)}
      </Text>
      {isReplacing ? (
        <NewRecoveryCodes close={() => replace(false)} />
      ) : (
        <Group>
          <Button variant="default" onClick={() => replace(true)}>
            {t.replaceCodes}
          </Button>
          <Button variant="default" onClick={() => remove(true)}>
            {t.remove}
          </Button>
        </Group>
      )}
      <ConfirmDialog
        close={() => remove(false)}
        confirmation={
          isRemoving ? { title: t.remove, sentence: t.removeHint, button: t.removeButton, action: act } : null
        }
      />
    </>
  )
}
