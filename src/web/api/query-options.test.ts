import { expect, test } from 'bun:test'
import { QueryClient, type QueryKey, QueryObserver } from '@tanstack/react-query'
import { servePages } from './page-server.fixture.ts'

type ItemData = { path: { id: string }; query?: { q?: string }; headers?: { 'X-Own'?: string } }
type ListData = { query?: { limit?: number; cursor?: string } }
interface List {
  items: string[]
  nextCursor: string | null
}

async function loadOptions() {
  const { operation } = await import('./request.ts')
  const { infiniteQueryOptionsOf, queryKeyOf, queryOptionsOf } = await import('./query-options.ts')
  const item = operation<ItemData, { name: string }>({ id: 'getAlert', method: 'GET', path: '/v1/alerts/{id}' })
  const list = operation<ListData, List>({ id: 'listAlerts', method: 'GET', path: '/v1/alerts' })
  return {
    itemKey: queryKeyOf<ItemData>(item),
    itemOptions: queryOptionsOf(item),
    listOptions: queryOptionsOf(list),
    pagesOptions: infiniteQueryOptionsOf(list),
  }
}

test('a key consists of the operation and the parts of the request, without headers', async () => {
  using _server = await servePages(() => new Response())
  const { itemKey, itemOptions, listOptions, pagesOptions } = await loadOptions()
  const given = { path: { id: 'a' }, query: { q: 'b' }, headers: { 'X-Own': 'c' } }
  const key: QueryKey = [{ _id: 'getAlert', path: { id: 'a' }, query: { q: 'b' } }]
  expect(itemKey(given)).toEqual(key)
  expect<QueryKey>(itemOptions(given).queryKey).toEqual(key)
  expect<QueryKey>(listOptions().queryKey).toEqual([{ _id: 'listAlerts' }])
  expect<QueryKey>(pagesOptions({ query: { limit: 5 } }).queryKey).toEqual([
    { _id: 'listAlerts', query: { limit: 5 }, _infinite: true },
  ])
  // @ts-expect-error: the API has no such operation.
  const unknown: QueryKey = [{ _id: 'getAlerts' }]
  expect(unknown).not.toEqual(key)
})

test('a query requests the operation with all its parts', async () => {
  using server = await servePages(() => Response.json({ name: 'A' }))
  const { itemOptions } = await loadOptions()
  const options = itemOptions({ path: { id: 'a/b' }, query: { q: 'c' }, headers: { 'X-Own': 'd' } })
  const { name } = await new QueryClient().fetchQuery(options)
  expect(name).toBe('A')
  expect(server.received.map(({ url }) => url)).toEqual(['/v1/alerts/a%2Fb?q=c'])
  expect(server.received[0]?.headers.get('x-own')).toBe('d')
})

test('a query that is no longer used aborts its request', async () => {
  const arrived = Promise.withResolvers<void>()
  const dropped = Promise.withResolvers<void>()
  using _server = await servePages((request) => {
    request.signal.addEventListener('abort', () => dropped.resolve())
    arrived.resolve()
    return new Promise(() => {})
  })
  const { itemOptions } = await loadOptions()
  const stop = new QueryObserver(new QueryClient(), itemOptions({ path: { id: 'a' } })).subscribe(() => {})
  await arrived.promise
  stop()
  await dropped.promise
})

test('an infinite query requests the pages by their cursors, with its other parameters, until the last', async () => {
  const pages: Record<string, List> = {
    '': { items: ['1'], nextCursor: 'c/2' },
    'c/2': { items: ['2'], nextCursor: '3' },
    '3': { items: ['3'], nextCursor: null },
  }
  using server = await servePages((_, { url }) =>
    Response.json(pages[new URL(url, 'http://shop.example').searchParams.get('cursor') ?? '']),
  )
  const { pagesOptions } = await loadOptions()
  const options = { ...pagesOptions({ query: { limit: 1 } }), pages: 9 }
  const data = await new QueryClient().fetchInfiniteQuery(options)
  expect(data.pages.flatMap(({ items }) => items)).toEqual(['1', '2', '3'])
  expect(server.received.map(({ url }) => url)).toEqual([
    '/v1/alerts?limit=1',
    '/v1/alerts?limit=1&cursor=c%2F2',
    '/v1/alerts?limit=1&cursor=3',
  ])
})
