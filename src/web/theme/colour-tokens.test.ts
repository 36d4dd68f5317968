import { describe, expect, test } from 'bun:test'
import { DARK, LIGHT, type Scheme, variablesOf } from './colour-tokens.ts'

const TONES = ['critical', 'high', 'medium', 'low', 'ok'] as const

type Rgb = readonly [number, number, number]
type Matrix = readonly [Rgb, Rgb, Rgb]

const rgb = (hex: string): Rgb => {
  const value = Number.parseInt(hex.slice(1), 16)
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255]
}
const linear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
const times = (matrix: Matrix, [a, b, c]: Rgb): Rgb => {
  const [x, y, z] = matrix.map((row) => row[0] * a + row[1] * b + row[2] * c)
  return [x ?? 0, y ?? 0, z ?? 0]
}
const linearRgb = (hex: string): Rgb => {
  const [r, g, b] = rgb(hex)
  return [linear(r), linear(g), linear(b)]
}

/** Relative luminance: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(hex: string): number {
  const [r, g, b] = linearRgb(hex)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** Contrast ratio: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const TO_XYZ: Matrix = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
]

/** Converts linear RGB to CIELAB with the D65 white point. */
function lab(colour: Rgb): Rgb {
  const [x, y, z] = times(TO_XYZ, colour)
  const f = (part: number) => (part > 216 / 24389 ? Math.cbrt(part) : ((24389 / 27) * part + 16) / 116)
  const [fx, fy, fz] = [f(x / 0.95047), f(y), f(z / 1.08883)]
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)]
}

/** The CIEDE2000 difference between two CIELAB colours: Sharma, Wu, Dalal 2005, https://doi.org/10.1002/col.20070 */
function ciede2000([l1, a1, b1]: Rgb, [l2, a2, b2]: Rgb): number {
  const degrees = (radians: number) => (radians * 180) / Math.PI
  const radians = (angle: number) => (angle * Math.PI) / 180
  const meanChroma = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2
  const g = 0.5 * (1 - Math.sqrt(meanChroma ** 7 / (meanChroma ** 7 + 25 ** 7)))
  const [aa1, aa2] = [a1 * (1 + g), a2 * (1 + g)]
  const [c1, c2] = [Math.hypot(aa1, b1), Math.hypot(aa2, b2)]
  const hue = (a: number, b: number) => (a === 0 && b === 0 ? 0 : (degrees(Math.atan2(b, a)) + 360) % 360)
  const [h1, h2] = [hue(aa1, b1), hue(aa2, b2)]
  const isGrey = c1 * c2 === 0
  let apart = isGrey ? 0 : h2 - h1
  if (apart > 180) apart -= 360
  if (apart < -180) apart += 360
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin(radians(apart / 2))
  const [dL, dC] = [l2 - l1, c2 - c1]
  const [lm, cm] = [(l1 + l2) / 2, (c1 + c2) / 2]
  let hm = h1 + h2
  if (!isGrey) hm = Math.abs(h1 - h2) <= 180 ? hm / 2 : (hm + (hm < 360 ? 360 : -360)) / 2
  const t =
    1 -
    0.17 * Math.cos(radians(hm - 30)) +
    0.24 * Math.cos(radians(2 * hm)) +
    0.32 * Math.cos(radians(3 * hm + 6)) -
    0.2 * Math.cos(radians(4 * hm - 63))
  const sl = 1 + (0.015 * (lm - 50) ** 2) / Math.sqrt(20 + (lm - 50) ** 2)
  const sc = 1 + 0.045 * cm
  const sh = 1 + 0.015 * cm * t
  const turn = 60 * Math.exp(-(((hm - 275) / 25) ** 2))
  const rt = -Math.sin(radians(turn)) * 2 * Math.sqrt(cm ** 7 / (cm ** 7 + 25 ** 7))
  return Math.sqrt((dL / sl) ** 2 + (dC / sc) ** 2 + (dH / sh) ** 2 + rt * (dC / sc) * (dH / sh))
}

/**
 * Matrices on linear RGB that simulate colour blindness of severity 1.0: Machado, Oliveira, Fernandes 2009,
 * https://doi.org/10.1109/TVCG.2009.113
 */
