import { LOGO_COLOUR, LOGO_SHAPES } from '../../contract/logo.ts'

/** The logo, shown next to the product's name, which screen readers announce. */
export function Logo({ size = 20 }: { size?: number }) {
  const { shield, eyelet, check, checkWidth } = LOGO_SHAPES
  return (
    <svg viewBox="0 0 24 24" width={size} height={size} aria-hidden="true" style={{ flex: 'none' }}>
      <path d={shield} fill={LOGO_COLOUR} />
      <circle {...eyelet} fill="#fff" />
      <path d={check} fill="none" stroke="#fff" strokeWidth={checkWidth} strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  )
}
