import { DAY_MS, type Instant } from '../core/clock.ts'
import { BLOCKS } from './change-queries.ts'
import { compareSides, effectsOf } from './change-verdict.ts'
import { isLikeDay } from './change-window.ts'
import type { ConsentRow, EarlierPeriodRow, KeyRow, SessionRow, Side, Tables, VolumeRow } from './comparison-tables.ts'
import type { ShareCase } from './share-cases.ts'
import type { Doing, Shop, ShopEvent } from './shop.fixture.ts'

/**
 * Numbers of days before a change: all those that the production code queries, and a subset that is faster to compute.
 */
const ALL_DAYS = Array.from({ length: 28 }, (_, at) => at + 1)
export const SOME_DAYS = [1, 2, 3, 4, 5, 6, 7, 8, 14, 21, 28]

interface Named {
  vendor: string
  event: string
}

const nameKey = ({ vendor, event }: Named) => `${vendor}\n${event}`
const isNumber = (text: string) => /^[+-]?[\d.]+$/.test(text)

/** Returns the results of the queries for a shop around a change, computed with simple loops. */
function tablesOf(shop: Shop, doing: Doing, at: Instant, lengthMs: number, days = ALL_DAYS): Tables {
  const events = shop.events(at - lengthMs, at + lengthMs, doing, at)
  const after = events.filter((event) => event.at >= at)
  const fresh = after.filter(({ version }) => version === 2).length
  const least = Math.max(50, 0.05 * after.length)
  const isBoth = Math.min(fresh, after.length - fresh) >= least
  const sideOf = (event: ShopEvent): Side => {
    if (event.at < at) return 'before'
    return isBoth ? (event.version === 2 ? 'new' : 'old') : 'after'
  }
  const sessions = sessionRows(events, sideOf, { at, lengthMs, isBoth })
  const today = sessions.map(({ vendor, event, side, events, weight }) => ({
    vendor,
    event,
    lag: 0,
    events,
    weight,
    side: side === 'before' ? side : ('after' as const),
  }))
  return {
    volumes: [...today, ...earlierVolumes(shop, at, lengthMs, days)],
    sessions,
    keys: keyRows(events, sideOf),
    consent: consentRows(events, sideOf),
    isLikeDay: isLikeDay({ at }),
  }
}

function sessionRows(
  events: readonly ShopEvent[],
  sideOf: (event: ShopEvent) => Side,
  { at, lengthMs, isBoth }: { at: Instant; lengthMs: number; isBoth: boolean },
): SessionRow[] {
  const starts = new Map<string, Instant>()
  for (const { visit, at } of events) starts.set(visit.id, Math.min(starts.get(visit.id) ?? at, at))
  const units = Map.groupBy(events, (event) => `${sideOf(event)}\n${event.visit.id}\n${nameKey(event)}`)
  const seen = new Set<string>()
  const rows = new Map<string, SessionRow>()
  for (const own of units.values()) {
    const [first] = own
    if (!first) continue
    const side = sideOf(first)
    const start = starts.get(first.visit.id) ?? 0
    const block = !isBoth ? 0 : start < at ? -1 : Math.floor((start - at) / Math.ceil(lengthMs / BLOCKS))
    const key = `${side}\n${block}\n${nameKey(first)}`
    const row = rows.get(key) ?? emptyRow(first, side, block)
    const isFirst = !seen.has(`${side}\n${first.visit.id}`)
    seen.add(`${side}\n${first.visit.id}`)
    row.sessions++
    row.firsts += isFirst ? 1 : 0
    row.events += own.length
    row.squares += own.length * Math.min(50, own.length)
    const weight = own.reduce((sum, one) => sum + one.weight, 0)
    row.weightSquares += (weight * weight * Math.min(50, own.length)) / own.length
    for (const { weight, failed, violated } of own) {
      row.weight += weight
      row.known += weight
      row.failed += failed ? weight : 0
      row.violated += violated ? weight : 0
    }
    rows.set(key, row)
  }
  return [...rows.values()]
}

