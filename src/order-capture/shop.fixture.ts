import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { normal, poisson, profileAt, type Random } from '../detector/series.fixture.ts'
import type { Slice } from './usual-share.ts'

/** A simulated shop and the share of its orders that does not reach a vendor. */
export interface Shop {
  perDay: number
  /** Steady share of missing orders. */
  loss: number
  /** Additional loss at noon, taken away at midnight. */
  rhythm: number
  /** Additional loss on weekends. */
  weekend: number
  /** Standard deviation of the loss between hours, and between days. */
  hourNoise: number
  dayNoise: number
  random: Random
}

export const STEP_MS = 5 * MINUTE_MS

/** Returns orders per 5 minutes. `extra`: additional share of missing orders at an instant. */
export function slicesOf(shop: Shop, from: Instant, to: Instant, extra: (at: Instant) => number = () => 0): Slice[] {
  const { perDay, loss, rhythm, weekend, hourNoise, dayNoise, random } = shop
  const slices: Slice[] = []
  let [ofHour, ofDay] = [0, 0]
  for (let at = from; at < to; at += STEP_MS) {
    if (at % HOUR_MS === 0) ofHour = hourNoise * normal(random)
    if (at % DAY_MS === 0) ofDay = dayNoise * normal(random)
    const hour = Math.floor(at / HOUR_MS)
    const count = poisson((perDay / (DAY_MS / STEP_MS)) * profileAt(hour % 168), random)
    const isWeekend = [2, 3].includes(Math.floor(hour / 24) % 7)
    const share =
      loss + rhythm * Math.sin((2 * Math.PI * (hour % 24)) / 24) + (isWeekend ? weekend : 0) + ofHour + ofDay
    const p = Math.min(1, Math.max(0, share) + extra(at) * (1 - Math.max(0, share)))
    let bad = 0
    for (let order = 0; order < count; order++) if (random() < p) bad++
    if (count > 0) slices.push({ at, count, bad })
  }
  return slices
}

/** Returns the slices up to an instant as they are stored: hours, except for the last two days. */
export function storedAt(slices: readonly Slice[], now: Instant): Slice[] {
  const fineFrom = Math.floor((now - 2 * DAY_MS) / HOUR_MS) * HOUR_MS
  const hours = new Map<Instant, Slice>()
  const fine: Slice[] = []
  for (const slice of slices) {
    if (slice.at + STEP_MS > now || slice.at < now - 84 * DAY_MS) continue
    if (slice.at >= fineFrom) fine.push(slice)
    else {
      const at = Math.floor(slice.at / HOUR_MS) * HOUR_MS
      const hour = hours.get(at) ?? { at, count: 0, bad: 0 }
      hours.set(at, { at, count: hour.count + slice.count, bad: hour.bad + slice.bad })
    }
  }
  return [...hours.values(), ...fine]
}
