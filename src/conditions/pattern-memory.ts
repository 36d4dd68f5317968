/** Instructions and letters of all that is remembered: a few of the dearest rules, 10 MB at most. */
const MAX_SIZE = 80_000

interface Sized {
  /** Instructions. */
  size: number
  portable: string
}

const sizeOf = ({ size, portable }: Sized) => size + portable.length

/**
 * Patterns that were compiled lately. One question compiles those of its rule two to five times, a millisecond each: when
 * the rule is checked, and for each query it makes.
 */
export class PatternMemory<P extends Sized> {
  /** The one that was asked for last comes last. */
  private readonly known = new Map<string, P>()
  private size = 0

  /** The pattern of a source, by `compile` when it is not remembered. What that throws is not remembered. */
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
