/** The values of the newest slots of a series. A slot without a value, or too old, is NaN. */
export class SlotRing {
  private readonly values: Float32Array
  private newest = -1

  constructor(size: number) {
    this.values = new Float32Array(size).fill(Number.NaN)
  }

  /** Slots come in rising order; a slot may be written again while it is kept. */
  set(slot: number, value: number): void {
    const size = this.values.length
    if (slot > this.newest) {
      const from = Math.max(this.newest + 1, slot - size + 1)
      for (let skipped = from; skipped < slot; skipped++) this.values[skipped % size] = Number.NaN
      this.newest = slot
    } else if (slot <= this.newest - size || slot < 0) return
    this.values[slot % size] = value
  }

  get(slot: number): number {
    const size = this.values.length
    if (slot < 0 || slot > this.newest || slot <= this.newest - size) return Number.NaN
    return this.values[slot % size] ?? Number.NaN
  }

  /** Copies the values of `from <= slot < to` that exist to `into`; returns how many. */
  collect(from: number, to: number, into: Float64Array): number {
    let found = 0
    for (let slot = Math.max(0, from); slot < to; slot++) {
      const value = this.get(slot)
      if (!Number.isNaN(value)) into[found++] = value
    }
    return found
  }

  get bytes(): number {
    return this.values.byteLength
  }
}
