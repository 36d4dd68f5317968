import type { CaptureFilter } from './capture-filter.ts'
import type { ErrorGuard } from './error-guard.ts'
import type { Frames } from './page-frame.ts'
import type { LongFrame, StatsKeeper } from './page-stats.ts'
import type { Timing } from './recorded-requests.ts'
import type { Recorder } from './request-recorder.ts'

export interface ObserverDeps {
  guard: ErrorGuard
  filter: CaptureFilter
  frames: Frames
  recorder: Recorder
  stats: StatsKeeper
  later(work: () => void, ms: number): void
}

/**
 * Delay before entries are processed. Processing and sending many entries together costs less than handling each
 * separately.
 */
const DELAY_MS = 1000
/** Maximum number of entries processed at a time while the time budget of the current second is used up. */
const SLICE = 50

/** True when the browser reports long animation frames. */
export function supportsLongFrames(): boolean {
  return isSupported('long-animation-frame')
}

function isSupported(type: string): boolean {
  return PerformanceObserver.supportedEntryTypes.includes(type)
}

/** Request types for which resource timing uses another name. */
const TYPES: Record<string, string> = { xmlhttprequest: 'xhr' }

/**
 * Observes resource timing and long animation frames from the start of the page. Returns a function that processes all
 * entries received so far.
 */
export function observe(parts: ObserverDeps): () => void {
  const { guard, filter, frames, recorder, stats } = parts
  const finishResources = subscribe(parts, 'resource', (entry) => {
    const { name, initiatorType } = entry as PerformanceResourceTiming
    const timing = entry as PerformanceResourceTiming & Timing
    const call = recorder.timing(name, TYPES[initiatorType] ?? initiatorType, timing)
    const host = call ? call.foreignHost : filter.foreignHost(name)
    if (host !== null) stats.request(frames.at(entry.startTime).page, host, timing)
  })
  const finishLongFrames = subscribe(parts, 'long-animation-frame', (entry) => {
    stats.longFrame(frames.at(entry.startTime).page, entry as PerformanceEntry & LongFrame)
  })
  // Not every browser supports this. Without it, the next captured request reveals the new URL.
  const { navigation } = globalThis as { navigation?: EventTarget }
  navigation?.addEventListener('currententrychange', () => guard.run(() => frames.current()))
  return () => {
    finishResources()
    finishLongFrames()
  }
}

/** Observes one type of entry. Returns a function that processes all waiting entries. */
function subscribe({ guard, later }: ObserverDeps, type: string, take: (entry: PerformanceEntry) => void): () => void {
  let waiting: PerformanceEntry[] = []
  const work = (count: number) => {
    let at = 0
    guard.run(() => {
      // An entry that causes an error is skipped. The remaining entries are processed the next time.
      for (const entry of waiting.slice(0, count)) {
        at++
        take(entry)
      }
    })
    waiting = waiting.slice(at)
    if (waiting.length > 0) arm()
  }
  const arm = () => later(() => work(guard.isSpent() ? SLICE : waiting.length), DELAY_MS)
  if (!isSupported(type)) return () => undefined
  const observer = new PerformanceObserver((list) => {
    if (guard.isOff()) return observer.disconnect()
    if (waiting.length === 0) arm()
    waiting = waiting.concat(list.getEntries())
  })
  observer.observe({ type, buffered: true })
  return () => {
    waiting = waiting.concat(observer.takeRecords())
    work(waiting.length)
  }
}
