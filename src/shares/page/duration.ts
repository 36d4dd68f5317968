import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts'

/** `1 min 5 s`, `0.4 s` */
export function durationText(ms: number): string {
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(1)} s`
  const seconds = Math.round(ms / SECOND_MS)
  const minutes = Math.floor((seconds * SECOND_MS) / MINUTE_MS)
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`
}
