/** A base64url text, read bit by bit from its beginning. Behind its end all bits are 0, and `isShort` says so. */
export class Bits {
  #at = 0
  readonly #bytes: Uint8Array

  private constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Null when the text is empty or not base64url. */
  static of(text: string): Bits | null {
    return /^[\w-]+$/.test(text) ? new Bits(Buffer.from(text, 'base64url')) : null
  }

  /** True after reading more bits than exist. */
  get isShort(): boolean {
    return this.left < 0
  }

  /** Number of bits that were not read yet; negative behind the end. */
  get left(): number {
    return this.#bytes.length * 8 - this.#at
  }

  /** The next bits as a whole number, the highest bit first; at most 36 of them. */
  take(length: number): number {
    let value = 0
    for (let bit = 0; bit < length; bit++) {
      const byte = this.#bytes[this.#at >> 3] ?? 0
      value = value * 2 + ((byte >> (7 - (this.#at & 7))) & 1)
      this.#at++
    }
    return value
  }

  /** Goes past bits that nobody asks for. */
  advance(length: number): void {
    this.#at += length
  }

  /** Places of the ones among the next bits, counted from 1. */
  takePlaces(length: number): number[] {
    return Array.from({ length }, (_, index) => index + 1).filter(() => this.take(1) === 1)
  }
}
