import {
  IconAlertTriangle,
  IconBellOff,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleDot,
  IconEyeCheck,
  type IconProps,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import classes from './marks.module.css'

/** Kinds of standing that have an icon; several statuses of the API may share one. */
const ICONS = {
  open: { icon: IconCircleDot, tone: null },
  acknowledged: { icon: IconEyeCheck, tone: null },
  resolved: { icon: IconCircleCheck, tone: 'ok' },
  muted: { icon: IconBellOff, tone: 'dimmed' },
  learning: { icon: IconCircleDashed, tone: 'dimmed' },
  failed: { icon: IconAlertTriangle, tone: 'critical' },
} as const satisfies Record<string, { icon: ComponentType<IconProps>; tone: string | null }>
export type StatusIcon = keyof typeof ICONS

interface StatusMarkProps {
  status: StatusIcon
  /** The word of the status: `words.api.statuses[status]` for issues. */
  word: string
  /** False where the word is only spoken. */
  isWordShown?: boolean
}

/** An icon and a word: how something stands. */
export function StatusMark({ status, word, isWordShown = true }: StatusMarkProps) {
  const { icon: Icon, tone } = ICONS[status]
  return (
    <span className={classes.mark} data-tone={tone ?? undefined} title={isWordShown ? undefined : word}>
      <Icon size={16} stroke={1.75} aria-hidden />
      <span className={isWordShown ? undefined : 'heard'}>{word}</span>
    </span>
  )
}
