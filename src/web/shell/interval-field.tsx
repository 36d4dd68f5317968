import { ActionIcon, Popover } from '@mantine/core'
import { IconCalendar, IconX } from '@tabler/icons-react'
import { lazy, Suspense, useRef, useState } from 'react'
import { Data } from '../components/data-text.tsx'
import { formatMoment, formatSpan } from '../components/format.ts'
import { useTimeZone } from '../components/use-time-zone.ts'
import { messages } from '../messages.ts'
import { useSharedParams } from '../url-state/use-search-params.ts'
import classes from './header.module.css'

const WIDTH_PX = 288
const IntervalForm = lazy(async () => ({ default: (await import('./interval-form.tsx')).IntervalForm }))

/** Opens the choice of an interval. A chosen interval is a chip with a button that returns to the preset. */
export function IntervalField() {
  const [{ from, to }, setShared] = useSharedParams()
  const [isOpen, open] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  const zone = useTimeZone()
  const t = messages.timeRange
  const isChosen = from !== null || to !== null
  const text = isChosen ? textOf(from, to, zone) : null
  const remove = () => {
    setShared({ from: null, to: null })
    // The button that had the focus disappears.
    opener.current?.focus()
  }
  return (
    <div className={classes.interval} data-chosen={isChosen || undefined}>
      <Popover opened={isOpen} onChange={open} width={WIDTH_PX} position="bottom-end" trapFocus returnFocus shadow="md">
        <Popover.Target>
          <button
            ref={opener}
            type="button"
            className={classes.opener}
            aria-label={text === null ? t.choose : t.change(text)}
            title={text === null ? t.choose : undefined}
            onClick={() => open(!isOpen)}
          >
            <IconCalendar size={16} aria-hidden />
            {text !== null && <Data>{text}</Data>}
          </button>
        </Popover.Target>
        <Popover.Dropdown aria-label={t.choose}>
          <Suspense fallback={<div aria-busy="true" />}>
            <IntervalForm close={() => open(false)} />
          </Suspense>
        </Popover.Dropdown>
      </Popover>
      {isChosen && (
        <ActionIcon variant="subtle" color="gray" size="md" aria-label={t.remove} onClick={remove}>
          <IconX size={14} aria-hidden />
        </ActionIcon>
      )}
    </div>
  )
}

function textOf(from: number | null, to: number | null, zone: string): string {
  const t = messages.timeRange
  if (from !== null && to !== null) return formatSpan(from, to, zone)
  return from === null ? t.until(formatMoment(to ?? 0, zone)) : t.since(formatMoment(from, zone))
}