const emptyRow = ({ vendor, event }: Named, side: Side, block: number): SessionRow => ({
  vendor,
  event,
  side,
  block,
  sessions: 0,
  firsts: 0,
  events: 0,
  weight: 0,
  squares: 0,
  weightSquares: 0,
  known: 0,
  failed: 0,
  violated: 0,
})

function keyRows(events: readonly ShopEvent[], sideOf: (event: ShopEvent) => Side): KeyRow[] {
  const rows = new Map<string, KeyRow>()
  for (const event of events) {
    const side = sideOf(event)
    for (const [key, value] of Object.entries(event.params)) {
      if (value.trim() === '') continue
      const name = `${side}\n${nameKey(event)}\n${key}`
      const { vendor, event: called, weight } = event
      const row = rows.get(name) ?? { vendor, event: called, side, key, weight: 0, numbers: 0, booleans: 0 }
      row.weight += weight
      row.numbers += isNumber(value) ? weight : 0
      row.booleans += value === 'true' || value === 'false' ? weight : 0
      rows.set(name, row)
    }
  }
  return [...rows.values()]
}

function consentRows(events: readonly ShopEvent[], sideOf: (event: ShopEvent) => Side): ConsentRow[] {
  const key = 'consent.ad_storage'
  const said = events.filter(({ params }) => params[key] !== undefined)
  const units = Map.groupBy(said, (event) => `${sideOf(event)}\n${event.vendor}\n${event.visit.id}`)
  const rows = new Map<string, ConsentRow>()
  for (const own of units.values()) {
    const [first] = own
    if (!first) continue
    const [side, vendor] = [sideOf(first), first.vendor]
    const row = rows.get(`${side}\n${vendor}`) ?? { vendor, side, key, denied: 0, granted: 0 }
    if (own.some(({ params }) => params[key] === 'granted')) row.granted++
    else row.denied++
    rows.set(`${side}\n${vendor}`, row)
  }
  return [...rows.values()]
}

function earlierVolumes(shop: Shop, at: Instant, lengthMs: number, days: readonly number[]): VolumeRow[] {
  const rows = new Map<string, VolumeRow>()
  for (const lag of days) {
    const middle = at - lag * DAY_MS
    for (const event of shop.events(middle - lengthMs, middle + lengthMs, {}, undefined, true)) {
      const side = event.at < middle ? 'before' : 'after'
      const key = `${lag}\n${side}\n${nameKey(event)}`
      const { vendor, event: called, weight } = event
      const row = rows.get(key) ?? { vendor, event: called, lag, side, events: 0, weight: 0 }
      row.events++
      row.weight += weight
      rows.set(key, row)
    }
  }
  return [...rows.values()]
}

/** Returns the history of suspicious names and keys. */
function pastOf(
  shop: Shop,
  suspicious: readonly ShareCase[],
  at: Instant,
  lengthMs: number,
  days = ALL_DAYS,
): EarlierPeriodRow[] {
  if (suspicious.length === 0) return []
  const names = new Set(suspicious.map(nameKey))
  const found: EarlierPeriodRow[] = []
  for (const lag of days) {
    const middle = at - lag * DAY_MS
    const events = shop.events(middle - lengthMs, middle + lengthMs).filter((event) => names.has(nameKey(event)))
    const sideOf = (event: ShopEvent) => (event.at < middle ? 'before' : 'after')
    const keys = keyRows(events, sideOf)
    for (const row of sessionRows(events, sideOf, { at: middle, lengthMs, isBoth: false })) {
      const own = keys.filter((key) => nameKey(key) === nameKey(row) && key.side === row.side)
      found.push({
        ...row,
        lag,
        side: row.side === 'before' ? 'before' : 'after',
        keys: Object.fromEntries(own.map((key) => [key.key, key])),
      })
    }
  }
  return found
}

/** Returns the verdict on a change to a shop, `lengthMs` after the change. `days`: the earlier days with data. */
export function verdictOn(
  shop: Shop,
  doing: Doing,
  at: Instant,
  { lengthMs, error, days = ALL_DAYS }: { lengthMs: number; error: number; days?: number[] },
) {
  const look = compareSides(tablesOf(shop, doing, at, lengthMs, days))
  return effectsOf(look, pastOf(shop, look.suspicious, at, lengthMs, days), error)
}
