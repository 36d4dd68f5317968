import { HOUR_MS, type Instant } from '../core/clock.ts'
import { type FoundSignal, signalsOf } from './signal-list.ts'
import { cachePerOwner } from './ttl-cache.ts'

type Parts = Parameters<typeof signalsOf>

/** Past signals are cached because recomputing them takes long and settings rarely change. */
const cacheOf = cachePerOwner<Promise<FoundSignal[]>>(100)

/**
 * Returns the monitored signals of these domains, with their state at an instant. For instants more than an hour ago,
 * the result is cached for 10 minutes. Throws `unavailable` when the warehouse does.
 */
export function signalsAt(parts: Parts[0], orgId: string, domains: Parts[2], at: Instant): Promise<FoundSignal[]> {
  const findBy = (seriesMonitor: Parts[0]['seriesMonitor']) =>
    signalsOf({ ...parts, seriesMonitor }, orgId, domains, ({ mode }) => mode === 'auto', at)
  const { seriesMonitor, now } = parts
  if (at > now - HOUR_MS) return findBy(seriesMonitor)
  const kept = cacheOf(seriesMonitor)
  const key = `${orgId} ${at} ${Bun.hash(domains.map(({ id }) => id).join())}`
  const known = kept.get(key, now)
  if (known) return known
  const signals = findBy(seriesMonitor.forHistory)
  signals.catch(() => kept.delete(key))
  kept.set(key, signals, now)
  return signals
}
