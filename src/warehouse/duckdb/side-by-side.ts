import { messageOf } from '../../core/error.ts'

/**
 * Work that shares the memory of one engine: side by side, until something finds none. That is done again by itself, when
 * what was under way has ended and before anything new begins.
 */
export class SideBySide {
  private readonly underWay = new Set<Promise<unknown>>()
  private begun = 0
  /** Ends with what is done by itself; never rejects. */
  private alone: Promise<unknown> = Promise.resolve()

  /** Returns what `work` does. It is called twice at most, and once when it had the memory to itself. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.alone
    const wasAlone = this.underWay.size === 0
    const place = ++this.begun
    try {
      return await this.track(work())
    } catch (error) {
      if (!isOutOfMemory(error) || (wasAlone && this.begun === place)) throw error
    }
    const again = this.alone.then(() => Promise.allSettled([...this.underWay])).then(work)
    this.alone = again.catch(() => undefined)
    return again
  }

  private track<T>(work: Promise<T>): Promise<T> {
    this.underWay.add(work)
    const done = () => this.underWay.delete(work)
    work.then(done, done)
    return work
  }
}

const isOutOfMemory = (error: unknown) => messageOf(error).startsWith('Out of Memory Error')
