import type { ReactNode } from 'react'
import classes from './data-text.module.css'
import { UNKNOWN } from './format.ts'

/**
 * Text that is not from `messages.ts`: names, titles, messages from the server. It is isolated, so right-to-left names
 * don't affect the surrounding text, and browsers don't translate it. Null is shown as –.
 */
export function Data({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <bdi translate="no" className={className}>
      {children ?? UNKNOWN}
    </bdi>
  )
}

/**
 * A message from the server. Keys between backticks are shown as code. The backticks remain in the text for copying and
 * screen readers.
 */
export function Sentence({ children, className }: { children: string; className?: string }) {
  return (
    <Data className={className}>
      {children.split(CODE).map((part, index) =>
        index % 2 === 0 ? (
          part
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified only by their index
          <code key={index} className={classes.code}>
            {TICK}
            {part}
            {TICK}
          </code>
        ),
      )}
    </Data>
  )
}
const CODE = /`([^`]+)`/
const TICK = <span className={classes.tick}>{'`'}</span>

/** An option for a native select, with user data as its label. */
export const dataOption = (value: string, label: string) => ({ value, label, translate: 'no' as const })

/** `renderOption` for fields whose options are user data. */
export const asData = ({ option: { value } }: { option: { value: string } }) => <Data>{value}</Data>

/** Keys, event names and values in a code font. */
export function Code({ children }: { children: ReactNode }) {
  return (
    <code translate="no" dir="auto">
      {children}
    </code>
  )
}

const DOT = ' · '
/** Separator between parts of a line. Its spaces are preserved. */
export const Dot = () => (
  <bdi translate="no" style={{ whiteSpace: 'pre-wrap' }}>
    {DOT}
  </bdi>
)
