import { SEVERITIES, type Severity } from '../../contract/severities.ts'
import { messages } from '../messages.ts'
import { Data } from './data-text.tsx'
import classes from './marks.module.css'

const BARS = [4, 7, 10, 14]
const WIDTH_PX = 3
const STEP_PX = 4

interface SeverityMarkProps {
  severity: Severity
  /** False if the text is only for screen readers. */
  isWordShown?: boolean
}

/** Four ascending bars, of which 1 to 4 are filled, and the name of the severity. It can be read without colour. */
export function SeverityMark({ severity, isWordShown = true }: SeverityMarkProps) {
  const filled = SEVERITIES.indexOf(severity) + 1
  return (
    <span className={classes.mark} data-tone={severity}>
      <svg width={16} height={14} viewBox="0 0 16 14" aria-hidden className={classes.bars}>
        {BARS.map((height, index) => (
          <rect
            key={height}
            x={index * STEP_PX}
            y={14 - height}
            width={WIDTH_PX}
            height={height}
            rx={1}
            data-filled={index < filled || undefined}
          />
        ))}
      </svg>
      <span className={isWordShown ? classes.word : 'heard'}>
        {messages.displayNames.severities[severity] ?? <Data>{severity}</Data>}
      </span>
    </span>
  )
}
