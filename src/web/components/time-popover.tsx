import { ActionIcon } from '@mantine/core'
import { IconCopy } from '@tabler/icons-react'
import { type RefObject, useLayoutEffect, useRef } from 'react'
import { messages } from '../messages.ts'
import { notices } from '../state/notices.ts'
import { copyText } from './copy-text.ts'
import { Data } from './data-text.tsx'
import { formatDate } from './format.ts'
import classes from './time-ago.module.css'
import { useTimeZone } from './use-time-zone.ts'

const EXACT: Intl.DateTimeFormatOptions = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
}
const MARGIN_PX = 8

/** Popover that shows a time as local time, UTC and epoch time, each with a copy button. */
export function TimePopover({ at, anchor }: { at: number; anchor: RefObject<HTMLElement | null> }) {
  const zone = useTimeZone()
  const card = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    const { current: element } = card
    const { current: beside } = anchor
    if (!element || !beside) return
    element.showPopover()
    const { left, bottom, top } = beside.getBoundingClientRect()
    const { width, height } = element.getBoundingClientRect()
    const isRoomBelow = bottom + height + MARGIN_PX < window.innerHeight
    element.style.left = `${Math.max(MARGIN_PX, Math.min(left, window.innerWidth - width - MARGIN_PX))}px`
    element.style.top = `${isRoomBelow ? bottom : Math.max(MARGIN_PX, top - height)}px`
  }, [anchor])
  const lines = [
    { name: messages.displayNames.local, text: `${formatDate(at, zone, EXACT)} ${zone}` },
    { name: messages.displayNames.utc, text: new Date(at).toISOString() },
    { name: messages.displayNames.epoch, text: String(at) },
  ]
  return (
    <span popover="manual" ref={card} className={classes.card}>
      {lines.map(({ name, text }) => (
        <span key={name} className={classes.line}>
          <span className={classes.name}>{name}</span>
          <span className="figure">
            <Data>{text}</Data>
          </span>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={24}
            aria-label={messages.displayNames.copyTime(name)}
            onClick={() => void copyText(text).then(() => notices.say(messages.shell.copied))}
          >
            <IconCopy size={14} aria-hidden />
          </ActionIcon>
        </span>
      ))}
    </span>
  )
}
