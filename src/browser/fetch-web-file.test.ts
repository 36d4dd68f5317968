import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { addressGuard } from '../transport/address-guard.ts'
import { readWebFile, type WebFileOptions } from './fetch-web-file.ts'
import { type GuardProxy, openGuardProxy } from './guard-proxy.ts'

const TEXT = '<urlset>'.repeat(1000)
const ENCODINGS: Record<string, (text: string) => Uint8Array<ArrayBuffer>> = {
  gzip: (text) => new Uint8Array(gzipSync(text)),
  deflate: (text) => new Uint8Array(deflateSync(text)),
  br: (text) => new Uint8Array(brotliCompressSync(text)),
}

const site = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request: Request): Response {
    const { pathname, search } = new URL(request.url)
    if (pathname === '/moved') return Response.redirect(search.slice(1), 302)
    if (pathname === '/loop') return Response.redirect(request.url, 302)
    if (pathname === '/busy') return new Response('later', { status: 503, headers: { 'retry-after': '7' } })
    const encoding = pathname.slice(1)
    const encode = ENCODINGS[encoding]
    return new Response(encode ? encode(TEXT) : `${pathname} for ${request.headers.get('user-agent')}`, {
      headers: encode ? { 'content-encoding': encoding } : {},
    })
  },
})
const base = `http://127.0.0.1:${site.port}`

let proxy: GuardProxy
beforeAll(async () => {
  proxy = await openGuardProxy({ guard: addressGuard(['127.0.0.1'], { plainHttp: true }) })
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await site.stop(true)
})

function read(url: string, options: Partial<WebFileOptions> = {}) {
  const browsing = { proxy: `http://127.0.0.1:${proxy.port}`, faultOf: proxy.faultOf }
  const given = { browsing, ca: '', userAgent: 'Tagwarden test', maxBytes: 1e6, limitMs: 10_000, ...options }
  return readWebFile(url, given, new AbortController().signal)
}
const textOf = async (url: string, options?: Partial<WebFileOptions>) =>
  Buffer.from((await read(url, options)).body).toString()

test('reads a file with its own user agent and returns its final URL', async () => {
  expect(await textOf(`${base}/robots.txt`)).toBe('/robots.txt for Tagwarden test')
  expect(await read(`${base}/moved?${base}/robots.txt`)).toMatchObject({ url: `${base}/robots.txt`, status: 200 })
  expect(await read(`${base}/busy`)).toMatchObject({ status: 503, retryAfter: '7' })
  await expect(read(`${base}/loop`)).rejects.toThrow('more than 5 redirects')
})

test.each(Object.keys(ENCODINGS))('decodes %s and truncates at the limit', async (encoding) => {
  expect(await textOf(`${base}/${encoding}`)).toBe(TEXT)
  expect(await textOf(`${base}/${encoding}`, { maxBytes: 20 })).toBe(TEXT.slice(0, 20))
})

describe('the proxy settings in the environment', () => {
  // Bun reads these variables when a process starts.
  test.each(['NO_PROXY', 'no_proxy'])('do not allow a blocked URL: %s=*', async (name) => {
    const script = `
      import { addressGuard } from '../transport/address-guard.ts'
      import { openGuardProxy } from './guard-proxy.ts'
      import { readWebFile } from './fetch-web-file.ts'
      const proxy = await openGuardProxy({ guard: addressGuard([], { plainHttp: true }) })
      const browsing = { proxy: 'http://127.0.0.1:' + proxy.port, faultOf: proxy.faultOf }
      const options = { browsing, ca: '', userAgent: 'x', maxBytes: 1000, limitMs: 10000 }
      const read = readWebFile('${base}/secret', options, new AbortController().signal)
      console.log(await read.then(() => 'read', (error) => error.message))
      process.exit()`
    const child = Bun.spawn([process.execPath, '-e', script], {
      cwd: import.meta.dir,
      env: { PATH: process.env.PATH, [name]: '*' },
      stdout: 'pipe',
    })
    expect(await new Response(child.stdout).text()).toStartWith('host 127.0.0.1 is ')
  })
})
