import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Decoded, decodeHit } from './index.ts'
import { readBody } from './request-body.ts'

/**
 * Requests that current public SDKs sent from a checkout page that reports a purchase. They were recorded by
 * `test/record-sdk.ts`.
 */
const RECORDINGS = join(import.meta.dir, '../../test/recordings')

/** The vendor of all requests in each recording, and the events in order. */
const expected: Record<string, { vendor: string; accounts: (string | null)[]; events: string[] }> = {
  'ab-tasty': {
    vendor: 'AB Tasty',
    accounts: ['abcdefghijklmnopqrst'],
    events: ['fs_consent', 'PAGEVIEW', 'add_to_cart', 'TRANSACTION'],
  },
  convert: { vendor: 'Convert', accounts: ['1001-2002'], events: ['conversion', 'conversion'] },
  'datadog-rum': {
    vendor: 'Datadog RUM',
    accounts: ['11111111-2222-3333-4444-555555555555'],
    events: ['checkout', 'error', 'resource', 'resource', 'view'],
  },
  iterable: { vendor: 'Iterable', accounts: [null], events: ['update', 'Checkout', 'trackPurchase', 'update'] },
  kameleoon: {
    vendor: 'Kameleoon',
    accounts: ['abc123def4'],
    events: ['staticData', 'staticData', 'staticData', 'page', 'customData', 'conversion', 'staticData'],
  },
  'new-relic-browser': {
    vendor: 'New Relic Browser',
    accounts: ['1134567'],
    events: ['PageView', 'JavaScriptError', 'purchase'],
  },
  openpanel: { vendor: 'OpenPanel', accounts: [null], events: ['identify', 'purchase', 'screen_view'] },
  posthog: {
    vendor: 'PostHog',
    accounts: ['phc_shop0123456789'],
    events: ['$pageview', '$identify', 'purchase', '$pageleave'],
  },
  rudderstack: { vendor: 'RudderStack', accounts: [null], events: ['page', 'identify', 'Order Completed'] },
  segment: { vendor: 'Segment', accounts: ['SEGKEY123'], events: ['page', 'Order Completed', 'identify'] },
}

interface Entry {
  request: { url: string; method: string; postData?: { text: string; encoding?: string } }
}

/** Decodes the requests that the recorded page sent. */
function decodedIn(name: string): Decoded[] {
  const { entries }: { entries: Entry[] } = JSON.parse(readFileSync(join(RECORDINGS, `${name}.har`), 'utf8')).log
  const sent = entries.map(({ request }) => request).filter(({ url }) => !url.startsWith('https://shop.example/'))
  return sent.map(({ url, method, postData }) => {
    const captured = postData?.encoding === 'base64' ? { bodyBase64: postData.text } : { body: postData?.text }
    return decodeHit({ url, method, body: readBody(captured).text })
  })
}

describe('decoding of SDK recordings', () => {
  test.each(Object.entries(expected))('returns the expected events for %s', (name, { vendor, accounts, events }) => {
    const decoded = decodedIn(name)
    const reported = decoded.filter(({ kind }) => kind === 'event').flatMap((one) => one.events)
    expect(new Set(decoded.map((one) => one.vendor))).toEqual(new Set([vendor]))
    expect(decoded.filter(({ error }) => error !== null)).toEqual([])
    expect(reported.map(({ event }) => event)).toEqual(events)
    expect(new Set(reported.map(({ account }) => account))).toEqual(new Set(accounts))
  })
})
