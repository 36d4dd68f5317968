import { Yielder } from '../core/yield-to-event-loop.ts'

/** Number of 32-bit words in an address. See `readAddress`. */
const WORDS = 4
const MAX_WORD = 0xffff_ffff
/** First address, last address, value. */
const STRIDE = 2 * WORDS + 1
const CHUNK_RANGES = 16_384
/** Number of steps between two checks of the elapsed time. */
const STEPS = 512

/** Ranges of addresses with a value each, in any order. Ranges may overlap. */
export class AddressRanges {
  private readonly chunks: Uint32Array[] = []
  length = 0

  /** @param value a whole number from 0 to 2^32 - 1 */
  add(first: Uint32Array, last: Uint32Array, value: number): void {
    const slot = this.length % CHUNK_RANGES
    if (slot === 0) this.chunks.push(new Uint32Array(CHUNK_RANGES * STRIDE))
    const chunk = this.chunkOf(this.length)
    const at = slot * STRIDE
    chunk.set(first, at)
    chunk.set(last, at + WORDS)
    chunk[at + 2 * WORDS] = value
    this.length++
  }

  /** Returns a view of the first address of a range. */
  firstOf(range: number): Uint32Array {
    const at = (range % CHUNK_RANGES) * STRIDE
    return this.chunkOf(range).subarray(at, at + WORDS)
  }

  /** Returns a view of the last address of a range. */
  lastOf(range: number): Uint32Array {
    const at = (range % CHUNK_RANGES) * STRIDE + WORDS
    return this.chunkOf(range).subarray(at, at + WORDS)
  }

  valueOf(range: number): number {
    return this.chunkOf(range)[(range % CHUNK_RANGES) * STRIDE + 2 * WORDS] ?? 0
  }

  /**
   * Compares two ranges. Negative if `one` comes before `other`: ranges are sorted by their first address, and a range
   * precedes those that it contains.
   */
  compare(one: number, other: number): number {
    return this.compareWords(one, other, 0) || this.compareWords(other, one, WORDS)
  }

  private compareWords(one: number, other: number, offset: number): number {
    const [a, b] = [this.chunkOf(one), this.chunkOf(other)]
    const i = (one % CHUNK_RANGES) * STRIDE + offset
    const j = (other % CHUNK_RANGES) * STRIDE + offset
    for (let word = 0; word < WORDS; word++) {
      const difference = (a[i + word] ?? 0) - (b[j + word] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  private chunkOf(range: number): Uint32Array {
    const chunk = this.chunks[Math.floor(range / CHUNK_RANGES)]
    if (!chunk) throw new Error(`there is no range ${range}`)
    return chunk
  }
}

/** Finds the code of an address by binary search. */
export class AddressTable {
  /**
   * @param starts ascending addresses, one after another
   * @param codes for each of them, the code of all addresses from it up to the next one
   */
  constructor(
    private readonly starts: Uint32Array,
    private readonly codes: Uint16Array,
  ) {}

  /** Size in memory. */
  get bytes(): number {
    return this.starts.byteLength + this.codes.byteLength
  }

  /** Returns the code of an address; 0 if it is in no range. */
  codeOf(address: Uint32Array): number {
    let low = 0
    let high = this.codes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareAt(this.starts, middle * WORDS, address) <= 0) low = middle + 1
      else high = middle
    }
    return this.codes[low - 1] ?? 0
  }
}

/**
 * Builds the table of codes from ranges. Where ranges overlap, the one with the greatest first address applies, then the
 * smallest, then the one added last. Of two networks, this is the more specific one. Rejects when `stopping` is aborted.
 *
 * @param codeOf returns the code for the value of a range, from 1 to 65,535; 0 for none
 */
export async function addressTable(
  ranges: AddressRanges,
  codeOf: (value: number) => number,
  stopping: AbortSignal,
): Promise<AddressTable> {
  const pauses = new Pauses(stopping)
  const table = new TableBuilder(2 * ranges.length)
  /** The ranges that contain the current address. The one that applies is the last. */
  const open: number[] = []
  const close = (before: Uint32Array | null) => {
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const last = ranges.lastOf(top)
      if (before && compareAt(last, 0, before) >= 0) return
      let outer: number | undefined
      do {
        open.pop()
        outer = open.at(-1)
      } while (outer !== undefined && compareAt(ranges.lastOf(outer), 0, last) <= 0)
      if (last.some((word) => word < MAX_WORD)) {
        table.add(successor(last), outer === undefined ? 0 : codeOf(ranges.valueOf(outer)))
      }
    }
  }
  for (const range of await sorted(ranges, pauses)) {
    const first = ranges.firstOf(range)
    close(first)
    open.push(range)
    table.add(first, codeOf(ranges.valueOf(range)))
    if (pauses.isDue) await pauses.pause()
  }
  close(null)
  return table.build()
}

