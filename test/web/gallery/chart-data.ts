import type { BandPoint, ChartChange } from '../../../src/web/charts/band-layout.ts'
import type { BarPoint } from '../../../src/web/charts/bar-layout.ts'
import type { Flows } from '../../../src/web/charts/session-paths-layout.ts'

const HOUR = 3_600_000
const BEGIN = Date.UTC(2026, 2, 9, 8)

/**
 * 82 hourly counts, which are lower at night. The tag stops sending 9 hours before the end, and the last hour is
 * incomplete.
 */
export const SERIES: readonly BandPoint[] = Array.from({ length: 82 }, (_, hour) => {
  const at = BEGIN + hour * HOUR
  const day = Math.max(0, Math.sin(((((at / HOUR) % 24) - 6) / 16) * Math.PI))
  const expected = 150 + 1100 * day
  const observed = hour > 72 ? 12 + hour : expected * (0.92 + 0.16 * Math.abs(Math.sin(hour * 7.3)))
  return {
    start: at,
    observed: Math.round(observed),
    partial: hour === 81,
    low: Math.round(expected * 0.75),
    high: Math.round(expected * 1.3),
  }
})

/** Counts without an expected range. The counts of two hours are unknown, and one hour is missing. */
export const PARTIAL: readonly BandPoint[] = SERIES.slice(0, 30)
  .map((point, index) => ({
    ...point,
    low: null,
    high: null,
    observed: index === 9 || index === 10 ? null : point.observed,
    partial: index === 29,
  }))
  .filter((_, index) => index !== 20)

export const CHANGES: readonly ChartChange[] = [
  { id: '1', title: 'GTM v230', occurredAt: BEGIN + 30.4 * HOUR },
  { id: '2', title: 'GTM v231', occurredAt: BEGIN + 72.3 * HOUR },
  { id: '3', title: '<b>Release</b> 2026.3.1 of the shop', occurredAt: BEGIN + 74 * HOUR },
]

export const BARS: readonly BarPoint[] = Array.from({ length: 14 }, (_, day) => ({
  start: Date.UTC(2026, 2, 1 + day),
  value: day === 4 ? null : (day * 37) % 11,
  isBad: day === 9 || day === 12,
  partial: day === 13,
}))

export const FLOWS: Flows = {
  sessionsSampled: 100,
  steps: [
    { index: 0, nodes: [{ path: '/', sessions: 100 }] },
    {
      index: 1,
      nodes: [
        { path: '/list', sessions: 52 },
        { path: '/product/electronics/phones/*', sessions: 30 },
        ...['/a', '/b', '/c', '/d'].map((path) => ({ path, sessions: 2 })),
      ],
    },
    {
      index: 2,
      nodes: [
        { path: '/product', sessions: 38 },
        { path: '/cart', sessions: 24 },
        { path: '(other)', sessions: 4 },
      ],
    },
  ],
  links: [
    { fromStep: 0, fromPath: '/', toPath: '/list', sessions: 52 },
    { fromStep: 0, fromPath: '/', toPath: '/product/electronics/phones/*', sessions: 30 },
    ...['/a', '/b', '/c', '/d'].map((toPath) => ({ fromStep: 0, fromPath: '/', toPath, sessions: 2 })),
    { fromStep: 1, fromPath: '/list', toPath: '/product', sessions: 34 },
    { fromStep: 1, fromPath: '/product/electronics/phones/*', toPath: '/cart', sessions: 24 },
    { fromStep: 1, fromPath: '/list', toPath: '(other)', sessions: 4 },
    { fromStep: 1, fromPath: '/a', toPath: '/product', sessions: 2 },
    { fromStep: 1, fromPath: '/b', toPath: '/product', sessions: 2 },
  ],
}
