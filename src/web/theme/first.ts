import { chosenScheme } from './colour-scheme.ts'

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
