import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Address, parseAddress } from '../core/ip-address.ts'
import { destinations, judge, type Tier } from './classify-address.ts'

function address(text: string): Address {
  const parsed = parseAddress(text)
  if (!parsed) throw new Error(`${text} is no address`)
  return parsed
}

/** The strictest tier among all destinations of an address. */
function tierOf(text: string): Tier {
  const tiers = destinations(address(text)).map((place) => judge(place).tier)
  return tiers.includes('forbidden') ? 'forbidden' : tiers.includes('private') ? 'private' : 'public'
}

/** The first and last addresses of each block, and the adjacent addresses outside the block. */
const RANGES: [block: string, tier: Tier, inside: string[], outsideIsPublic: string[]][] = [
  ['0.0.0.0/8', 'forbidden', ['0.0.0.0', '0.255.255.255'], ['1.0.0.0']],
  ['10.0.0.0/8', 'private', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0']],
  ['100.64.0.0/10', 'private', ['100.64.0.0', '100.127.255.255'], ['100.63.255.255', '100.128.0.0']],
  ['127.0.0.0/8', 'forbidden', ['127.0.0.0', '127.0.0.1', '127.255.255.255'], ['126.255.255.255', '128.0.0.0']],
  ['169.254.0.0/16', 'forbidden', ['169.254.0.0', '169.254.255.255'], ['169.253.255.255', '169.255.0.0']],
  ['metadata', 'forbidden', ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192'], ['168.63.129.17']],
  ['172.16.0.0/12', 'private', ['172.16.0.0', '172.31.255.255'], ['172.15.255.255', '172.32.0.0']],
  ['192.0.0.0/24', 'forbidden', ['192.0.0.0', '192.0.0.255'], ['191.255.255.255', '192.0.1.0']],
  ['192.0.2.0/24', 'forbidden', ['192.0.2.0', '192.0.2.255'], ['192.0.1.255', '192.0.3.0']],
  ['192.88.99.0/24', 'forbidden', ['192.88.99.0', '192.88.99.255'], ['192.88.98.255', '192.88.100.0']],
  ['192.168.0.0/16', 'private', ['192.168.0.0', '192.168.255.255'], ['192.167.255.255', '192.169.0.0']],
  ['198.18.0.0/15', 'forbidden', ['198.18.0.0', '198.19.255.255'], ['198.17.255.255', '198.20.0.0']],
  ['198.51.100.0/24', 'forbidden', ['198.51.100.0', '198.51.100.255'], ['198.51.99.255', '198.51.101.0']],
  ['203.0.113.0/24', 'forbidden', ['203.0.113.0', '203.0.113.255'], ['203.0.112.255', '203.0.114.0']],
  ['224.0.0.0/4', 'forbidden', ['224.0.0.0', '239.255.255.255'], ['223.255.255.255']],
  ['240.0.0.0/4', 'forbidden', ['240.0.0.0', '255.255.255.254', '255.255.255.255'], []],
  ['::', 'forbidden', ['::'], []],
  ['::1', 'forbidden', ['::1', '0:0:0:0:0:0:0:1'], []],
  ['64:ff9b:1::/48', 'forbidden', ['64:ff9b:1::', '64:ff9b:1::8.8.8.8'], []],
  ['100::/64', 'forbidden', ['100::1'], []],
  ['2001::/23', 'forbidden', ['2001:1::1', '2001:2::1', '2001:10::1', '2001:1ff::1'], ['2001:200::1']],
  ['2001:db8::/32', 'forbidden', ['2001:db8::', '2001:db8:ffff::1'], ['2001:db7::1', '2001:db9::1']],
  ['3fff::/20', 'forbidden', ['3fff::1', '3fff:fff::1'], ['3fff:1000::1']],
  ['outside 2000::/3', 'forbidden', ['1fff::1', '4000::1', '5f00::1', 'fec0::1'], ['2000::1', '3ffe::1']],
  ['fc00::/7', 'private', ['fc00::1', 'fdff:ffff::1'], []],
  ['metadata 6', 'forbidden', ['fd00:ec2::254', 'fd20:ce::254'], []],
  ['fe80::/10', 'forbidden', ['fe80::1', 'febf::1', 'fe80::1%eth0'], []],
  ['ff00::/8', 'forbidden', ['ff00::', 'ff02::1', 'ffff:ffff::'], []],
]

describe.each(RANGES)('the range %s (%s)', (_block, tier, inside, outside) => {
  test.each(inside)('contains %s', (text) => expect(tierOf(text)).toBe(tier))
  test.each(outside)('does not contain %s, which is public', (text) => expect(tierOf(text)).toBe('public'))
})

const EMBEDDED: [form: string, write: (high: string, low: string) => string][] = [
  ['mapped', (high, low) => `::ffff:${high}:${low}`],
  ['compatible', (high, low) => `::${high}:${low}`],
  ['translated', (high, low) => `::ffff:0:${high}:${low}`],
  ['NAT64', (high, low) => `64:ff9b::${high}:${low}`],
  ['6to4', (high, low) => `2002:${high}:${low}::1`],
  ['Teredo server', (high, low) => `2001:0:${high}:${low}::${inverted('0808')}:${inverted('0808')}`],
  ['Teredo client', (high, low) => `2001:0:808:808::${inverted(high)}:${inverted(low)}`],
]

function inverted(group: string): string {
  return (Number.parseInt(group, 16) ^ 0xffff).toString(16)
}

function groupsOf(v4: string): [string, string] {
  const hex = (address(v4).value + 0x1_0000_0000n).toString(16).slice(1)
  return [hex.slice(0, 4), hex.slice(4)]
}

describe.each(EMBEDDED)('an IPv4 address embedded in a %s address', (form, write) => {
  test.each([
    ['127.0.0.1', 'forbidden'],
    ['169.254.169.254', 'forbidden'],
    ['10.1.2.3', 'private'],
    ['192.168.1.1', 'private'],
    ['8.8.8.8', 'public'],
  ] as const)('%s is classified as %s', (v4, tier) => {
    expect(tierOf(write(...groupsOf(v4)))).toBe(tier)
  })

  test('is classified like the IPv4 address itself', () => {
    fc.assert(
      fc.property(fc.ipV4(), (v4) => {
        // `::` and `::1` are not IPv4-compatible addresses.
        fc.pre(form !== 'compatible' || address(v4).value > 1n)
        expect(tierOf(write(...groupsOf(v4)))).toBe(tierOf(v4))
      }),
    )
  })
})
