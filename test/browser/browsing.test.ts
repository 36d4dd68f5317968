import { expect, test } from 'bun:test'
import { browse } from './browsing.ts'

test('a page is loaded through the guard', async () => {
  using site = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('<title>Shop</title>', { headers: { 'content-type': 'text/html' } }),
  })
  const asked: string[] = []
  await using browsing = await browse({}, { onAsked: (place) => asked.push(place) })
  await browsing.page.goto(`http://127.0.0.1:${site.port}/`)
  expect(await browsing.page.title()).toBe('Shop')
  expect(new Set(asked)).toEqual(new Set([`127.0.0.1:${site.port}`]))
})
