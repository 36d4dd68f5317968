import type { PointerEvent } from 'react'

/** Shows the full text of a truncated name while the pointer is over it. */
export function showFullName({ target }: PointerEvent): void {
  const name = target instanceof Element ? target.closest<HTMLElement>('bdi, code') : null
  if (!name) return
  const isCut = name.scrollWidth > name.clientWidth || name.scrollHeight > name.clientHeight
  name.title = isCut ? (name.textContent ?? '') : ''
}
