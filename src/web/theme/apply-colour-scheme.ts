// Mantine reads the attribute: https://mantine.dev/theming/color-schemes/
const { dataset } = document.documentElement
dataset.mantineColorScheme = chosenScheme()

// Paper is light.
let onScreen = dataset.mantineColorScheme
addEventListener('beforeprint', () => {
  onScreen = dataset.mantineColorScheme ?? onScreen
  dataset.mantineColorScheme = 'light'
})
addEventListener('afterprint', () => {
  dataset.mantineColorScheme = onScreen
})

/** Where Mantine keeps the choice of this browser: `light`, `dark` or `auto`. */
const SCHEME_KEY = 'mantine-color-scheme-value'

/** Returns the colour scheme to show: the one chosen under Preferences, else the system's. */
function chosenScheme(): 'light' | 'dark' {
  const chosen = localStorage.getItem(SCHEME_KEY)
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}
