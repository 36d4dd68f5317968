import {
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  type MantineThemeOverride,
} from '@mantine/core'
import { DARK, LIGHT, type Scheme, variablesOf } from './colour-tokens.ts'

/** Ten shades per colour, as Mantine requires; the tokens define the middle of both scales. */
const IRIS: MantineColorsTuple = [
  ...(['#EEEFFD', '#DADCFA', '#BDC1F5', '#A9AFF6', '#8F96F1'] as const),
  ...(['#5B62DB', '#5158D3', '#4449BC', '#393E9E', '#2D317D'] as const),
]
const GRAY: MantineColorsTuple = [
  ...([LIGHT.canvas, LIGHT.sunken, '#E9ECF1', LIGHT.border, LIGHT.control] as const),
  ...(['#6F7786', LIGHT.dimmed, LIGHT.text2, '#2C313C', LIGHT.text] as const),
]
const DARKS: MantineColorsTuple = [
  ...([DARK.text, DARK.text2, DARK.dimmed, DARK.control, DARK.border] as const),
  ...(['#232832', '#1D212A', DARK.surface, DARK.canvas, DARK.sunken] as const),
]

/** Mantine's theme: colours, sizes and default props of components. */
export const theme: MantineThemeOverride = createTheme({
  primaryColor: 'iris',
  primaryShade: { light: 6, dark: 6 },
  colors: { iris: IRIS, gray: GRAY, dark: DARKS },
  white: LIGHT.surface,
  black: LIGHT.text,
  autoContrast: true,
  cursorType: 'pointer',
  respectReducedMotion: true,
  defaultRadius: 'sm',
  radius: { xs: '4px', sm: '6px', md: '8px', lg: '8px', xl: '8px' },
  spacing: { xs: '4px', sm: '8px', md: '16px', lg: '24px', xl: '32px' },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Helvetica, Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '18px' },
  lineHeights: { xs: '1.4', sm: '1.45', md: '1.5', lg: '1.5', xl: '1.4' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '22px', lineHeight: '1.3' },
      h2: { fontSize: '16px', lineHeight: '1.4' },
      h3: { fontSize: '14px', lineHeight: '1.4' },
    },
  },
  breakpoints: { xs: '480px', sm: '768px', md: '992px', lg: '1200px', xl: '1680px' },
  components: {
    Paper: { defaultProps: { withBorder: true, shadow: undefined, radius: 'md', p: 'md' } },
    Button: { defaultProps: { size: 'sm' } },
    Tooltip: { defaultProps: { openDelay: 300, events: { hover: true, focus: true, touch: true } } },
    Table: { defaultProps: { fz: 'sm', verticalSpacing: 'sm' } },
    Modal: { defaultProps: { centered: true, transitionProps: { duration: 120 } } },
    Drawer: { defaultProps: { transitionProps: { duration: 200 } } },
    Menu: { defaultProps: { transitionProps: { duration: 120 } } },
    Anchor: { defaultProps: { underline: 'hover' } },
    JsonInput: { styles: { input: { fontFamily: 'var(--mantine-font-family-monospace)' } } },
  },
})

/** Mantine's variables, set from the tokens. `body` is `surface`, the background of papers, menus and dialogs. */
const mantineVariables = (scheme: Scheme): Record<string, string> => ({
  '--mantine-color-body': scheme.surface,
  '--mantine-color-text': scheme.text,
  '--mantine-color-dimmed': scheme.dimmed,
  '--mantine-color-anchor': scheme.accentText,
  '--mantine-color-error': scheme.critical.text,
  '--mantine-color-placeholder': scheme.dimmed,
  '--mantine-color-default': scheme.surface,
  '--mantine-color-default-border': scheme.border,
  '--mantine-color-default-hover': scheme.sunken,
  '--mantine-color-iris-filled': scheme.accent,
  '--mantine-color-iris-filled-hover': scheme.accentHover,
  '--mantine-color-iris-light': scheme.accentTint,
  '--mantine-color-iris-light-color': scheme.accentText,
  '--mantine-color-iris-text': scheme.accentText,
  '--mantine-color-iris-outline': scheme.accentText,
})

/** CSS variables of both schemes. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: { ...mantineVariables(LIGHT), ...variablesOf(LIGHT) },
  dark: { ...mantineVariables(DARK), ...variablesOf(DARK) },
})