/** Collects the entries of a table in ascending order. */
class TableBuilder {
  private readonly starts: Uint32Array
  private readonly codes: Uint16Array
  private length = 0

  /** @param size maximum number of entries; the memory for unused ones is never touched */
  constructor(size: number) {
    this.starts = new Uint32Array(size * WORDS)
    this.codes = new Uint16Array(size)
  }

  /** Adds a code from `start` on. It replaces one that was added for the same start. */
  add(start: Uint32Array, code: number): void {
    if (this.length > 0 && compareAt(this.starts, (this.length - 1) * WORDS, start) === 0) this.length--
    const current = this.length > 0 ? this.codes[this.length - 1] : 0
    if (code === current) return
    this.starts.set(start, this.length * WORDS)
    this.codes[this.length] = code
    this.length++
  }

  build(): AddressTable {
    return new AddressTable(this.starts.slice(0, this.length * WORDS), this.codes.slice(0, this.length))
  }
}

/**
 * Returns the ranges in the order of `compare`; equal ones in the order in which they were added. Merges runs that are
 * already sorted, because the files of all publishers consist of a few such runs.
 */
async function sorted(ranges: AddressRanges, pauses: Pauses): Promise<Uint32Array> {
  let from: Uint32Array = new Uint32Array(ranges.length)
  let to: Uint32Array = new Uint32Array(ranges.length)
  let ends: number[] = []
  for (let range = 0; range < ranges.length; range++) {
    from[range] = range
    if (range > 0 && ranges.compare(range - 1, range) > 0) ends.push(range)
    if (pauses.isDue) await pauses.pause()
  }
  ends.push(ranges.length)
  while (ends.length > 1) {
    const merged: number[] = []
    for (let run = 0, start = 0; run < ends.length; run += 2) {
      const middle = ends[run] ?? ranges.length
      const end = ends[run + 1] ?? middle
      for (let left = start, right = middle, at = start; at < end; at++) {
        const [one = 0, other = 0] = [from[left], from[right]]
        const isLeft = left < middle && (right >= end || ranges.compare(one, other) <= 0)
        to[at] = isLeft ? one : other
        if (isLeft) left++
        else right++
        if (pauses.isDue) await pauses.pause()
      }
      merged.push(end)
      start = end
    }
    ends = merged
    ;[from, to] = [to, from]
  }
  return from
}

/** Splits long work into parts, between which the event loop runs. */
export class Pauses {
  private readonly yielder = new Yielder()
  private steps = 0

  constructor(private readonly stopping: AbortSignal) {}

  /** Counts a step. Now and then, returns true if `pause` must be awaited. */
  get isDue(): boolean {
    return ++this.steps % STEPS === 0 && this.yielder.isDue
  }

  /** Throws when the work must stop. */
  async pause(): Promise<void> {
    await this.yielder.yieldNow()
    this.stopping.throwIfAborted()
  }
}

/** Compares the address at a position of `list` with `address`. Negative if it is lower. */
function compareAt(list: Uint32Array, at: number, address: Uint32Array): number {
  for (let word = 0; word < WORDS; word++) {
    const difference = (list[at + word] ?? 0) - (address[word] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Returns the next address. The address must not be the highest one. */
function successor(address: Uint32Array): Uint32Array {
  const next = address.slice()
  let word = WORDS - 1
  while (next[word] === MAX_WORD) next[word--] = 0
  next[word] = (next[word] ?? 0) + 1
  return next
}
