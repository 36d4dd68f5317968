import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** Returns a function that reports whether the component is still mounted. */
export function useIsMounted(): () => boolean {
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  return () => isHere.current
}

/** Like `useNavigate`, but does nothing once the component is unmounted. */
export function useNavigateIfMounted(): ReturnType<typeof useNavigate> {
  const navigate = useNavigate()
  const isHere = useIsMounted()
  return (async (options) => {
    if (isHere()) await navigate(options)
  }) as typeof navigate
}
