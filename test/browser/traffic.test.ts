import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browsing } from '../../src/browser/browsing.ts'
import { harOf } from '../../src/browser/build-har.ts'
import type { SeenEvent } from '../../src/browser/traffic.ts'
import { parseHar } from '../../src/commands/read-har.ts'
import { until } from '../run-program.ts'
import { browse } from './browse.ts'

let browsing: Browsing
/** Vendor requests that reached a server although the browser should have intercepted them. */
const escaped: string[] = []
const SECRET = 'pa ss"w/örd&1'

const html = (body: string) =>
  new Response(`<!doctype html><title>x</title>${body}`, { headers: { 'content-type': 'text/html; charset=utf-8' } })
const js = (body: string) => new Response(body, { headers: { 'content-type': 'text/javascript' } })
const vendor = (name: string) => `http://v.test:${site.port}/g/collect?v=2&tid=G-TEST&en=${name}`
const post = (name: string, body: string, headers = '{}') =>
  `await fetch('${vendor(name)}', { method: 'POST', body: ${body}, headers: ${headers} })`

const PAGES: Record<string, () => Response> = {
  '/': () => html('home'),
  '/ways': () =>
    html(`<img src="${vendor('image')}"><script type=module>
      ${post('text', `'ep.body=text'`)}
      ${post('form', `new URLSearchParams({ 'ep.body': 'form' })`)}
      ${post('blob', `new Blob(['ep.body=blob'])`)}
      ${post('gzip', `await new Response(new Blob(['ep.body=gzip']).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()`)}
      ${post('preflight', `'{}'`, `{ 'content-type': 'application/json', 'x-own': '1' }`)}
      await fetch('${vendor('credentials')}', { credentials: 'include' })
      navigator.sendBeacon('${vendor('beacon')}', 'ep.body=beacon')
      document.title = 'done'
    </script>`),
  '/frames': () => html(`<iframe src="http://other.test:${site.port}/frame"></iframe><iframe src="/frame"></iframe>`),
  '/frame': () => html(`<script>fetch('${vendor('frame')}&ep.of=' + location.hostname)</script>`),
  '/workers': () => html(`<script>new Worker('/worker.js'); new SharedWorker('/shared.js')</script>`),
  '/worker.js': () => js(`fetch('${vendor('worker')}', { method: 'POST', body: 'ep.body=worker' })`),
  '/shared.js': () => js(`fetch('${vendor('shared')}')`),
  '/service': () =>
    html(`<script>navigator.serviceWorker.register('/sw.js'); navigator.serviceWorker.ready.then(() => {
      document.title = 'ready' })</script>`),
  '/sw.js': () =>
    js(`addEventListener('install', () => skipWaiting())
      addEventListener('activate', (event) => event.waitUntil(clients.claim().then(() => fetch('${vendor('service')}'))))
      addEventListener('fetch', (event) => event.respondWith(fetch(event.request)))`),
  '/controlled': () =>
    html(`<script>fetch('${vendor('controlled')}', { method: 'POST', body: 'ep.body=through' })</script>`),
  '/leave': () =>
    html(`<script>addEventListener('pagehide', () => {
      navigator.sendBeacon('${vendor('hide-beacon')}', 'ep.body=text')
      navigator.sendBeacon('${vendor('hide-blob')}', new Blob(['ep.body=blob']))
      fetch('${vendor('hide-fetch')}', { method: 'POST', keepalive: true, body: 'ep.body=keep' })
    })</script>`),
  '/opener': () => html(`<a id=a target=_blank rel=noopener href="/opened">open</a>`),
  '/opened': () => html(`<script>fetch('${vendor('opened')}')</script>`),
  '/behind-home': () =>
    html(`<script>const send = (name) => fetch('${vendor("' + name + '")}', { method: 'POST', mode: 'no-cors', keepalive: true })
      send('behind'); new Image().src = '${vendor('behind-image')}'; fetch('/own-behind')
      setTimeout(() => { history.pushState(null, '', '/behind-home/changed'); send('changed') }, 100)</script>`),
  '/errors': () =>
    html(`<script>console.error('told', 1, { a: 1 }); setTimeout(() => { throw new Error('thrown') });
      Promise.reject(new TypeError('rejected'))</script>`),
  '/redirect': () => new Response(null, { status: 302, headers: { location: '/redirected' } }),
  '/redirected': () => html('here'),
  '/secret': () =>
    html(`<script type=module>
      const secret = ${JSON.stringify(SECRET)}
      ${post('secret-form', `new URLSearchParams({ 'ep.typed': secret, 'ep.password': secret })`)}
      ${post('secret-json', 'JSON.stringify({ secret })')}
      await fetch('${vendor('secret-url')}&ep.secret=' + encodeURIComponent(secret), {
        headers: { 'x-own': btoa('user:' + unescape(encodeURIComponent(secret))) } })
      await fetch('/echo/' + encodeURIComponent(secret))
      history.pushState(null, '', '/at/' + encodeURIComponent(secret))
      await fetch('${vendor('secret-path')}')
      console.error('signed in with', secret)
    </script>`),
}

const site = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const url = new URL(request.url)
    if (url.pathname === '/g/collect') {
      escaped.push(`${request.method} ${url.searchParams.get('en')}`)
      return new Response(null, { status: 204, headers: { 'access-control-allow-origin': '*' } })
    }
    return PAGES[url.pathname]?.() ?? new Response('none', { status: 404 })
  },
})
const at = (path: string, host = '127.0.0.1') => `http://${host}:${site.port}${path}`

