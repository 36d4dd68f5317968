import { Checkbox, Modal, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { MAX_MUTE_REASON_LENGTH } from '../../../contract/limits.ts'
import { Data } from '../../components/data-text.tsx'
import { Form, useSubmit } from '../../components/form.tsx'
import { fromLocalInput, toLocalInput } from '../../components/local-time.ts'
import { messages } from '../../messages.ts'
import { type AnyIssue, muteOrFail } from './change-issue-status.ts'
import { nextMonday } from './mute-times.ts'

/** Maximum number of hosts that the dialog lists. */
const MAX_LISTED_HOSTS = 20

interface MuteDialogProps {
  /** The issues to mute; null while closed. */
  issues: readonly AnyIssue[] | null
  /** Time zone of the organization. */
  timeZone: string
  close(): void
}

/** Dialog that mutes issues until a time, with a reason, on all hosts or on some. */
export function MuteDialog({ issues, timeZone, close }: MuteDialogProps) {
  const t = messages.issues
  return (
    <Modal
      opened={issues !== null}
      onClose={close}
      title={issues && t.muteTitle(issues.length)}
      closeButtonProps={{ 'aria-label': messages.shell.close }}
    >
      {issues && <MuteForm issues={issues} timeZone={timeZone} close={close} />}
    </Modal>
  )
}

function MuteForm({ issues, timeZone, close }: MuteDialogProps & { issues: readonly AnyIssue[] }) {
  const t = messages.issues
  const [isTimed, time] = useState(true)
  const [until, end] = useState(() => toLocalInput(nextMonday(Date.now(), timeZone), timeZone))
  const [reason, explain] = useState('')
  const [chosen, choose] = useState<readonly string[]>([])
  const hosts = [...new Set(issues.flatMap((issue) => issue.hosts ?? []))].slice(0, MAX_LISTED_HOSTS)
  const sending = useSubmit(['mutedUntil', 'muteReason', 'mutedHosts'], async () => {
    await muteOrFail(issues, {
      mutedUntil: isTimed ? fromLocalInput(until, timeZone) : null,
      ...(reason.trim() !== '' && { muteReason: reason }),
      ...(chosen.length > 0 && { mutedHosts: [...chosen] }),
    })
    close()
  })
  return (
    <Form submission={sending} button={t.muteTitle(issues.length)}>
      <Radio.Group label={t.muteEnd} value={isTimed ? 'time' : 'forever'} onChange={(value) => time(value === 'time')}>
        <Stack gap="xs" mt={4}>
          <Radio value="time" label={t.atTime} />
          <Radio value="forever" label={t.muteDurations.forever} />
        </Stack>
      </Radio.Group>
      {isTimed && (
        <TextInput
          type="datetime-local"
          label={t.mutedUntil(timeZone)}
          value={until}
          onChange={({ currentTarget }) => end(currentTarget.value)}
          error={sending.errorOf('mutedUntil')}
          required
        />
      )}
      <TextInput
        label={t.muteReason}
        description={t.muteReasonHint}
        value={reason}
        onChange={({ currentTarget }) => explain(currentTarget.value)}
        error={sending.errorOf('muteReason')}
        maxLength={MAX_MUTE_REASON_LENGTH}
        data-autofocus
      />
      {hosts.length > 0 && (
        <Checkbox.Group
          label={t.mutedHosts}
          description={t.mutedHostsHint}
          value={[...chosen]}
          onChange={choose}
          error={sending.errorOf('mutedHosts')}
        >
          <Stack gap="xs" mt={4}>
            {hosts.map((host) => (
              <Checkbox key={host} value={host} label={<Data>{host}</Data>} />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
      {chosen.length > 0 && (
        <Text fz="sm" c="dimmed">
          {t.otherHosts}
        </Text>
      )}
    </Form>
  )
}
