/** Returns the first 64 primes. */
function primes(): number[] {
  const found: number[] = []
  for (let candidate = 2; found.length < 64; candidate++) {
    if (found.every((prime) => candidate % prime)) found.push(candidate)
  }
  return found
}

/** Returns the first 32 bits of the fractional part: https://csrc.nist.gov/pubs/fips/180-4/upd1/final, 4.2.2, 5.3.3 */
function fraction(value: number): number {
  return ((value % 1) * 2 ** 32) | 0
}

/** Returns the XOR of the word rotated right by each number of bits. Shift operators use their distance modulo 32. */
function mix(word: number, ...by: number[]): number {
  return by.reduce((mixed, bits) => mixed ^ (word >>> bits) ^ (word << -bits), 0)
}

/**
 * A tuple, because the standard's loops are fixed and every index is within bounds. Default values for array elements
 * would make the script larger.
 */
type State = [number, number, number, number, number, number, number, number]

/** Returns signed or unsigned 32-bit words in hex. */
export function hexOf(words: Iterable<number>): string {
  return [...words].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

/**
 * Returns the SHA-256 of a string's UTF-8 bytes, in hex. The browser's function requires a secure context and is
 * asynchronous, but the session must be known when the first request is captured.
 */
export function sha256(text: string): string {
  const constants = primes().map((prime) => fraction(prime ** (1 / 3)))
  const bytes = new TextEncoder().encode(text)
  const blocks = new DataView(new ArrayBuffer(((bytes.length + 72) >> 6) << 6))
  new Uint8Array(blocks.buffer).set([...bytes, 0x80])
  blocks.setUint32(blocks.byteLength - 4, bytes.length * 8)
  let state = primes()
    .slice(0, 8)
    .map((prime) => fraction(prime ** 0.5)) as State
  for (let start = 0; start < blocks.byteLength; start += 64) {
    const schedule: number[] = []
    const word = (t: number) => schedule[t] as number
    let turned = state
    constants.forEach((constant, t) => {
      const [a, b, c, d, e, f, g, h] = turned
      const next =
        t < 16
          ? blocks.getInt32(start + t * 4)
          : word(t - 16) +
            (mix(word(t - 15), 7, 18) ^ (word(t - 15) >>> 3)) +
            word(t - 7) +
            (mix(word(t - 2), 17, 19) ^ (word(t - 2) >>> 10))
      schedule.push(next | 0)
      const first = h + mix(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + constant + word(t)
      const second = mix(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c))
      turned = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g]
    })
    state = state.map((one, index) => (one + (turned[index] as number)) | 0) as State
  }
  return hexOf(state)
}
