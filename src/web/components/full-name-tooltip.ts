import type { PointerEvent } from 'react'

/** Shows a name that is cut off as a whole while the pointer rests on it. */
export function showFullName({ target }: PointerEvent): void {
  const name = target instanceof Element ? target.closest<HTMLElement>('bdi, code') : null
  if (!name) return
  const isCut = name.scrollWidth > name.clientWidth || name.scrollHeight > name.clientHeight
  name.title = isCut ? (name.textContent ?? '') : ''
}
