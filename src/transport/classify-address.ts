import { type Address, contains, parseCidr } from '../core/ip-address.ts'

/**
 * Kind of address. `private`: private networks. `forbidden`: the machine itself, link-local addresses, cloud metadata
 * services, and every address that does not belong to a single host on the Internet.
 */
export type Tier = 'public' | 'private' | 'forbidden'

export interface Judgement {
  tier: Tier
  /** Description for error messages: `a loopback address`. */
  what: string
  /** True for metadata services, which require an allow list entry for the single address. */
  exact: boolean
}

/**
 * Returns the destinations of a packet to `address`. For an IPv6 address that embeds an IPv4 address (mapped,
 * compatible, translated, NAT64, 6to4), returns the IPv4 address. For a Teredo address, returns the addresses of its
 * server and client. Otherwise, returns the address itself.
 * Sources: RFC 4291 2.5.5, RFC 2765 2.1, RFC 6052 2.1, RFC 3056 2, RFC 4380 4.
 */
export function destinations(address: Address): Address[] {
  if (address.family === 4) return [address]
  const { value } = address
  const v4 = (shift: bigint): Address => ({ family: 4, value: (value >> shift) & 0xffff_ffffn })
  const high = value >> 32n
  // `::` and `::1` look like IPv4-compatible addresses but are not.
  if (high === 0n && value > 1n) return [v4(0n)]
  if (high === 0xffffn || high === 0xffff_0000n || high === 0x64_ff9bn << 64n) return [v4(0n)]
  if (value >> 112n === 0x2002n) return [v4(80n)]
  if (value >> 96n === 0x2001_0000n) return [v4(64n), { family: 4, value: v4(0n).value ^ 0xffff_ffffn }]
  return [address]
}

type Row = readonly [cidr: string, tier: Tier, what: string]

/** Metadata services of large cloud providers. An allowed block may contain their addresses. */
const METADATA = ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254']

/**
 * Special-purpose blocks. The first match applies.
 * Sources: the IANA special-purpose address registries, https://www.iana.org/assignments/iana-ipv4-special-registry and
 * …/iana-ipv6-special-registry.
 */
const BLOCKS: readonly Row[] = [
  ...METADATA.map((address): Row => [address, 'forbidden', 'a cloud metadata address']),
  ['0.0.0.0/8', 'forbidden', 'an unspecified address'],
  ['10.0.0.0/8', 'private', 'a private address'],
  ['100.64.0.0/10', 'private', 'a shared carrier address'],
  ['127.0.0.0/8', 'forbidden', 'a loopback address'],
  ['169.254.0.0/16', 'forbidden', 'a link-local address'],
  ['172.16.0.0/12', 'private', 'a private address'],
  ['192.0.0.0/24', 'forbidden', 'a reserved address'],
  ['192.0.2.0/24', 'forbidden', 'a documentation address'],
  ['192.88.99.0/24', 'forbidden', 'a reserved address'],
  ['192.168.0.0/16', 'private', 'a private address'],
  ['198.18.0.0/15', 'forbidden', 'a benchmarking address'],
  ['198.51.100.0/24', 'forbidden', 'a documentation address'],
  ['203.0.113.0/24', 'forbidden', 'a documentation address'],
  ['224.0.0.0/4', 'forbidden', 'a multicast address'],
  ['255.255.255.255', 'forbidden', 'the broadcast address'],
  ['240.0.0.0/4', 'forbidden', 'a reserved address'],
  ['0.0.0.0/0', 'public', 'a public address'],
  ['::', 'forbidden', 'an unspecified address'],
  ['::1', 'forbidden', 'a loopback address'],
  ['2001::/23', 'forbidden', 'a reserved address'],
  ['2001:db8::/32', 'forbidden', 'a documentation address'],
  ['3fff::/20', 'forbidden', 'a documentation address'],
  ['2000::/3', 'public', 'a public address'],
  ['fc00::/7', 'private', 'a private address'],
  ['fe80::/10', 'forbidden', 'a link-local address'],
  ['ff00::/8', 'forbidden', 'a multicast address'],
  // Only 2000::/3 is assigned to hosts: https://www.iana.org/assignments/ipv6-address-space
  ['::/0', 'forbidden', 'a reserved address'],
]

const RANGES = BLOCKS.map(([text, tier, what]) => {
  const cidr = parseCidr(text)
  if (!cidr) throw new Error(`${text} is not a CIDR block`)
  return { cidr, tier, what, exact: METADATA.includes(text) }
})

/** Classifies an address without decoding embedded addresses. Call it for each of the address's `destinations`. */
export function judge(address: Address): Judgement {
  const range = RANGES.find(({ cidr }) => contains(cidr, address))
  if (!range) throw new Error('the table of ranges does not cover every address')
  return { tier: range.tier, what: range.what, exact: range.exact }
}
