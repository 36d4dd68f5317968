import { chosenScheme } from './colour-scheme.ts'

// Mantine reads the attribute: https://mantine.dev/theming/color-schemes/
document.documentElement.dataset.mantineColorScheme = chosenScheme()
