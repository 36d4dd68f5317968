import { useDebouncedCallback } from '@mantine/hooks'
import { useLocation } from '@tanstack/react-router'
import { type ChangeEvent, useEffect, useState } from 'react'

const PAUSE_MS = 250

/**
 * Props of a text field that calls `change` after a pause in typing. If the field loses the focus earlier, `change` is
 * called before the next click or key press. A value set elsewhere replaces the text unless the user is typing.
 */
export function useDebouncedInput(value: string, change: (value: string) => void) {
  const [typed, type] = useState(value)
  const changeSoon = useDebouncedCallback(change, PAUSE_MS)
  const address = useLocation({ select: ({ href }) => href })
  // The URL is a dependency because `value` doesn't change when it is set and immediately cleared.
  useEffect(() => {
    if (!changeSoon.isPending()) type(value)
  }, [value, address])
  return {
    value: typed,
    onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
      type(currentTarget.value)
      changeSoon(currentTarget.value)
    },
    // Deferred to the next click or key press, because an immediate update could move the element under the pointer.
    onBlur: () => {
      if (changeSoon.isPending()) beforeNextPress(changeSoon.flush)
    },
  }
}

function beforeNextPress(act: () => void): void {
  const end = new AbortController()
  const once = () => {
    end.abort()
    act()
  }
  for (const kind of ['click', 'keydown']) {
    document.addEventListener(kind, once, { capture: true, signal: end.signal })
  }
}
