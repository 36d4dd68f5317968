import { useDebouncedCallback } from '@mantine/hooks'
import { useLocation } from '@tanstack/react-router'
import { type ChangeEvent, useEffect, useState } from 'react'

const PAUSE_MS = 250

/**
 * What a text field needs that writes into the address when one stops typing, or right before what is pressed after one left
 * the field: so that this finds the text there. A value that comes from elsewhere replaces what stands in the field, except
 * while one types.
 */
export function useDebouncedInput(value: string, change: (value: string) => void) {
  const [typed, type] = useState(value)
  const changeSoon = useDebouncedCallback(change, PAUSE_MS)
  const address = useLocation({ select: ({ href }) => href })
  // Also when an address that is written and cleared at once leaves the value as it was.
  useEffect(() => {
    if (!changeSoon.isPending()) type(value)
  }, [value, address])
  return {
    value: typed,
    onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
      type(currentTarget.value)
      changeSoon(currentTarget.value)
    },
    // Not while the mouse is down: what the text brings onto the page would move away what is pressed.
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
