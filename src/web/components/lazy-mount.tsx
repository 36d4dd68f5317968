import { type ReactNode, useRef } from 'react'

interface OnceProps {
  isOpen: boolean
  children(isOpen: boolean): ReactNode
}

/** Mounts a dialog when it is first opened, to save rendering time. */
export function LazyMount({ isOpen, children }: OnceProps) {
  const wasOpen = useRef(false)
  wasOpen.current ||= isOpen
  return wasOpen.current && children(isOpen)
}
