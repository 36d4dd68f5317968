// Mantine reads the attribute: https://mantine.dev/theming/color-schemes/
const { dataset } = document.documentElement
dataset.mantineColorScheme = chosenScheme()

// The light scheme is used for printing.
let onScreen = dataset.mantineColorScheme
addEventListener('beforeprint', () => {
  onScreen = dataset.mantineColorScheme ?? onScreen
  dataset.mantineColorScheme = 'light'
})
addEventListener('afterprint', () => {
  dataset.mantineColorScheme = onScreen
})

/** Key under which Mantine stores the choice made in this browser: `light`, `dark` or `auto`. */
const SCHEME_KEY = 'mantine-color-scheme-value'

/** Returns the colour scheme chosen under Preferences, or else the colour scheme of the system. */
function chosenScheme(): 'light' | 'dark' {
  const chosen = localStorage.getItem(SCHEME_KEY)
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}
