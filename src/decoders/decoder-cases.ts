import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { onOwnHost } from '../../test/decoders/first-party-requests.ts'
import type { Decoder } from './decoder.ts'
import { decodeHit } from './index.ts'

/** One request and the expected result. */
export interface DecoderCase {
  name: string
  url: string
  /** The request body. If there is one, the method is POST. */
  body?: string
  /**
   * Expected event names in order. Empty if the request contains no events; null if it is not a request to the vendor.
   */
  events: string[] | null
  account?: string
  kind?: 'library'
  /** Parameters that the first event must include. */
  params?: Record<string, string>
  /** Keys that must not be stored. */
  without?: string[]
  error?: string
}

/**
 * Declares one test per case, in which `decodeHit` decodes the request as in the collector. Another test checks the
 * requests to a site's own host: the browser script must capture exactly those that the decoder recognises. A vendor
 * that is recognised on any host requires a case for this.
 */
export function testDecoder({ vendor, routes }: Decoder, cases: DecoderCase[]): void {
  test(`${vendor}: the browser script captures exactly the requests that are recognised on any host`, () => {
    const seen = cases.map((one) => ({ name: one.name, ...onOwnHost(one.url, one.body) }))
    // Requests without an event, for example for settings, need not be captured.
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

/** Generates paths that match the pattern of a route. A few do not match, because the pattern also has lookarounds. */
export function pathsFor({ source }: RegExp): fc.Arbitrary<string> {
  const plain = source.replaceAll('\\b', '').replace(/\(\?<?[=!][^()]*\)/g, '')
  return fc.stringMatching(new RegExp(plain)).map((path) => (path.startsWith('/') ? path : `/${path}`))
}
