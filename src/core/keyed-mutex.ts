const tails = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Runs `work` after all earlier calls with the same owner and key. Returns its result or throws its error. Calls with
 * different keys or owners (such as a database) run concurrently.
 */
export async function runExclusive<T>(owner: object, key: string, work: () => Promise<T>): Promise<T> {
  const keys = tails.get(owner) ?? new Map<string, Promise<unknown>>()
  tails.set(owner, keys)
  const before = keys.get(key)
  const turn = before ? before.then(work, work) : work()
  const tail = turn.catch(() => undefined)
  keys.set(key, tail)
  try {
    return await turn
  } finally {
    if (keys.get(key) === tail) keys.delete(key)
  }
}
