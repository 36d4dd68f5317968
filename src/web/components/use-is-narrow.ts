import { useMediaQuery } from '@mantine/hooks'

/** Returns whether the window is narrower than 768 px, as on a phone. Tables then have no headings to click. */
export function useIsNarrow(): boolean {
  return useMediaQuery('(max-width: 767px)', undefined, { getInitialValueInEffect: false })
}
