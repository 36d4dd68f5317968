import { Alert, Button, Group, Text } from '@mantine/core'
import { IconBellOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getSendingOptions } from '#client/@tanstack/react-query.gen'
import { resumeSending } from '#client/sdk.gen'
import { invalidate } from '../api/queries.ts'
import { useHasRole } from '../api/whoami.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { Data } from '../components/data-text.tsx'
import { LazyMount } from '../components/lazy-mount.tsx'
import { messages } from '../messages.ts'
import { notices } from '../state/notices.ts'

/** A banner on every page of a server that sends nothing, because its data folder was copied or restored. */
export function QuietBanner() {
  const { data } = useQuery({ ...getSendingOptions(), staleTime: Number.POSITIVE_INFINITY })
  const isOwner = useHasRole('owner')
  const [isOpen, open] = useState(false)
  const t = messages.backups.quiet
  const resume = async () => {
    await resumeSending()
    await invalidate('getSending')
    notices.say(t.resumed)
  }
  if (!data?.quiet) return null
  return (
    <Alert variant="default" icon={<IconBellOff aria-hidden />} title={t.title} mb="md">
      <Group justify="space-between" gap="sm">
        <Text fz="sm" flex="1 1 300px">
          <Data>{t.sentence(data.quiet.reason)}</Data>
          {!isOwner && ` ${t.byOwner}`}
        </Text>
        {isOwner && (
          <Button size="compact-sm" variant="default" onClick={() => open(true)}>
            {t.resume}
          </Button>
        )}
      </Group>
      <LazyMount isOpen={isOpen}>
        {(isOpen) => (
          <ConfirmDialog
            close={() => open(false)}
            confirmation={isOpen ? { title: t.question, sentence: t.warning, button: t.resume, action: resume } : null}
          />
        )}
      </LazyMount>
    </Alert>
  )
}
