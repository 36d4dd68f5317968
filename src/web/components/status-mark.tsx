import {
  IconAlertTriangle,
  IconBellOff,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleDot,
  IconCircleOff,
  IconEyeCheck,
  type IconProps,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import classes from './marks.module.css'

/** Status icons. Several API statuses may share an icon. */
const ICONS = {
  open: { icon: IconCircleDot, tone: null },
  acknowledged: { icon: IconEyeCheck, tone: null },
  resolved: { icon: IconCircleCheck, tone: 'ok' },
  muted: { icon: IconBellOff, tone: 'dimmed' },
  learning: { icon: IconCircleDashed, tone: 'dimmed' },
  off: { icon: IconCircleOff, tone: 'dimmed' },
  failed: { icon: IconAlertTriangle, tone: 'critical' },
} as const satisfies Record<string, { icon: ComponentType<IconProps>; tone: string | null }>
export type StatusIcon = keyof typeof ICONS

interface StatusMarkProps {
  status: StatusIcon
  /** Text of the status, such as `messages.displayNames.statuses[status]`. */
  word: string
  /** False if the text is only for screen readers. */
  isWordShown?: boolean
}

/** Icon and text of a status. */
export function StatusMark({ status, word, isWordShown = true }: StatusMarkProps) {
  const { icon: Icon, tone } = ICONS[status]
  return (
    <span className={classes.mark} data-tone={tone ?? undefined} title={isWordShown ? undefined : word}>
      <Icon size={16} stroke={1.75} aria-hidden />
      <span className={isWordShown ? undefined : 'heard'}>{word}</span>
    </span>
  )
}
