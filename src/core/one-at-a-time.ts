const tails = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Runs `work` when nothing else of the same `key` runs any more, in the order of the calls, and settles as it does. Keys of
 * different owners (a database) have nothing to do with each other.
 */
export async function oneAtATime<T>(owner: object, key: string, work: () => Promise<T>): Promise<T> {
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
