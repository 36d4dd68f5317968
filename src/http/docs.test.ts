import { describe, expect, test } from 'bun:test'
import { docsPages } from './docs.ts'
import { homePage } from './home.ts'

let asked = 0
const pages = docsPages(() => ({ asked: ++asked })).use(homePage())
const get = (path: string, headers = {}) => pages.handle(new Request(`http://localhost${path}`, { headers }))

test('the description is asked for once', async () => {
  for (let round = 0; round < 2; round++) expect(await (await get('/openapi.json')).json()).toEqual({ asked: 1 })
})

describe.each<[string, string, RegExp]>([
  ['/openapi.json', 'application/json', /^\{/],
  ['/docs', 'text/html; charset=utf-8', /<rapi-doc /],
  ['/docs/page.js', 'text/javascript; charset=utf-8', /import '\/docs\/rapidoc.js'/],
  ['/docs/rapidoc.js', 'text/javascript; charset=utf-8', /RapiDoc 9/],
  ['/', 'text/html; charset=utf-8', /<title>Tagwarden</],
  ['/issues/iss_1', 'text/html; charset=utf-8', /<title>Tagwarden</],
  ['/home.js', 'text/javascript; charset=utf-8', /sign-in\.js/],
  ['/issue.js', 'text/javascript; charset=utf-8', /\/v1\/issues\//],
  ['/sign-in.js', 'text/javascript; charset=utf-8', /export async function ask/],
  ['/elements.js', 'text/javascript; charset=utf-8', /export function onSubmit/],
])('GET %s', (path, type, content) => {
  test('is kept by browsers until it changes', async () => {
    const response = await get(path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(type)
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(await response.text()).toMatch(content)
    const etag = response.headers.get('etag') ?? ''
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get(path, { 'if-none-match': known })
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, ''])
    }
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('belongs into no frame and lets no script in', async () => {
    const policy = (await get(path)).headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    const scripts = policy.split('; ').find((part) => part.startsWith('script-src')) ?? ''
    expect(scripts).not.toMatch(/unsafe|https?:|\*/)
  })
})
