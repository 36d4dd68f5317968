import { expect, test } from 'bun:test'
import { harOf, MAX_BODY_BYTES, MAX_HAR_BYTES } from './build-har.ts'
import type { SeenRequest } from './traffic.ts'

const request = (body: string | null, url = 'https://shop.example/collect'): SeenRequest => ({
  number: 1,
  at: 1_767_614_400_000,
  tab: 'tab',
  host: 'shop.example',
  path: '/',
  url,
  method: 'POST',
  resourceType: 'xhr',
  requestHeaders: [],
  body,
  vendor: null,
  answered: false,
  status: 200,
  statusText: '',
  responseHeaders: [],
  mimeType: '',
  bytes: 0,
  waitMs: 1,
  durMs: 1,
  error: null,
})

interface Har {
  log: {
    comment?: string
    entries: { request: { bodySize: number; postData?: { text: string; comment?: string } } }[]
  }
}
const har = (requests: SeenRequest[]) => harOf(requests) as Har

test.each([
  ['the maximum length', 'a'.repeat(MAX_BODY_BYTES), MAX_BODY_BYTES, null],
  [
    'one byte longer',
    'a'.repeat(MAX_BODY_BYTES + 1),
    MAX_BODY_BYTES,
    `Truncated to 256000 of ${MAX_BODY_BYTES + 1} bytes`,
  ],
  [
    'truncated within a character',
    `a${'é'.repeat(MAX_BODY_BYTES)}`,
    MAX_BODY_BYTES - 1,
    'Truncated to 256000 of 512001 bytes',
  ],
])('a body is stored with the expected length and comment: %s', (_, body, bytes, comment) => {
  const [entry] = har([request(body)]).log.entries
  const { text = '', comment: said = null } = entry?.request.postData ?? {}
  expect([Buffer.byteLength(text), said]).toEqual([bytes, comment])
  expect(body.startsWith(text)).toBe(true)
  expect(entry?.request.bodySize).toBe(Buffer.byteLength(body))
})

test('above 20 MB, bodies are omitted first and then requests, with comments', () => {
  const body = 'a'.repeat(MAX_BODY_BYTES)
  const large = har(Array.from({ length: 100 }, () => request(body)))
  expect(JSON.stringify(large).length).toBeLessThan(MAX_HAR_BYTES * 1.01)
  expect(large.log.entries).toHaveLength(100)
  expect(large.log.entries[0]?.request.postData?.text).toBe(body)
  expect(large.log.entries[99]?.request.postData).toMatchObject({
    text: '',
    comment: `${MAX_BODY_BYTES} bytes are omitted, because the HAR is full`,
  })
  const many = har(Array.from({ length: 30 }, () => request(null, `https://shop.example/?${'q'.repeat(500_000)}`)))
  expect(JSON.stringify(many).length).toBeLessThan(MAX_HAR_BYTES * 1.01)
  expect(many.log.comment).toBe(
    `${30 - many.log.entries.length} more requests are omitted, because a HAR has at most 20000000 bytes`,
  )
})
