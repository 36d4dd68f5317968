import type { Guard } from './guard.ts'
import type { Queue, Until } from './queue.ts'
import type { Sender } from './sender.ts'

export interface LifecycleParts {
  guard: Guard
  queue: Queue
  sender: Sender
  /** Puts what was measured of the page into the queue. */
  finishPage(): void
}

/** Sends what there is when the page may end. Answers what to call when something came into the queue. */
export function watchLifecycle(
  window: Window & typeof globalThis,
  { guard, queue, sender, finishPage }: LifecycleParts,
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
    // Vendors send their last words in listeners that run after ours; nothing later may run at all.
    queueMicrotask(() => {
      isScheduled = false
      leave()
    })
  }
}
