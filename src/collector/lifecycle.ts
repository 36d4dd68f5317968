import type { Guard } from './guard.ts'
import type { Queue } from './queue.ts'
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
  let isScheduled = false

  const leave = (isLast: boolean) => {
    guard.run(() => {
      finishPage()
      queue.flush(isLast ? 'end' : 'hidden')
      sender.sendLast()
    })
  }
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') leave(false)
  })
  window.addEventListener('pagehide', () => leave(true))
  window.addEventListener('online', () => guard.run(() => sender.retryNow()))
  return () => {
    if (isScheduled || document.visibilityState !== 'hidden') return
    isScheduled = true
    // Vendors send their last words in listeners that run after ours; nothing later may run at all.
    queueMicrotask(() => {
      isScheduled = false
      leave(false)
    })
  }
}
