/** Where Mantine keeps the choice of this browser: `light`, `dark` or `auto`. */
export const SCHEME_KEY = 'mantine-color-scheme-value'

/** Returns the colour scheme to show: the one chosen under Preferences, else the system's. */
export function chosenScheme(): 'light' | 'dark' {
  const chosen = localStorage.getItem(SCHEME_KEY)
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}
