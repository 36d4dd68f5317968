import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** Says whether the component is still shown: while an answer was on its way people close dialogs and leave pages. */
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

/** Goes on to another page, as `useNavigate` does, unless the person has left this one by themselves. */
export function useNavigateIfMounted(): ReturnType<typeof useNavigate> {
  const navigate = useNavigate()
  const isHere = useIsMounted()
  return (async (options) => {
    if (isHere()) await navigate(options)
  }) as typeof navigate
}
