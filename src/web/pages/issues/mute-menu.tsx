import { Menu, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Data } from '../../components/data-text.tsx'
import { formatDate } from '../../components/format.ts'
import { useOrganizationTimeZone } from '../../components/use-time-zone.ts'
import { messages } from '../../messages.ts'
import { type AnyIssue, setStatus } from './change-issue-status.ts'
import { MuteDialog } from './mute-dialog.tsx'
import { nextMonday } from './mute-times.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WHEN: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }

interface MuteMenuProps {
  /** The issues to mute. */
  issues: readonly AnyIssue[]
  isOpen: boolean
  open(isOpen: boolean): void
  /** The element to which the menu is attached. */
  children: ReactNode
}

/** A menu of mute durations, and of a dialog with a time, a reason and hosts. */
export function MuteMenu({ issues, isOpen, open, children }: MuteMenuProps) {
  const [inDialog, openDialog] = useState<readonly AnyIssue[] | null>(null)
  const timeZone = useOrganizationTimeZone()
  const now = Date.now()
  const monday = timeZone && nextMonday(now, timeZone)
  const t = messages.issues
  const mute = (mutedUntil: number | null) => () => void setStatus(issues, 'muted', { mutedUntil })
  return (
    <>
      <Menu opened={isOpen} onChange={open} position="bottom-end" width={240}>
        <Menu.Target>{children}</Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{t.mute}</Menu.Label>
          <Menu.Item onClick={mute(now + HOUR_MS)}>{t.muteDurations.hour}</Menu.Item>
          <Menu.Item onClick={mute(now + DAY_MS)}>{t.muteDurations.day}</Menu.Item>
          {monday && (
            <Menu.Item onClick={mute(monday)}>
              {t.untilMonday}
              <Text fz="xs" c="dimmed">
                <Data>{`${formatDate(monday, timeZone, WHEN)} ${timeZone}`}</Data>
              </Text>
            </Menu.Item>
          )}
          <Menu.Item onClick={mute(now + 7 * DAY_MS)}>{t.muteDurations.week}</Menu.Item>
          <Menu.Item onClick={mute(null)}>{t.muteDurations.forever}</Menu.Item>
          <Menu.Divider />
          <Menu.Item onClick={() => openDialog(issues)}>{t.muteOptions}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <MuteDialog issues={inDialog} timeZone={timeZone ?? 'UTC'} close={() => openDialog(null)} />
    </>
  )
}
