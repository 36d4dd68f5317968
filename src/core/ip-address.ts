/** An IP address as a 32-bit or 128-bit number. */
export interface Address {
  family: 4 | 6
  value: bigint
}

/** All addresses whose first `bits` bits equal those of `base`. */
export interface Cidr {
  base: Address
  bits: number
}

const width = (family: 4 | 6) => (family === 4 ? 32 : 128)

/** Parses an address in dotted or colon notation, with or without brackets or a zone. Returns null if it is invalid. */
export function parseAddress(text: string): Address | null {
  const family = readAddress(text, words)
  if (family === null) return null
  const [first = 0, second = 0, third = 0, last = 0] = words
  if (family === 4) return { family, value: BigInt(last) }
  const high = (BigInt(first) << 32n) | BigInt(second)
  return { family, value: (high << 64n) | (BigInt(third) << 32n) | BigInt(last) }
}

/**
 * Like `parseAddress`, but writes the address to `into` as four 32-bit words, most significant first. An IPv4 address is
 * written as its IPv4-mapped IPv6 address. Returns the family of the text, and null if the text is invalid; the words are
 * then undefined. Allocates nothing for addresses without brackets and zone.
 */
export function readAddress(text: string, into: Uint32Array): 4 | 6 | null {
  const bare = /[[%]/.test(text) ? text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '') : text
  if (bare.includes(':')) return readV6(bare, into) ? 6 : null
  const v4 = readV4(bare, 0)
  if (v4 < 0) return null
  into[0] = 0
  into[1] = 0
  into[2] = MAPPED
  into[3] = v4
  return 4
}

const words = new Uint32Array(4)
/** The eight groups of the address being parsed. */
const groups = new Uint16Array(8)
/** Third word of every IPv4-mapped address. The words before it are 0. */
const MAPPED = 0xffff
const [DOT, COLON, ZERO] = [46, 58, 48]

/**
 * Returns the 32-bit number for four decimal numbers from a position to the end of the text; -1 if they are invalid.
 * Leading zeros are rejected, because some systems read such numbers as octal.
 */
function readV4(text: string, from: number): number {
  let [value, octet, digits, dots] = [0, 0, 0, 0]
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === DOT) {
      if (digits === 0 || ++dots > 3) return -1
      value = value * 256 + octet
      octet = 0
      digits = 0
    } else {
      const digit = code - ZERO
      if (digit < 0 || digit > 9 || (digits > 0 && octet === 0)) return -1
      octet = octet * 10 + digit
      digits++
      if (octet > 255) return -1
    }
  }
  return dots === 3 && digits > 0 ? value * 256 + octet : -1
}

/**
 * Parses eight groups, with `::` for a run of zeros; the last two groups may be dotted (RFC 4291, 2.2). Returns false if
 * they are invalid.
 */
function readV6(text: string, into: Uint32Array): boolean {
  let count = 0
  /** Number of groups before `::`; -1 without it. */
  let gap = text.startsWith('::') ? 0 : -1
  let at = gap < 0 ? 0 : 2
  while (at < text.length) {
    if (count === 8) return false
    const from = at
    let group = 0
    for (let digit = hexDigit(text, at); digit >= 0; digit = hexDigit(text, ++at)) group = group * 16 + digit
    if (text.charCodeAt(at) === DOT) {
      const v4 = readV4(text, from)
      if (v4 < 0 || count > 6) return false
      groups[count++] = v4 >>> 16
      groups[count++] = v4
      break
    }
    if (at === from || at - from > 4) return false
    groups[count++] = group
    if (at === text.length) break
    if (text.charCodeAt(at++) !== COLON) return false
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return false
      gap = count
      at++
    } else if (at === text.length) return false
  }
  if (gap < 0 ? count !== 8 : count === 8) return false
  if (gap >= 0) {
    groups.copyWithin(8 - (count - gap), gap, count)
    groups.fill(0, gap, 8 - (count - gap))
  }
  for (let word = 0; word < 4; word++) into[word] = (groups[2 * word] ?? 0) * 65_536 + (groups[2 * word + 1] ?? 0)
  return true
}

/** Returns the value of the hexadecimal digit at a position; -1 if there is none. */
function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code >= ZERO && code <= 57) return code - ZERO
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

/** Returns an address such as `10.0.0.1`, or eight hexadecimal groups without compression. Sockets accept both. */
export function formatAddress({ family, value }: Address): string {
  const part = (shift: number, mask: bigint) => (value >> BigInt(shift)) & mask
  if (family === 4) return [24, 16, 8, 0].map((shift) => part(shift, 0xffn)).join('.')
  return [112, 96, 80, 64, 48, 32, 16, 0].map((shift) => part(shift, 0xffffn).toString(16)).join(':')
}

/** Parses `10.0.0.0/8`, or a single address as a block of one. Returns null if it is invalid. */
export function parseCidr(text: string): Cidr | null {
  const [host = '', length, ...more] = text.split('/')
  const base = parseAddress(host)
  if (!base || more.length > 0) return null
  if (length === undefined) return { base, bits: width(base.family) }
  if (!/^\d{1,3}$/.test(length) || Number(length) > width(base.family)) return null
  return { base, bits: Number(length) }
}

export function contains({ base, bits }: Cidr, address: Address): boolean {
  if (base.family !== address.family) return false
  const shift = BigInt(width(base.family) - bits)
  return base.value >> shift === address.value >> shift
}

/**
 * Returns the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2). Any other address is returned unchanged.
 */
export function unmapped(address: Address): Address {
  return isMapped(address) ? { family: 4, value: address.value & 0xffff_ffffn } : address
}

/**
 * Returns the IPv4 block for an IPv4-mapped block (`::ffff:10.0.0.0/104` → `10.0.0.0/8`). Any other block is returned
 * unchanged.
 */
export function unmappedBlock({ base, bits }: Cidr): Cidr {
  return isMapped(base) && bits >= 96 ? { base: unmapped(base), bits: bits - 96 } : { base, bits }
}

const isMapped = ({ family, value }: Address) => family === 6 && value >> 32n === 0xffffn
