import { describe, expect, test } from 'bun:test'
import { decodeHit } from '../decoders/index.ts'
import { answerTo, isAnswered, type OutgoingRequest } from './fake-vendor-response.ts'

const ASKED: OutgoingRequest = { method: 'GET', resourceType: 'xhr', isPage: false, headers: {} }
const COLLECT = 'https://www.google-analytics.com/g/collect?v=2&tid=G-A&en=page_view'
const decode = (url: string, method = 'GET', body: string | null = null) => decodeHit({ url, method, body })

describe('request interception', () => {
  const CASES: [string, boolean, string, Partial<OutgoingRequest>][] = [
    ['an event', true, COLLECT, {}],
    ['an event as an image', true, COLLECT, { resourceType: 'image' }],
    ['an event in an iframe', true, COLLECT, { resourceType: 'document' }],
    ['a navigation to a page', false, COLLECT, { resourceType: 'document', isPage: true }],
    ['the preflight request of an event', true, COLLECT, { method: 'OPTIONS', resourceType: 'preflight' }],
    ['a vendor script', false, 'https://www.googletagmanager.com/gtag/js?id=G-A', { resourceType: 'script' }],
    ['a request to an unknown host', false, 'https://shop.example/api', {}],
  ]
  for (const [name, answered, url, asked] of CASES) {
    test(`${answered ? 'answers' : 'passes through'} ${name}`, () => {
      const full = { ...ASKED, ...asked }
      expect(isAnswered(decode(url, full.method), full)).toBe(answered)
    })
  }

  test('applies to unreadable requests to a vendor', () => {
    const broken = { ...decode(COLLECT), events: [], kind: null, error: 'it is broken' }
    expect(isAnswered(broken, ASKED)).toBe(true)
  })

  test('does not apply to a vendor’s request without an event that fetches something', () => {
    const silent = { ...decode(COLLECT), events: [], kind: null }
    expect(isAnswered(silent, ASKED)).toBe(false)
    expect(isAnswered(silent, { ...ASKED, method: 'POST' })).toBe(true)
    expect(isAnswered(silent, { ...ASKED, resourceType: 'image' })).toBe(true)
  })
})

describe('the response to an intercepted request', () => {
  const CASES: [Partial<OutgoingRequest>, number, string | undefined][] = [
    [{ resourceType: 'image' }, 200, 'image/gif'],
    [{ resourceType: 'script' }, 200, 'text/javascript'],
    [{ resourceType: 'document' }, 200, 'text/html'],
    [{ resourceType: 'ping' }, 204, undefined],
    [{ resourceType: 'xhr' }, 204, undefined],
    [{ resourceType: 'xhr', headers: { Accept: 'application/json' } }, 200, 'application/json'],
    [{ resourceType: 'xhr', method: 'POST', headers: { 'Content-Type': 'application/json' } }, 200, 'application/json'],
    [{ resourceType: 'preflight', method: 'OPTIONS' }, 204, undefined],
  ]
  for (const [asked, status, type] of CASES) {
    test(JSON.stringify(asked), () => {
      const answer = answerTo('Any', { ...ASKED, ...asked })
      expect(answer.status).toBe(status)
      expect(answer.headers.find(({ name }) => name === 'content-type')?.value).toBe(type as string)
      expect(answer.headers).toContainEqual({ name: 'cache-control', value: 'no-store' })
    })
  }

  test('is readable by its origin, with credentials and the requested headers', () => {
    const headers = {
      Origin: 'https://shop.example',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'x-own',
    }
    const sent = answerTo('Any', { ...ASKED, method: 'OPTIONS', headers }).headers
    expect(Object.fromEntries(sent.map(({ name, value }) => [name, value]))).toMatchObject({
      'access-control-allow-origin': 'https://shop.example',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'x-own',
    })
  })

  test('confirms the event to a library that waits for its vendor', () => {
    expect(String(Buffer.from(answerTo('Segment', ASKED).body))).toBe('{"success":true}')
  })
})
