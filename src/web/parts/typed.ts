import { useDebouncedCallback } from '@mantine/hooks'
import { type ChangeEvent, useEffect, useState } from 'react'

const PAUSE_MS = 250

/**
 * What a text field needs that writes into the address when one stops typing, or at once when one leaves it: so that
 * whatever is pressed next finds the text there. A value that comes from elsewhere replaces what stands in the field,
 * except while one types.
 */
export function useTyped(value: string, change: (value: string) => void) {
  const [typed, type] = useState(value)
  const changeSoon = useDebouncedCallback(change, PAUSE_MS)
  useEffect(() => {
    if (!changeSoon.isPending()) type(value)
  }, [value])
  return {
    value: typed,
    onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
      type(currentTarget.value)
      changeSoon(currentTarget.value)
    },
    onBlur: () => changeSoon.flush(),
  }
}
