import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Cidr, parseCidr } from '../core/ip-address.ts'
import { callerAddress } from './caller-address.ts'

function blocks(...texts: string[]): Cidr[] {
  return texts.map((text) => parseCidr(text)).filter((block) => block !== null)
}

/** Trusts two layers of proxies. */
const behind = callerAddress(blocks('10.0.0.0/8', 'fd00::/8', '::ffff:192.168.0.0/120'))

describe('the IP address of a caller', () => {
  test.each<[peer: string | null, forwardedFor: string | null, caller: string | null]>([
    // The header is ignored when the peer is not trusted.
    ['203.0.113.9', null, '203.0.113.9'],
    ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['203.0.113.9', '10.0.0.1', '203.0.113.9'],
    // The last entry is used because the trusted proxy added it.
    ['10.0.0.1', null, '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', ' 1.1.1.1 ,198.51.100.1\t', '198.51.100.1'],
    // With several trusted proxies, a trusted address further left was written by the caller.
    ['10.0.0.1', '198.51.100.1, 10.9.9.9', '198.51.100.1'],
    ['10.0.0.1', '10.6.6.6, 198.51.100.1, fd00::7, 10.9.9.9', '198.51.100.1'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    // The search stops at an entry that is not an IP address.
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '198.51.100.1,,10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '198.51.100.1,', '10.0.0.1'],
    ['10.0.0.1', '_hidden, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '198.51.100.256', '10.0.0.1'],
    ['10.0.0.1', 'for=198.51.100.1', '10.0.0.1'],
    // Addresses are normalized.
    ['::ffff:203.0.113.9', null, '203.0.113.9'],
    ['::ffff:10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['192.168.3.4', '198.51.100.1', '192.168.3.4'],
    ['192.168.0.4', '198.51.100.1', '198.51.100.1'],
    ['2001:DB8:0:0:0:0:0:1', null, '2001:db8::1'],
    ['fd00::1', '2001:0db8::0001', '2001:db8::1'],
    ['10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
    ['fe80::1%eth0', null, 'fe80::1'],
    [null, '198.51.100.1', null],
    ['', '198.51.100.1', null],
  ])('for peer %j with `x-forwarded-for` %j is %j', (peer, forwardedFor, caller) => {
    expect(behind(peer, forwardedFor)).toBe(caller)
  })

  test("is the address of the connection's peer if no proxies are trusted", () => {
    const direct = callerAddress([])
    fc.assert(
      fc.property(fc.ipV4(), fc.string(), (peer, header) => {
        expect(direct(peer, header)).toBe(peer)
      }),
    )
  })

  test('is not affected by entries that the caller prepends', () => {
    const entry = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.0.0.7', 'fd00::1', '', 'unknown', '"', ' ,'))
    fc.assert(
      fc.property(fc.array(entry), fc.string(), (entries, junk) => {
        const header = [...entries, junk, '198.51.100.1', '10.2.2.2'].join(', ')
        expect(behind('10.0.0.1', header)).toBe('198.51.100.1')
      }),
    )
  })
})
