import { useSyncExternalStore } from 'react'

const TICK_MS = 30_000
const STALE_MS = 1000

let now = Date.now()
let timer: ReturnType<typeof setInterval> | null = null
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
}

function read(): number {
  // The timer stops when there are no listeners, so the time may be outdated. The time does not change during a render.
  if (timer === null && Date.now() - now > STALE_MS) now = Date.now()
  return now
}

/** Returns the current time in milliseconds since the epoch, at most 30 s old. Uses one shared timer. */
export const useNow = (): number => useSyncExternalStore(subscribe, read)
