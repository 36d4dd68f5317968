import type { ReactNode } from 'react'

/**
 * What comes from the data, and not from `words.ts`: names, titles, the server's sentences. Its direction is its own, so
 * that right-to-left names change nothing around them, and browsers do not translate it.
 */
export function Data({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <bdi translate="no" className={className}>
      {children}
    </bdi>
  )
}

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
/** Between two parts of a line. */
export const Dot = () => <Data>{DOT}</Data>
