import { describe, expect, test } from 'bun:test'
import { isIPv4, isIPv6 } from 'node:net'
import fc from 'fast-check'
import {
  type Address,
  contains,
  formatAddress,
  parseAddress,
  parseCidr,
  unmapped,
  unmappedBlock,
} from './ip-address.ts'

function address(text: string): Address {
  const parsed = parseAddress(text)
  if (!parsed) throw new Error(`${text} is not an IP address`)
  return parsed
}

describe('IP address parsing', () => {
  test('reads back every formatted address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const parsed = address(text)
        expect(parseAddress(formatAddress(parsed))).toEqual(parsed)
      }),
    )
  })

  test.each([
    ['1.2.3.4', 0x01020304n],
    ['::', 0n],
    ['[::1]', 1n],
    ['::ffff:1.2.3.4', 0xffff_0102_0304n],
    ['1:2:3:4:5:6:7:8', 0x0001_0002_0003_0004_0005_0006_0007_0008n],
    ['1::8', (1n << 112n) | 8n],
    ['1:2::', (1n << 112n) | (2n << 96n)],
  ])('accepts %s', (text, value) => expect(address(text).value).toBe(value))

  test.each([
    '',
    'localhost',
    '1.2.3',
    '01.2.3.4',
    '0x7f.1',
    '1.2.3.4.5',
    '1.2.3.256',
    ':::',
    '1::2::3',
    '12345::',
    '[]',
  ])('rejects %j as an address', (text) => expect(parseAddress(text)).toBeNull())

  test.each(['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', 'host/8', '/8', '10.0.0.0/x'])(
    'rejects %j as a CIDR block',
    (text) => expect(parseCidr(text)).toBeNull(),
  )
})

test('a CIDR block contains exactly the addresses that share its prefix', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (base, other, bits) => {
      const binary = (text: string) => address(text).value.toString(2).padStart(32, '0').slice(0, bits)
      expect(contains({ base: address(base), bits }, address(other))).toBe(binary(base) === binary(other))
    }),
  )
  expect(contains({ base: address('0.0.0.0'), bits: 0 }, address('::1'))).toBe(false)
})

/** Strings that resemble addresses. Most of them are not addresses. */
const nearly = fc
  .oneof(
    fc.array(
      fc.constantFrom('0', '1', '9', '25', '255', '256', '01', 'f', 'abcd', 'g', '.', ':', '::', '%', '1.2.3.4'),
      {
        maxLength: 20,
      },
    ),
    fc.tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(40), fc.constantFrom('', '.', ':', '0', 'x', '::')),
  )
  .map(([text, at, more, ...rest]) =>
    typeof at === 'number'
      ? `${String(text).slice(0, at)}${more}${String(text).slice(at + 1)}`
      : [text, at, more, ...rest].join(''),
  )

test('a string is an address exactly when `node:net` accepts it', () => {
  fc.assert(
    fc.property(nearly, (text) => {
      // Zones are removed before parsing.
      fc.pre(!text.includes('%'))
      expect(parseAddress(text)?.family ?? null).toBe(isIPv4(text) ? 4 : isIPv6(text) ? 6 : null)
    }),
    { numRuns: 2000 },
  )
})

test('IPv4-mapped addresses and blocks are converted to IPv4', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (v4, bits) => {
      expect(unmapped(address(`::ffff:${v4}`))).toEqual(address(v4))
      expect(unmappedBlock({ base: address(`::ffff:${v4}`), bits: bits + 96 })).toEqual({ base: address(v4), bits })
      expect(unmapped(address(v4))).toEqual(address(v4))
    }),
  )
  for (const text of ['::1.2.3.4', '::1', '64:ff9b::102:304', '1::ffff:1.2.3.4']) {
    expect(unmapped(address(text))).toEqual(address(text))
  }
  expect(unmappedBlock({ base: address('::ffff:0:0'), bits: 95 })).toEqual({ base: address('::ffff:0:0'), bits: 95 })
})
