/** Reads a base64url string bit by bit from its start. Bits beyond its end are 0, and `isShort` is then true. */
export class BitReader {
  #at = 0
  readonly #bytes: Uint8Array

  private constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Returns null when the string is empty or not base64url. */
  static of(text: string): BitReader | null {
    return /^[\w-]+$/.test(text) ? new BitReader(Buffer.from(text, 'base64url')) : null
  }

  /** True after reading more bits than exist. */
  get isShort(): boolean {
    return this.left < 0
  }

  /** Number of unread bits; negative after reading beyond the end. */
  get left(): number {
    return this.#bytes.length * 8 - this.#at
  }

  /** Returns the next bits as a whole number, highest bit first; at most 36 bits. */
  take(length: number): number {
    let value = 0
    for (let bit = 0; bit < length; bit++) {
      const byte = this.#bytes[this.#at >> 3] ?? 0
      value = value * 2 + ((byte >> (7 - (this.#at & 7))) & 1)
      this.#at++
    }
    return value
  }

  /** Skips bits. */
  advance(length: number): void {
    this.#at += length
  }

  /** Returns the positions of the bits that are 1 among the next bits, counted from 1. */
  takePlaces(length: number): number[] {
    return Array.from({ length }, (_, index) => index + 1).filter(() => this.take(1) === 1)
  }
}