beforeAll(async () => {
  browsing = await browse({ secrets: [SECRET] })
})
afterAll(async () => {
  await browsing?.[Symbol.asyncDispose]()
  await site.stop(true)
})

/** Waits until events with all these names have occurred and no request is pending. Returns the events. */
async function events(...names: string[]): Promise<SeenEvent[]> {
  const found = () => browsing.traffic.events.filter(({ event }) => names.includes(event))
  await until(names.join(), () => names.every((name) => found().some(({ event }) => event === name)))
  await browsing.traffic.quiet(300, 5000, new AbortController().signal)
  return found()
}
const brief = ({ event, path, params }: SeenEvent) =>
  [event, path, params['ep.body'] ?? params['ep.of'] ?? ''].join(' ')

test('requests of every browser API are answered by the browser and recorded once with their bodies', async () => {
  await browsing.page.goto(at('/ways'))
  await until('the page', async () => (await browsing.page.title().catch(() => null)) === 'done')
  const seen = await events('image', 'text', 'form', 'blob', 'gzip', 'preflight', 'credentials', 'beacon')
  expect(seen.map(brief).toSorted()).toEqual([
    'beacon /ways beacon',
    'blob /ways blob',
    'credentials /ways ',
    'form /ways form',
    'gzip /ways gzip',
    'image /ways ',
    'preflight /ways ',
    'text /ways text',
  ])
  expect(seen.every(({ answered, status, host }) => answered && status !== null && host === '127.0.0.1')).toBe(true)
  expect(escaped).toEqual([])
})

test('requests of same-process and cross-process frames are assigned to the page of their tab', async () => {
  await browsing.page.goto(at('/frames'))
  await until('both frame events', () => browsing.traffic.events.filter(({ event }) => event === 'frame').length >= 2)
  const seen = await events('frame')
  expect(seen.map(brief).toSorted()).toEqual(['frame /frames 127.0.0.1', 'frame /frames other.test'])
})

test('worker requests are recorded once', async () => {
  await browsing.page.goto(at('/workers'))
  const seen = await events('worker', 'shared')
  expect(seen.map(brief).toSorted()).toEqual(['shared /workers ', 'worker /workers worker'])
})

test('beacons sent while leaving a page are assigned to that page, with their bodies', async () => {
  await browsing.page.goto(at('/leave'))
  await browsing.page.goto(at('/', 'next.test'))
  const seen = (await events('hide-beacon', 'hide-blob', 'hide-fetch')).map(brief).toSorted()
  // Chromium always sends the blob, but exposes its bytes only while the page's process is alive.
  expect(['hide-blob /leave blob', 'hide-blob /leave ']).toContain(seen[1] ?? '')
  expect(seen.toSpliced(1, 1)).toEqual(['hide-beacon /leave text', 'hide-fetch /leave keep'])
})

