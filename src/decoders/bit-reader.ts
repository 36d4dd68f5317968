/**
 * Reads the bits of a base64url string from its start. Bits beyond the end are read as 0, and `isShort` is then true.
 */
export class BitReader {
  #at = 0
  readonly #bytes: Uint8Array

  private constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Returns a reader; null if the string is empty or not base64url. */
  static of(text: string): BitReader | null {
    return /^[\w-]+$/.test(text) ? new BitReader(Buffer.from(text, 'base64url')) : null
  }

  /** True if more bits have been read than the string has. */
  get isShort(): boolean {
    return this.left < 0
  }

  /** Number of unread bits; negative after reading beyond the end. */
  get left(): number {
    return this.#bytes.length * 8 - this.#at
  }

  /** Reads the next bits as an integer, highest bit first. At most 36 bits can be read at once. */
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

  /** Reads the next bits and returns the positions of those that are 1, counted from 1. */
  takePlaces(length: number): number[] {
    return Array.from({ length }, (_, index) => index + 1).filter(() => this.take(1) === 1)
  }
}
