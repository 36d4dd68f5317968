import { resolve } from 'node:path'
import { LOGO_COLOUR, LOGO_SHAPES } from '../src/contract/logo.ts'
import { encodePng } from '../src/integrations/message/chart-png.ts'

/*
 * Draws the logo of e-mails, `src/mail/logo.png`, from the shapes of the logo: `./run test/mail-logo.ts`. Mail clients
 * don't show SVG.
 */

export const MAIL_LOGO = resolve(import.meta.dir, '../src/mail/logo.png')

/** Size in pixels: twice the displayed size, for high-density screens. */
const SIZE = 48
/** The shapes are drawn within 24 × 24. */
const UNITS = 24
/** Number of samples per pixel, in each direction. */
const SAMPLES = 8

interface Point {
  x: number
  y: number
}

/** Returns the corners of a path of absolute `M`, relative `m`, `v`, `c` and implicit lines. Curves become 32 lines. */
export function cornersOf(path: string): Point[] {
  const corners: Point[] = []
  for (const [, command = '', text = ''] of path.matchAll(/([a-z])([^a-z]*)/gi)) {
    const values = (text.match(/-?\d*\.?\d+/g) ?? []).map(Number)
    const take = (): Point => ({ x: values.shift() ?? 0, y: values.shift() ?? 0 })
    while (values.length > 0) {
      const start = corners.at(-1) ?? { x: 0, y: 0 }
      const from = (point: Point): Point => ({ x: start.x + point.x, y: start.y + point.y })
      if (command === 'M') corners.push(take())
      else if (command === 'm') corners.push(from(take()))
      else if (command === 'v') corners.push(from({ x: 0, y: values.shift() ?? 0 }))
      else if (command === 'c') corners.push(...curve(start, from(take()), from(take()), from(take())))
      else throw new Error(`the path command ${command} is not supported`)
    }
  }
  return corners
}

function curve(a: Point, b: Point, c: Point, d: Point): Point[] {
  return Array.from({ length: 32 }, (_, index) => {
    const t = (index + 1) / 32
    const s = 1 - t
    const mixed = (axis: 'x' | 'y') =>
      s ** 3 * a[axis] + 3 * s ** 2 * t * b[axis] + 3 * s * t ** 2 * c[axis] + t ** 3 * d[axis]
    return { x: mixed('x'), y: mixed('y') }
  })
}

/** Returns whether the point is inside the closed polygon (even-odd rule). */
function isInside({ x, y }: Point, corners: readonly Point[]): boolean {
  return corners.reduce((inside, a, index) => {
    const b = corners.at(index - 1) ?? a
    const crosses = a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x
    return inside !== crosses
  }, false)
}

/** Distance of the point from the line that connects the corners. */
function distanceFrom({ x, y }: Point, corners: readonly Point[]): number {
  const distances = corners.slice(1).map((b, index) => {
    const a = corners[index] ?? b
    const [dx, dy] = [b.x - a.x, b.y - a.y]
    const t = Math.max(0, Math.min(1, ((x - a.x) * dx + (y - a.y) * dy) / (dx ** 2 + dy ** 2)))
    return Math.hypot(x - a.x - t * dx, y - a.y - t * dy)
  })
  return Math.min(...distances)
}

/** Returns the logo as a PNG with a transparent background. */
export function mailLogo(): Buffer {
  const { shield, eyelet, check, checkWidth } = LOGO_SHAPES
  const [outline, mark] = [cornersOf(shield), cornersOf(check)]
  const colour = [1, 3, 5].map((at) => Number.parseInt(LOGO_COLOUR.slice(at, at + 2), 16))
  const isWhite = (point: Point) =>
    Math.hypot(point.x - eyelet.cx, point.y - eyelet.cy) <= eyelet.r || distanceFrom(point, mark) <= checkWidth / 2
  const rgba = new Uint8Array(SIZE * SIZE * 4)
  const step = UNITS / SIZE / SAMPLES
  const samples = Array.from({ length: SAMPLES ** 2 }, (_, index) => ({
    x: ((index % SAMPLES) + 0.5) * step,
    y: (Math.floor(index / SAMPLES) + 0.5) * step,
  }))
  for (let pixel = 0; pixel < SIZE * SIZE; pixel++) {
    const left = ((pixel % SIZE) * UNITS) / SIZE
    const top = (Math.floor(pixel / SIZE) * UNITS) / SIZE
    const covered = samples.map(({ x, y }) => ({ x: left + x, y: top + y })).filter((point) => isInside(point, outline))
    if (covered.length === 0) continue
    const white = covered.filter(isWhite).length / covered.length
    const mixed = colour.map((value) => Math.round(value + (255 - value) * white))
    rgba.set([...mixed, Math.round((covered.length / samples.length) * 255)], pixel * 4)
  }
  return encodePng({ width: SIZE, height: SIZE, rgba })
}

if (import.meta.main) await Bun.write(MAIL_LOGO, mailLogo())
