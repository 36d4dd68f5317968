import { afterAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { webBundle } from '../../src/build/web-bundle.ts'
import { type WebBundle, webPages } from '../../src/http/web-pages.ts'

let asked = 0
const pages = webPages({ bundle: webBundle, describe: () => ({ asked: ++asked, much: 'the same '.repeat(100) }) })
const NOT_OURS = new Response('not ours', { status: 418 })
const answer = async (request: Request) => (await pages.answer(request)) ?? NOT_OURS.clone()
const get = (path: string, headers = {}, method = 'GET') =>
  answer(new Request(`http://localhost${path}`, { method, headers }))

/** Returns the assets referenced by a page whose names begin with `name`. */
async function assetOf(page: string, name: string): Promise<string> {
  const html = await (await get(page)).text()
  const found = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  return found.find((path) => path.startsWith('/assets/') && new RegExp(name).test(path)) ?? `no ${name} in ${page}`
}

test('the OpenAPI document is generated once', async () => {
  for (let round = 0; round < 2; round++) expect(await (await get('/openapi.json')).json()).toMatchObject({ asked: 1 })
})

const JAVASCRIPT = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
const HTML = 'text/html; charset=utf-8'

describe.each<[string, () => Promise<string>, string, RegExp]>([
  ['/openapi.json', async () => '/openapi.json', 'application/json', /^\{/],
  ['/docs', async () => '/docs', HTML, /<rapi-doc /],
  ['/docs/index', async () => '/docs/index', HTML, /<title>Documentation – Tagwarden</],
  ['/docs/use/alerts', async () => '/docs/use/alerts', HTML, /<title>Alerts – Tagwarden</],
  ['the style of /docs/index', () => assetOf('/docs/index', String.raw`\.css$`), CSS, /\.skip/],
  ['/', async () => '/', HTML, /<title>Tagwarden</],
  ['/issues/iss_1', async () => '/issues/iss_1', HTML, /<title>Tagwarden</],
  ['/settings/audit-log', async () => '/settings/audit-log', HTML, /<title>Tagwarden</],
  ['the script of /docs', () => assetOf('/docs', String.raw`\.js$`), JAVASCRIPT, /RapiDoc 9/],
  ['the style of /docs', () => assetOf('/docs', String.raw`\.css$`), CSS, /rapi-doc/],
  ['the script of /', () => assetOf('/', String.raw`index-.*\.js$`), JAVASCRIPT, /the document has no root/],
  ['the style of /', () => assetOf('/', String.raw`\.css$`), CSS, /--tw-canvas/],
])('GET %s', (what, pathOf, type, content) => {
  test('is cached by browsers: permanently with a hash in its name, otherwise until it changes', async () => {
    const path = await pathOf()
    const response = await get(path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(type)
    const isAsset = path.startsWith('/assets/')
    expect(isAsset).toBe(what.startsWith('the '))
    if (isAsset) expect(path).toMatch(/-[\da-z]{8}\.(?:js|css)$/)
    const kept = isAsset ? 'public, max-age=31536000, immutable' : 'no-cache'
    expect(response.headers.get('cache-control')).toBe(kept)
    expect(await response.text()).toMatch(content)
    const etag = response.headers.get('etag') ?? ''
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get(path, { 'if-none-match': known })
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, ''])
      expect(again.headers.get('cache-control')).toBe(kept)
    }
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('uses an encoding that the browser accepts, and each encoding has its own etag', async () => {
    const path = await pathOf()
    const plain = Buffer.from(await (await get(path)).arrayBuffer())
    const tags = new Set<string | null>()
    for (const [accepted, encoding, unpack] of [
      ['identity', null, (bytes: Buffer) => bytes],
      ['gzip', 'gzip', gunzipSync],
      ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ] as const) {
      const response = await get(path, { 'accept-encoding': accepted })
      expect(response.headers.get('content-encoding')).toBe(encoding)
      expect(response.headers.get('vary')).toBe('accept-encoding')
      expect(Buffer.compare(unpack(Buffer.from(await response.arrayBuffer())), plain)).toBe(0)
      tags.add(response.headers.get('etag'))
    }
    expect(tags.size).toBe(3)
  })

  test('cannot be framed and runs no inline script', async () => {
    const policy = (await get(await pathOf())).headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    const scripts = policy.split('; ').find((part) => part.startsWith('script-src')) ?? ''
    expect(scripts).not.toMatch(/unsafe|https?:|\*/)
  })
})

test('the dashboard is small, has no inline script, and sets its colours before it is drawn', async () => {
  const html = await (await get('/')).text()
  expect(html.length).toBeLessThan(10_000)
  expect(html).not.toMatch(/<style|style=|<script(?![^>]*src=)/)
  const [first, module] = [...html.matchAll(/<script [^>]*src="([^"]+)"/g)].map(([, path = '']) => path)
  expect(html).not.toMatch(/<script[^>]*first-[^>]*(?:type|defer|async)/)
  expect(await (await get(first ?? '')).text()).toContain('mantineColorScheme')
  expect(module).toMatch(/index-[\da-z]{8}\.js$/)
})

test.each([
  ['/', 'OverviewPage'],
  ['/issues/iss_1', 'IssuePage'],
  ['/explore/dictionary', 'DictionaryPage'],
  ['/settings/keys', 'ApiKeysPage'],
  ['/invite', 'InvitePage'],
])('%s preloads the scripts of its section next to the shared script', async (path, component) => {
  const link = (await get(path)).headers.get('link') ?? ''
  expect(link).not.toContain('/index.html')
  const scripts = [...link.matchAll(/<([^>]+)>; rel=modulepreload; fetchpriority=low/g)].map(
    ([, script = '']) => script,
  )
  const texts = await Promise.all(scripts.map(async (script) => (await get(script)).text()))
  expect(scripts).not.toContain(await assetOf('/', String.raw`index-.*\.js$`))
  expect(texts.filter((text) => text.includes(component))).toHaveLength(1)
})

test('the documentation preloads no scripts', async () => {
  expect((await get('/docs')).headers.get('link')).toBeNull()
})

test('the dashboard embeds its icon, so that browsers do not request a missing one', async () => {
  const html = await (await get('/')).text()
  expect(html).toContain('<link rel="icon" href="data:image/svg+xml,')
})

test('an unknown URL returns 404 and the dashboard to a browser', async () => {
  const ask = (headers: Record<string, string>, method = 'GET') =>
    pages.missing(new Request('http://localhost/nowhere', { method, headers }))
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
  const missing = await ask({ accept })
  expect(missing?.status).toBe(404)
  expect(await missing?.text()).toBe(await (await get('/')).text())
  const etag = missing?.headers.get('etag') ?? ''
  expect((await ask({ accept, 'if-none-match': etag }))?.status).toBe(404)
  expect((await ask({ accept, 'accept-encoding': 'gzip' }))?.headers.get('content-encoding')).toBe('gzip')
  for (const other of ['', '*/*', 'application/json']) expect(await ask({ accept: other })).toBeNull()
  expect(await ask({ accept }, 'POST')).toBeNull()
})

test('only a demo has an inbox, and pages detect that without an error in the browser', async () => {
  expect((await get('/demo/inbox')).status).toBe(204)
})

test.each([
  ['/assets/', 'GET', 404],
  ['/assets/index.js', 'GET', 404],
  ['/assets/index.html', 'GET', 404],
  ['/assets/constructor', 'GET', 404],
  ['/assets/__proto__', 'HEAD', 404],
  ['/assets/..%2findex.html', 'GET', 404],
  ['/assets/%2e%2e/%2e%2e/package.json', 'GET', 418],
  ['/index.js', 'GET', 418],
  ['/index.html', 'GET', 418],
  ['/issues/', 'GET', 418],
  ['/issues/a/b', 'GET', 418],
  ['/settings/nothing', 'GET', 418],
  ['/domains/a/b', 'GET', 418],
  ['/', 'POST', 418],
])('%s requested with %s is not a file', async (path, method, status) => {
  expect((await get(path, {}, method)).status).toBe(status)
})

describe('a response over a network connection', () => {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
  afterAll(() => server.stop(true))

  test.each(['identity', 'br'])('has the same headers for HEAD as for GET, with %s', async (accepted) => {
    const ask = (path: string, method: string) =>
      fetch(new URL(path, server.url), { method, headers: { 'accept-encoding': accepted }, decompress: false })
    for (const path of ['/', '/openapi.json', await assetOf('/', String.raw`\.js$`)]) {
      const [full, head] = [await ask(path, 'GET'), await ask(path, 'HEAD')]
      const headers = ({ headers }: Response) => Object.fromEntries([...headers].filter(([name]) => name !== 'date'))
      expect(headers(head)).toEqual(headers(full))
      expect(Number(head.headers.get('content-length'))).toBe((await full.arrayBuffer()).byteLength)
      expect(await head.text()).toBe('')
    }
  })
})

test('the pages are built once', async () => {
  const bundle: WebBundle = await webBundle()
  expect(await webBundle()).toBe(bundle)
})

test('an unknown document returns 404: the dashboard for browsers, JSON for API clients', async () => {
  const page = await get('/docs/use/nothing', { accept: 'text/html' })
  expect([page.status, page.headers.get('content-type')]).toEqual([404, HTML])
  expect(await page.text()).toContain('<title>Tagwarden<')
  const other = await get('/docs/use/nothing')
  expect([other.status, await other.json()]).toEqual([404, { error: 'no such file' }])
})
