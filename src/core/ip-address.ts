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
  const bare = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '')
  const v4 = parseV4(bare)
  if (v4 !== null) return { family: 4, value: v4 }
  const v6 = parseV6(bare)
  return v6 === null ? null : { family: 6, value: v6 }
}

/** Parses four decimal numbers. Leading zeros are rejected, because some systems read such numbers as octal. */
function parseV4(text: string): bigint | null {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) return null
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

/** RFC 4291, 2.2: eight groups, with `::` for a run of zeros. The last two groups may be dotted. */
function parseV6(text: string): bigint | null {
  if (text.length > LONGEST_V6 || !text.includes(':')) return null
  const tail = /[^:]+\.[^:]+$/.exec(text)?.[0]
  if (tail !== undefined) {
    const v4 = parseV4(tail)
    if (v4 === null) return null
    return parseV6(`${text.slice(0, -tail.length)}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`)
  }
  const [head = '', rest, ...more] = text.split('::')
  if (more.length > 0) return null
  const groups = (part: string | undefined) => (part ? part.split(':') : [])
  const left = groups(head)
  const right = groups(rest)
  const missing = 8 - left.length - right.length
  if (rest === undefined ? missing !== 0 : missing < 1) return null
  const all = [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  if (!all.every((group) => /^[\da-f]{1,4}$/i.test(group))) return null
  return all.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n)
}

/** Eight groups of four digits, with the last two groups written as an IPv4 address. */
const LONGEST_V6 = 45

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
