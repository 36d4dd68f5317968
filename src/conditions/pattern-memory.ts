/** Instructions and characters of all cached patterns: a few of the most expensive rules, 10 MB at most. */
const MAX_SIZE = 80_000

interface Sized {
  /** Number of instructions. */
  size: number
  portable: string
}

const sizeOf = ({ size, portable }: Sized) => size + portable.length

/**
 * Caches recently compiled patterns. One request compiles those of its rule two to five times, a millisecond each: when
 * the rule is checked, and for each query it makes.
 */
export class PatternMemory<P extends Sized> {
  /** In the order of use, the most recent last. */
  private readonly known = new Map<string, P>()
  private size = 0

  /** Returns the pattern of a source, from `compile` when it is not cached. Errors of `compile` are not cached. */
  recall(source: string, compile: () => P): P {
    const pattern = this.known.get(source) ?? compile()
    if (sizeOf(pattern) > MAX_SIZE) return pattern
    this.forget(source)
    this.known.set(source, pattern)
    this.size += sizeOf(pattern)
    for (const oldest of this.known.keys()) {
      if (this.size <= MAX_SIZE) break
      this.forget(oldest)
    }
    return pattern
  }

  private forget(source: string): void {
    const pattern = this.known.get(source)
    if (!pattern) return
    this.known.delete(source)
    this.size -= sizeOf(pattern)
  }
}
