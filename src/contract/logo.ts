/** Colour of the logo: the accent colour of the dashboard, which is legible on light and dark backgrounds. */
export const LOGO_COLOUR = '#5158D3'

/** The logo: a shield that hangs from an eyelet like a tag, with a check mark. Coordinates are within 24 × 24. */
export const LOGO_SHAPES = {
  shield: 'M12 1 21 4.5v7c0 5.4-3.6 9.6-9 11.5-5.4-1.9-9-6.1-9-11.5v-7z',
  eyelet: { cx: 12, cy: 5.6, r: 1.5 },
  check: 'm7.4 12.9 3.2 3.2 6-6.4',
  checkWidth: 2.4,
} as const

const { shield, eyelet, check, checkWidth } = LOGO_SHAPES

/** The logo as an SVG document. */
export const LOGO_SVG =
  `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><path d='${shield}' fill='${LOGO_COLOUR}'/>` +
  `<circle cx='${eyelet.cx}' cy='${eyelet.cy}' r='${eyelet.r}' fill='#fff'/>` +
  `<path d='${check}' fill='none' stroke='#fff' stroke-width='${checkWidth}' stroke-linecap='round' stroke-linejoin='round'/></svg>`

/** The logo as the URL of an icon. */
export const LOGO_URL = `data:image/svg+xml,${LOGO_SVG.replaceAll('<', '%3C').replaceAll('>', '%3E').replaceAll('#', '%23')}`
