import type { ErrorGuard } from './error-guard.ts'
import type { SendQueue, Until } from './send-queue.ts'
import type { Sender } from './sender.ts'

export interface LifecycleDeps {
  guard: ErrorGuard
  queue: SendQueue
  sender: Sender
  /** Queues the measurements of the page. */
  finishPage(): void
}

/**
 * Sends all items when the page may be about to end. Returns a function that must be called after an item has been
 * queued.
 */
export function watchLifecycle(
  window: Window & typeof globalThis,
  { guard, queue, sender, finishPage }: LifecycleDeps,
): () => void {
  const { document } = window
  let until: Until = document.visibilityState === 'hidden' ? 'hidden' : 'ready'
  let isScheduled = false

  const leave = () => {
    guard.run(() => {
      finishPage()
      queue.flush(until)
      sender.sendLast()
    })
  }
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') until = 'ready'
    else {
      if (until === 'ready') until = 'hidden'
      leave()
    }
  })
  window.addEventListener('pagehide', () => {
    until = 'end'
    leave()
  })
  window.addEventListener('online', () => guard.run(() => sender.retryNow()))
  return () => {
    if (until === 'ready' || isScheduled) return
    isScheduled = true
    // Vendors send their last requests in listeners that run after this one. A task that is scheduled now may never
    // run.
    queueMicrotask(() => {
      isScheduled = false
      leave()
    })
  }
}
