import { type ReactNode, useRef } from 'react'

interface OnceProps {
  isOpen: boolean
  children(isOpen: boolean): ReactNode
}

/** Draws a dialog from its first opening on: closed ones that nobody opened cost every page as much as a card. */
export function LazyMount({ isOpen, children }: OnceProps) {
  const wasOpen = useRef(false)
  wasOpen.current ||= isOpen
  return wasOpen.current && children(isOpen)
}
