import { Menu } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Issue } from '#client/types.gen'
import { messages } from '../../messages.ts'
import { setStatus } from './change-issue-status.ts'

const HOUR_MS = 3_600_000
const DURATIONS = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS, forever: null } as const

interface MuteMenuProps {
  issue: Issue
  isOpen: boolean
  open(isOpen: boolean): void
  /** The element to which the menu is attached. */
  children: ReactNode
}

/** A menu of mute durations. */
export function MuteMenu({ issue, isOpen, open, children }: MuteMenuProps) {
  const mute = (ms: number | null) => void setStatus([issue], 'muted', ms === null ? null : Date.now() + ms)
  return (
    <Menu opened={isOpen} onChange={open} position="bottom-end" width={180}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{messages.issues.mute}</Menu.Label>
        {Object.entries(DURATIONS).map(([name, ms]) => (
          <Menu.Item key={name} onClick={() => mute(ms)}>
            {messages.issues.muteDurations[name as keyof typeof DURATIONS]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