test('cross-origin requests are assigned to their page although the referrer contains only the origin', async () => {
  await browsing.page.goto(at('/'))
  await browsing.page.goto(at('/behind-home'))
  const seen = await events('behind', 'behind-image', 'changed')
  expect(seen.map(brief).toSorted()).toEqual([
    'behind /behind-home ',
    'behind-image /behind-home ',
    'changed /behind-home/changed ',
  ])
  const own = browsing.traffic.requests.find(({ url }) => url.endsWith('/own-behind'))
  expect(own?.path).toBe('/behind-home')
})

test('a new tab is recorded from its first request', async () => {
  await browsing.page.goto(at('/opener'))
  await browsing.page.click('#a')
  expect((await events('opened')).map(brief)).toEqual(['opened /opened '])
  const first = browsing.traffic.requests.find(({ url }) => url === at('/opened'))
  expect(first).toMatchObject({ resourceType: 'document', status: 200, path: '/opened' })
  expect(browsing.traffic.underWay).toBe(0)
})

test('a redirect is recorded as a separate request', async () => {
  await browsing.page.goto(at('/redirect'))
  const seen = browsing.traffic.requests.filter(({ url }) => /\/redirect/.test(url))
  expect(seen.map(({ url, status }) => [new URL(url).pathname, status])).toEqual([
    ['/redirect', 302],
    ['/redirected', 200],
  ])
})

test('failed requests are recorded with an error', async () => {
  await browsing.page.goto(at('/', 'nowhere.example')).catch(() => undefined)
  const seen = browsing.traffic.requests.find(({ url }) => url.includes('nowhere.example'))
  expect(seen).toMatchObject({ status: null, error: expect.stringContaining('nowhere.example') })
})

test('each page error is recorded once', async () => {
  await browsing.page.goto(at('/errors'))
  await browsing.page.goto(at('/errors'))
  await until('errors', () => browsing.traffic.errors.length >= 3)
  const { errors } = browsing.traffic
  for (const text of ['told 1', 'thrown', 'rejected'])
    expect(errors.filter((error) => error.includes(text))).toHaveLength(1)
})

test('requests from and through a service worker are recorded once', async () => {
  await browsing.page.goto(at('/service'))
  // The page of the previous test may still be closing.
  await until('the worker', async () => (await browsing.page.title().catch(() => null)) === 'ready')
  await events('service')
  await browsing.page.goto(at('/controlled'))
  const seen = await events('service', 'controlled')
  expect(seen.map(brief)).toEqual(['service /service ', 'controlled /controlled through'])
  expect(escaped).toEqual([])
})

test('recorded data contains no secrets', async () => {
  await browsing.page.goto(at('/secret'))
  const seen = await events('secret-form', 'secret-json', 'secret-url', 'secret-path')
  expect(seen.map(({ params }) => params['ep.typed'] ?? '')).toEqual(['***', '', '', ''])
  // Parameters with the name of a credential are dropped.
  expect(seen.filter(({ params }) => 'ep.password' in params || 'ep.secret' in params)).toEqual([])
  const { requests, errors } = browsing.traffic
  const recorded = JSON.stringify({ seen, requests, errors, har: harOf(requests) })
  for (const spelled of [SECRET, encodeURIComponent(SECRET), JSON.stringify(SECRET).slice(1, -1), 'w/%C3%B6rd', 'wörd'])
    expect(recorded).not.toContain(spelled)
  expect(recorded).toContain('signed in with ***')
})

test('the exported HAR can be imported and contains every request and body', () => {
  const { requests } = browsing.traffic
  const har = JSON.stringify(harOf(requests))
  const hits = parseHar(har, 'requests.har')
  const urls = requests.map(({ url }) => url)
  expect(urls.length).toBeGreaterThan(30)
  expect(hits.map(({ url }) => url)).toEqual(urls)
  expect(hits.find(({ url }) => url.includes('en=blob'))).toMatchObject({ method: 'POST', body: 'ep.body=blob' })
})
