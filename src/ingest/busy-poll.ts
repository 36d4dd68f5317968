const POLL_MS = 1

/**
 * Keeps the event loop turning until the promise is done, for a millisecond at most. A sync often takes less, and to
 * fall asleep and be woken by it costs a busy server a tenth of its requests (measured).
 */
export function busyPoll(until: Promise<unknown>): void {
  const end = performance.now() + POLL_MS
  let isDone = false
  const stop = () => {
    isDone = true
  }
  until.then(stop, stop)
  const turn = () => {
    if (!isDone && performance.now() < end) setImmediate(turn)
  }
  setImmediate(turn)
}
