import type { Page } from './page-frame.ts'
import type { Timing } from './recorded-requests.ts'

/** The measurements of one page view: `pageStats` of a batch. */
export interface PageStats {
  ts: number
  /** True when the browser reports long animation frames. Otherwise `blockMs` is unknown and set to 0. */
  loaf: boolean
  vendors: HostStats[]
}

interface HostStats {
  host: string
  requests: number
  /** Durations of the first 50 requests, in ms. */
  durMs: number[]
  blockMs: number
  /** Total size of the requests whose size is exposed by the other site. Omitted when there are none. */
  bytes?: number
}

/** The fields of a long animation frame that are used: https://w3c.github.io/long-animation-frames/ */
export interface LongFrame {
  startTime: number
  blockingDuration: number
  scripts: readonly { sourceURL: string; duration: number }[]
}

/** Key for time spent in scripts without a URL: inline handlers, extensions. */
const UNATTRIBUTED = 'unattributed'
const MAX_HOSTS = 50
const MAX_DURATIONS = 50

export interface StatsKeeper {
  request(page: Page, host: string, timing: Timing): void
  longFrame(page: Page, longFrame: LongFrame): void
  /** Returns the measurements of a page view once; null if they have already been returned. */
  take(page: Page, ts: number): PageStats | null
}

/** Creates a stats keeper. `isSupported`: true when the browser reports long animation frames. */
export function makeStatsKeeper(isSupported: boolean): StatsKeeper {
  /** Null once the measurements of the page view have been returned. */
  const pages = new WeakMap<Page, Map<string, HostStats> | null>()

  const statsOf = (page: Page, host: string): HostStats | undefined => {
    const known = pages.get(page)
    const hosts = known === undefined ? new Map<string, HostStats>() : known
    pages.set(page, hosts)
    const stats = hosts?.get(host)
    if (!hosts || stats || hosts.size >= MAX_HOSTS) return stats
    const fresh: HostStats = { host, requests: 0, durMs: [], blockMs: 0 }
    hosts.set(host, fresh)
    return fresh
  }
  return {
    request(page, host, { duration, requestStart, transferSize }) {
      const stats = statsOf(page, host)
      if (!stats) return
      stats.requests++
      if (stats.durMs.length < MAX_DURATIONS) stats.durMs.push(Math.round(duration))
      if (requestStart) stats.bytes = (stats.bytes ?? 0) + (transferSize ?? 0)
    },
    longFrame(page, { blockingDuration, scripts }) {
      const totalMs = scripts.reduce((sum, { duration }) => sum + duration, 0)
      if (totalMs === 0 || blockingDuration === 0) return
      for (const { sourceURL, duration } of scripts) {
        const stats = statsOf(page, hostOf(sourceURL))
        if (stats) stats.blockMs += (blockingDuration * duration) / totalMs
      }
    },
    take(page, ts) {
      const hosts = pages.get(page)
      if (hosts === null) return null
      pages.set(page, null)
      const vendors = [...(hosts?.values() ?? [])].map((stats) => ({
        ...stats,
        blockMs: Math.round(stats.blockMs * 10) / 10,
      }))
      return { ts, loaf: isSupported, vendors }
    },
  }
}

function hostOf(address: string): string {
  try {
    return new URL(address).hostname || UNATTRIBUTED
  } catch {
    return UNATTRIBUTED
  }
}
