import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { onOwnHost } from '../../test/decoders/first-party-requests.ts'
import type { Decoder } from './decoder.ts'
import { decodeHit } from './index.ts'

/** One request and what must be read from it. */
export interface DecoderCase {
  name: string
  url: string
  /** With a body the method is POST. */
  body?: string
  /** Names of the events in order; an empty list where the request carries none; null where it is not the vendor's. */
  events: string[] | null
  account?: string
  kind?: 'library'
  /** Parameters that the first event must have, among others. */
  params?: Record<string, string>
  /** Keys that must not be kept. */
  without?: string[]
  error?: string
}

/**
 * Declares one test for each case: the request goes through `decodeHit`, as it would from the collector. And one for all:
 * on a host of the site itself the browser script captures those that are recognised there, and no others. A vendor that
 * is recognised on any host needs a case of it.
 */
export function testDecoder({ vendor, routes }: Decoder, cases: DecoderCase[]): void {
  test(`${vendor}: the browser script captures on any host what is recognised there`, () => {
    const seen = cases.map((one) => ({ name: one.name, ...onOwnHost(one.url, one.body) }))
    // A request without an event, such as one for settings, need not be captured.
    expect(seen.filter(({ carries, isCaptured }) => carries && !isCaptured)).toEqual([])
    expect(seen.filter((one) => one.vendor === null && one.isCaptured)).toEqual([])
    const isAnywhere = routes.some(({ anyHost }) => anyHost)
    expect(seen.some((one) => one.vendor === vendor && one.carries)).toBe(isAnywhere)
  })

  test.each(cases.map((c) => [c.name, c] as const))(`${vendor}: %s`, (_name, expected) => {
    const { url, body = null } = expected
    const decoded = decodeHit({ url, method: body === null ? 'GET' : 'POST', body })
    if (expected.events === null) {
      expect(decoded.vendor).not.toBe(vendor)
      return
    }
    expect(decoded).toMatchObject({ vendor, account: expected.account ?? null, error: expected.error ?? null })
    expect(decoded.events.map(({ event }) => event)).toEqual(expected.events)
    expect(decoded.kind).toBe(expected.events.length === 0 ? null : (expected.kind ?? 'event'))
    const [first] = decoded.events
    expect(first?.params ?? {}).toMatchObject(expected.params ?? {})
    expect(Object.keys(first?.params ?? {}).filter((key) => expected.without?.includes(key))).toEqual([])
  })
}

/** Paths that a pattern of a route is for; a few don't fit, where it also looks at what is around. */
export function pathsFor({ source }: RegExp): fc.Arbitrary<string> {
  const plain = source.replaceAll('\\b', '').replace(/\(\?<?[=!][^()]*\)/g, '')
  return fc.stringMatching(new RegExp(plain)).map((path) => (path.startsWith('/') ? path : `/${path}`))
}