const BLINDNESS: Record<string, Matrix> = {
  none: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

const clamp = ([r, g, b]: Rgb): Rgb => [r, g, b].map((part) => Math.max(0, Math.min(1, part))) as unknown as Rgb
const seenBy = (kind: string, hex: string): Rgb => lab(clamp(times(BLINDNESS[kind] as Matrix, linearRgb(hex))))

describe('the colour difference formula', () => {
  // From the test data published by Sharma, Wu, Dalal.
  test.each<[Rgb, Rgb, number]>([
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, -1, 2], [50, 0, 0], 2.3669],
    [[50, 2.49, -0.001], [50, -2.49, 0.0011], 7.2195],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
    [[90.8027, -2.0831, 1.441], [91.1528, -1.6435, 0.0447], 1.4441],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
  ])('for %p and %p', (one, other, difference) => {
    expect(ciede2000(one, other)).toBeCloseTo(difference, 4)
    expect(ciede2000(other, one)).toBeCloseTo(difference, 4)
  })
})

/** Pairs of text and background, which need a contrast of 4.5:1 (WCAG 1.4.3). */
const textPairs = (scheme: Scheme): [string, string, string][] => {
  const papers = ['surface', 'canvas', 'sunken'] as const
  const inks = ['text', 'text2', 'dimmed', 'accentText'] as const
  return [
    ...papers.flatMap((paper) =>
      inks.map((ink): [string, string, string] => [`${ink} on ${paper}`, scheme[ink], scheme[paper]]),
    ),
    ['accentText on accentTint', scheme.accentText, scheme.accentTint],
    ['text on accentTint', scheme.text, scheme.accentTint],
    ['white on accent', '#FFFFFF', scheme.accent],
    ['white on accentHover', '#FFFFFF', scheme.accentHover],
    ...TONES.flatMap((tone): [string, string, string][] => [
      [`${tone} text on its tint`, scheme[tone].text, scheme[tone].tint],
      [`text on ${tone} tint`, scheme.text, scheme[tone].tint],
      ...papers.map((paper): [string, string, string] => [
        `${tone} text on ${paper}`,
        scheme[tone].text,
        scheme[paper],
      ]),
    ]),
  ]
}

/**
 * Marks, field borders, focus rings and chart lines with their backgrounds, which need a contrast of 3:1 (WCAG 1.4.11).
 */
const markPairs = (scheme: Scheme): [string, string, string][] => {
  const papers = ['surface', 'canvas'] as const
  const marks = ['control', 'line', 'focus'] as const
  return papers.flatMap((paper) => [
    ...marks.map((mark): [string, string, string] => [`${mark} on ${paper}`, scheme[mark], scheme[paper]]),
    ...TONES.map((tone): [string, string, string] => [`${tone} on ${paper}`, scheme[tone].solid, scheme[paper]]),
  ])
}

describe.each([
  ['light', LIGHT],
  ['dark', DARK],
] as const)('the %s colours', (_, scheme) => {
  test.each(textPairs(scheme))('%s has a contrast of at least 4.5', (_, ink, paper) => {
    expect(contrast(ink, paper)).toBeGreaterThanOrEqual(4.5)
  })

  test.each(markPairs(scheme))('%s has a contrast of at least 3', (_, mark, paper) => {
    expect(contrast(mark, paper)).toBeGreaterThanOrEqual(3)
  })

  test('show the first anomaly and observed counts with a contrast of at least 3 on a bad span', () => {
    const { tint, text, solid } = scheme.critical
    expect(contrast(scheme.line, tint)).toBeGreaterThanOrEqual(3)
    expect(contrast(scheme === DARK ? text : solid, tint)).toBeGreaterThanOrEqual(3)
  })

  test.each(Object.keys(BLINDNESS))('of severities and OK are distinguishable with %s', (kind) => {
    for (const [index, one] of TONES.entries()) {
      for (const other of TONES.slice(index + 1)) {
        const apart = ciede2000(seenBy(kind, scheme[one].solid), seenBy(kind, scheme[other].solid))
        expect({ one, other, isApart: apart >= 11 }).toEqual({ one, other, isApart: true })
      }
    }
  })

  test('of critical, high and medium are ordered by lightness, so that critical is the most visible even in greyscale', () => {
    const away = ['critical', 'high', 'medium'].map((tone) => luminance(scheme[tone as 'high'].solid))
    expect(away).toEqual([...away].sort((a, b) => a - b))
  })

  test('are CSS variables named after the tokens', () => {
    const variables = variablesOf(scheme)
    expect(variables['--tw-accent-text']).toBe(scheme.accentText)
    expect(variables['--tw-critical-tint']).toBe(scheme.critical.tint)
    expect(Object.values(variables).every((value) => /^#[0-9A-F]{6}$/.test(value))).toBe(true)
  })
})
