import type { ReactNode } from 'react'
import classes from './data-text.module.css'
import { UNKNOWN } from './format.ts'

/**
 * What comes from the data, and not from `messages.ts`: names, titles, the server's sentences. Its direction is its own, so
 * that right-to-left names change nothing around them, and browsers do not translate it. What is null is shown as –.
 */
export function Data({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <bdi translate="no" className={className}>
      {children ?? UNKNOWN}
    </bdi>
  )
}

/**
 * A sentence of the server, whose names of keys stand between backticks: they are drawn as code. The backticks stay in the
 * text, so that what is copied or read out is the sentence.
 */
export function Sentence({ children, className }: { children: string; className?: string }) {
  return (
    <Data className={className}>
      {children.split(CODE).map((part, index) =>
        index % 2 === 0 ? (
          part
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other name.
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

/** A choice of a native field whose words come from the data. */
export const dataOption = (value: string, label: string) => ({ value, label, translate: 'no' as const })

/** For the `renderOption` of a field whose choices come from the data. */
export const asData = ({ option: { value } }: { option: { value: string } }) => <Data>{value}</Data>

/** Names of keys, events and values, unchanged. */
export function Code({ children }: { children: ReactNode }) {
  return (
    <code translate="no" dir="auto">
      {children}
    </code>
  )
}

const DOT = ' · '
/** Between two parts of a line. Its spaces stay, also in rows, where names are boxes. */
export const Dot = () => (
  <bdi translate="no" style={{ whiteSpace: 'pre-wrap' }}>
    {DOT}
  </bdi>
)
