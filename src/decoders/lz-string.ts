const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const VALUES = new Map([...ALPHABET].map((character, value) => [character, value]))

/**
 * Maximum length of the output; more than any request needs. Without a limit, a short malicious input could expand to
 * much more.
 */
const MAX_LENGTH = 1024 * 1024

/** Codes with a special meaning. */
const ONE_BYTE = 0
const TWO_BYTES = 1
const END = 2

/**
 * Decompresses a string in a format that several SDKs use in URLs: LZ78 over 16-bit units, in base64. Null when the
 * input is not in this format or expands to more than 1 Mi units. https://github.com/pieroxy/lz-string
 * (`compressToBase64`)
 */
export function decompressFromBase64(input: string): string | null {
  const read = bitReader(input)
  // The first entries are placeholders for the special codes. The code width increases as soon as the number of entries
  // exceeds the number of codes of the current width.
  const entries: string[] = ['', '', '']
  let width = 2
  let room = 1
  const add = (entry: string) => {
    entries.push(entry)
    if (--room === 0) room = 2 ** width++
  }
  const parts: string[] = []
  let previous: string | null = null
  for (let length = 0; length <= MAX_LENGTH; ) {
    let code = read(width)
    if (code === null) return null
    if (code === END) return parts.join('')
    if (code === ONE_BYTE || code === TWO_BYTES) {
      const unit = read(code === ONE_BYTE ? 8 : 16)
      if (unit === null) return null
      code = entries.length
      add(String.fromCharCode(unit))
    }
    const entry: string | null = entries[code] ?? unfinished(entries, code, previous)
    if (entry === null) return null
    parts.push(entry)
    length += entry.length
    if (previous !== null) add(previous + entry.charAt(0))
    previous = entry
  }
  return null
}

/** Returns the entry that the current step is about to add: the previous text, followed by its own first unit. */
function unfinished(entries: string[], code: number, previous: string | null): string | null {
  return code === entries.length && previous !== null ? previous + previous.charAt(0) : null
}

/**
 * Returns a function that reads numbers from the input, which has six bits per character. The highest bit of a
 * character is read first, and the lowest bit of a number comes first.
 */
function bitReader(input: string): (width: number) => number | null {
  let index = 0
  let value = 0
  let left = 0
  return (width) => {
    let number = 0
    for (let bit = 0; bit < width; bit++) {
      if (left === 0) {
        // A plus sign in the query was not escaped, and was therefore decoded as a space.
        const next = VALUES.get(input[index] === ' ' ? '+' : (input[index] ?? ''))
        if (next === undefined) return null
        index++
        value = next
        left = 6
      }
      left--
      number += ((value >> left) & 1) * 2 ** bit
    }
    return number
  }
}
