/**
 * Colours of one scheme. On a surface, text has a contrast of at least 4.5:1, and marks and edges of at least 3:1 (WCAG
 * 2.2, 1.4.3 and 1.4.11).
 */
export interface Scheme {
  canvas: string
  surface: string
  sunken: string
  border: string
  /** Borders of fields and of the expected range. */
  control: string
  text: string
  text2: string
  dimmed: string
  /** Filled buttons with white text. */
  accent: string
  accentHover: string
  accentText: string
  accentTint: string
  /** Observed values in charts. */
  line: string
  focus: string
  critical: Tone
  high: Tone
  medium: Tone
  low: Tone
  ok: Tone
}

/** `solid` is for marks, `text` for text, and `tint` for the background of that text. */
interface Tone {
  solid: string
  text: string
  tint: string
}

/** Red, orange and khaki also differ in lightness, so they are distinguishable without colour. */
export const LIGHT: Scheme = {
  canvas: '#F7F8FA',
  surface: '#FFFFFF',
  sunken: '#F0F2F5',
  border: '#E1E4EA',
  control: '#858D9B',
  text: '#181B22',
  text2: '#454C59',
  dimmed: '#5E6673',
  accent: '#5158D3',
  accentHover: '#4449BC',
  accentText: '#464CBD',
  accentTint: '#EEEFFD',
  line: '#5158D3',
  focus: '#5158D3',
  critical: { solid: '#A8121F', text: '#A8121F', tint: '#FDECEC' },
  high: { solid: '#D65F13', text: '#9C4209', tint: '#FDEFE4' },
  medium: { solid: '#8F8555', text: '#665D30', tint: '#F5F2E3' },
  low: { solid: '#7A8394', text: '#4F5867', tint: '#EEF0F4' },
  ok: { solid: '#047767', text: '#04665A', tint: '#E3F5F1' },
}

export const DARK: Scheme = {
  canvas: '#101217',
  surface: '#171A21',
  sunken: '#0C0E12',
  border: '#2B303A',
  control: '#6D7685',
  text: '#E9EBEF',
  text2: '#BCC2CC',
  dimmed: '#98A0AD',
  accent: '#5B62DB',
  accentHover: '#5158D3',
  accentText: '#A9AFF6',
  accentTint: '#24274A',
  line: '#A9AFF6',
  focus: '#8F96F1',
  critical: { solid: '#DE4A4E', text: '#FF8A8C', tint: '#3B191C' },
  high: { solid: '#EF9951', text: '#F4AB6C', tint: '#3A2213' },
  medium: { solid: '#EBDD9C', text: '#EBDD9C', tint: '#2F2B18' },
  low: { solid: '#7F899C', text: '#AEB6C3', tint: '#232832' },
  ok: { solid: '#50C9BC', text: '#6FD6CA', tint: '#10302B' },
}

/** CSS variables of the scheme: `--tw-canvas`, `--tw-accent-text`, `--tw-critical-tint`. */
export function variablesOf(scheme: Scheme): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const [name, value] of Object.entries(scheme)) {
    const variable = `--tw-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    if (typeof value === 'string') variables[variable] = value
    else for (const [part, colour] of Object.entries(value as Tone)) variables[`${variable}-${part}`] = colour
  }
  return variables
}
