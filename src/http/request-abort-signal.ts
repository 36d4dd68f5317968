const controllers = new WeakMap<Request, AbortController>()

/**
 * Returns a signal that aborts when the caller disconnects, or when `abortRequest` is called because the request takes
 * too long.
 */
export function requestSignal(request: Request): AbortSignal {
  const known = controllers.get(request)
  if (known) return known.signal
  const controller = new AbortController()
  controllers.set(request, controller)
  const { signal } = request
  if (signal.aborted) controller.abort()
  else signal.addEventListener('abort', () => controller.abort(), { once: true })
  return controller.signal
}

/** Aborts the signal of a request. */
export function abortRequest(request: Request): void {
  controllers.get(request)?.abort()
}
