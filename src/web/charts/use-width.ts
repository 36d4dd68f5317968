import { type RefObject, useLayoutEffect, useRef, useState } from 'react'

/** The width of an element in pixels, measured before the first painting and whenever it changes; 0 until then. */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const ref = useRef<T>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const { current: element } = ref
    if (!element) return
    // What is hidden for a moment (for a picture, for print) keeps what is drawn.
    const measure = () => element.clientWidth > 0 && setWidth(element.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [ref, width]
}
