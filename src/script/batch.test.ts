import { describe, expect, test } from 'bun:test'
import { batchesOf, type Item, isReady, MAX_LENGTH, OUTCOME_TIMEOUT_MS } from './batch.ts'
import { frameOf, hitOf } from './collector.fixture.ts'

const contents = (items: readonly Item[]) =>
  batchesOf(items, MAX_LENGTH).map(({ content }) => JSON.parse(JSON.stringify(content)))

test('an item contains only the known fields of its call', () => {
  const known = hitOf({ method: 'POST', type: 'fetch', content: 'en=purchase', outcome: 204, bytes: 90 }, 'a.1')
  const unknown = hitOf({ outcome: undefined, durMs: undefined }, 'a.2')
  const shared = { ts: 1_767_614_400_000, url: 'https://vendor.example/p' }
  expect(contents([known])[0].hits).toEqual([
    { ...shared, id: 'a.1', method: 'POST', type: 'fetch', body: 'en=purchase', status: 204, durMs: 12, bytes: 90 },
  ])
  expect(contents([unknown])[0].hits).toEqual([{ ...shared, id: 'a.2', method: 'GET', type: 'img' }])
})

test('items of all kinds are combined into one batch with their common values', () => {
  const frame = frameOf('/cart', { declared: { env: 'dev', version: 12, customerId: 'c-7' }, sampleRate: 0.5 })
  const [content, ...others] = contents([
    { list: 'events', frame, content: { id: '1', ts: 1, vendor: 'Tagwarden', event: 'snippet_ran' } },
    { list: 'tags', frame, content: { id: '2', ts: 2, container: 'GTM-1', tagId: '7' } },
    hitOf({ frame }, '3'),
    { list: 'pageStats', frame, content: { ts: 4, loaf: true, vendors: [] } },
  ])
  expect(others).toEqual([])
  expect(content).toMatchObject({
    env: 'dev',
    version: 12,
    customerId: 'c-7',
    sampleRate: 0.5,
    language: 'en',
    page: { url: 'https://shop.example/cart', title: 'Shop' },
    events: [{ id: '1' }],
    tags: [{ id: '2' }],
    hits: [{ id: '3' }],
    pageStats: { ts: 4 },
  })
})

describe('a new batch starts', () => {
  test('when the page, the session or the declared values have changed', () => {
    const [a, b] = [frameOf('/a'), frameOf('/b')]
    const items = [hitOf({ frame: a }), hitOf({ frame: a }), hitOf({ frame: b }), hitOf({ frame: a })]
    expect(contents(items).map(({ page, hits }) => [new URL(page.url).pathname, hits.length])).toEqual([
      ['/a', 2],
      ['/b', 1],
      ['/a', 1],
    ])
  })

  test('when more than 30 kB would be sent', () => {
    const frame = frameOf('/')
    const large = Array.from({ length: 5 }, () => hitOf({ frame, content: 'x'.repeat(MAX_LENGTH / 2 - 400) }))
    expect(contents(large).map(({ hits }) => hits.length)).toEqual([2, 2, 1])
    expect(new Set(batchesOf(large, MAX_LENGTH).map(({ batchId }) => batchId)).size).toBe(3)
  })
})

test('oversized values are truncated, so that the collector does not reject the whole batch', () => {
  const page = { url: 'https://shop.example/', referrer: '', title: 't'.repeat(5000) }
  const [content] = contents([
    hitOf({ frame: frameOf('/', { page }), url: `https://vendor.example/${'x'.repeat(20_000)}` }),
  ])
  expect(content.page.title).toHaveLength(4000)
  expect(content.hits[0].url).toHaveLength(16 * 1024 + 1)
})

test.each<[string, boolean, Item]>([
  ['that has ended', true, hitOf({ isTimed: false })],
  ['from resource timing', true, hitOf({ outcome: undefined })],
  ['whose response has not been examined yet', false, hitOf({ outcome: undefined, look() {} })],
  ['whose body is being read', false, hitOf({ isReading: true })],
  ['in progress', false, hitOf({ outcome: undefined, isTimed: false })],
])('a call %s is ready to send: %p; every call is ready after ten seconds', (_what, ready, item) => {
  expect(isReady(item, 100)).toBe(ready)
  expect(isReady(item, OUTCOME_TIMEOUT_MS + 1)).toBe(true)
})
