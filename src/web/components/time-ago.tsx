import { type FocusEvent, type PointerEvent, useRef, useState } from 'react'
import { messages } from '../messages.ts'
import { Data } from './data-text.tsx'
import { type Distance, distanceOf, formatDate, formatMoment, UNKNOWN } from './format.ts'
import classes from './time-ago.module.css'
import { TimePopover } from './time-popover.tsx'
import { useNow } from './use-now.ts'
import { useTimeZone } from './use-time-zone.ts'

/** Delay before the popover opens on hover. */
const HOVER_MS = 300

interface AgoProps {
  /** Milliseconds since the epoch; null for never. */
  at: number | null | undefined
  /** Text for null; default: –. */
  missing?: string
  /** True in clickable rows. The time is then not focusable, and a click on it activates the row. */
  isQuiet?: boolean
}

/** Relative time (`38 min ago`; the date beyond seven days), with the exact time on hover, focus or tap. */
export function TimeAgo({ at, missing, isQuiet = false }: AgoProps) {
  const now = useNow()
  const zone = useTimeZone()
  if (at === null || at === undefined) return <span>{missing ?? <Data>{UNKNOWN}</Data>}</span>
  const text = sayDistance(distanceOf(at, now, zone))
  return <Moment at={at} text={text} isQuiet={isQuiet} />
}

/** Date and time in the user's time zone, `12 Mar 2026, 14:10`, with the same popover as `TimeAgo`. */
export function DateTime({ at, isQuiet = false }: { at: number; isQuiet?: boolean }) {
  return <Moment at={at} text={formatMoment(at, useTimeZone())} isQuiet={isQuiet} />
}

/** Time of day with seconds in the user's time zone, `14:10:07`, with the same popover as `TimeAgo`. */
export function TimeOfDay({ at }: { at: number }) {
  return <Moment at={at} text={formatDate(at, useTimeZone(), { timeStyle: 'medium' })} isQuiet />
}

function sayDistance(distance: Distance): string {
  if (distance.is === 'now') return messages.displayNames.justNow
  if (distance.is === 'date') return distance.date
  return distance.is === 'ago' ? messages.displayNames.ago(distance.age) : messages.displayNames.fromNow(distance.age)
}

function Moment({ at, text, isQuiet }: { at: number; text: string; isQuiet: boolean }) {
  const [isOpen, open] = useState(false)
  const anchor = useRef<HTMLElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const close = () => {
    clearTimeout(timer.current)
    open(false)
  }
  const hover = {
    onPointerEnter: ({ pointerType }: PointerEvent) => {
      if (pointerType === 'mouse') timer.current = setTimeout(() => open(true), HOVER_MS)
    },
    onPointerLeave: close,
  }
  const time = (
    <time dateTime={new Date(at).toISOString()} className="figure">
      <Data>{text}</Data>
    </time>
  )
  const leave = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (!currentTarget.contains(relatedTarget)) close()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hover shows the same as the button inside
    <span
      className={classes.moment}
      ref={anchor}
      {...hover}
      onBlur={leave}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return
        event.preventDefault()
        close()
      }}
    >
      {isQuiet ? (
        time
      ) : (
        <button
          type="button"
          className={`${classes.button} small-target`}
          aria-expanded={isOpen}
          // A click focuses the button, which opens the popover, so a click must not toggle the popover.
          onFocus={() => open(true)}
          onClick={() => open(true)}
        >
          {time}
        </button>
      )}
      {isOpen && <TimePopover at={at} anchor={anchor} />}
    </span>
  )
}
