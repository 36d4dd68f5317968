const controllers = new WeakMap<Request, AbortController>()

/**
 * Ends when nobody waits for the answer to a request any more: its caller hung up, or was told by `endPatience` that it took
 * too long.
 */
export function patienceOf(request: Request): AbortSignal {
  const known = controllers.get(request)
  if (known) return known.signal
  const controller = new AbortController()
  controllers.set(request, controller)
  const { signal } = request
  if (signal.aborted) controller.abort()
  else signal.addEventListener('abort', () => controller.abort(), { once: true })
  return controller.signal
}

/** Ends what is still done for a request. */
export function endPatience(request: Request): void {
  controllers.get(request)?.abort()
}
