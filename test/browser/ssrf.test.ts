import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createSocket, type Socket } from 'node:dgram'
import type { Browsing } from '../../src/browser/browsing.ts'
import { until } from '../run-program.ts'
import { browse } from './browse.ts'

const html = (body: string, headers: Record<string, string> = {}) =>
  new Response(`<!doctype html><link rel="icon" href="data:,"><title>Shop</title>${body}`, {
    headers: { 'content-type': 'text/html', ...headers },
  })

describe("private addresses can't be reached by", () => {
  /** Requests received at this machine's other IP address, which the browser must not reach. */
  const reached: string[] = []
  const connections: string[] = []
  const inner = Bun.serve({
    hostname: '127.0.0.2',
    port: 0,
    fetch(request, server) {
      reached.push(request.url)
      return server.upgrade(request) ? undefined : html('inner')
    },
    websocket: { message: () => undefined },
  })
  const site = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      const to = searchParams.get('to') ?? ''
      if (pathname === '/redirect') return Response.redirect(to, 302)
      const script = scripts[pathname]
      if (script) return new Response(script(to), { headers: { 'content-type': 'text/javascript' } })
      if (pathname === '/redirect.css')
        return new Response(`@import "${to}";`, { headers: { 'content-type': 'text/css' } })
      return html('', { connection: 'close' })
    },
  })
  const scripts: Record<string, (to: string) => string> = {
    '/worker.js': (to) => `fetch('${to}', { mode: 'no-cors' }).catch(() => 0)`,
    '/importing-worker.js': (to) => `importScripts('${to}')`,
    '/module-worker.js': (to) => `import '${to}'`,
    '/service-worker.js': (to) =>
      `addEventListener('install', (event) => event.waitUntil(fetch('${to}', { mode: 'no-cors' }).catch(() => 0)))`,
  }
  /** IP addresses to which `rebinding.test` resolves, one per lookup. The last address is repeated. */
  let rebindings: string[] = []
  const addresses: Record<string, () => string> = {
    'inner.test': () => '127.0.0.2',
    'metadata.test': () => '169.254.169.254',
    'rebinding.test': () => (rebindings.length > 1 ? rebindings.shift() : rebindings[0]) ?? '127.0.0.2',
    'lan.test': () => '192.168.1.1',
    'mapped.test': () => '::ffff:127.0.0.2',
  }
  let browsing: Browsing

  beforeAll(async () => {
    browsing = await browse(
      {},
      {
        onAsked: (place) => connections.push(place),
        resolve: async (host) => {
          const address = addresses[host]?.()
          if (address === undefined) throw new Error('unknown host')
          return [address]
        },
      },
    )
  })
  afterAll(async () => {
    await browsing[Symbol.asyncDispose]()
    await Promise.all([inner.stop(true), site.stop(true)])
  })

  const home = `http://127.0.0.1:${site.port}/`
  const fresh = async () => {
    connections.length = 0
    await browsing.page.goto('about:blank')
    await browsing.page.goto(home)
    // Puppeteer may mistake an error page that appears late for the requested page.
    await browsing.page.waitForFunction(`location.href === '${home}' && document.readyState === 'complete'`)
  }
  const untilConnection = (place: string) => until(`a connection to ${place}`, () => connections.includes(place))

  test.each([
    ['an IP address', '127.0.0.2', /host 127\.0\.0\.2 is a loopback address/],
    ['a name', 'inner.test', /host inner\.test resolves to a loopback address/],
    ['a name with an IPv4-mapped IPv6 address', 'mapped.test', /host mapped\.test resolves to a loopback address/],
    ['localhost', 'localhost', /host localhost belongs to this machine or its cloud/],
    ['a link-local address', '[fe80::1]', /is a link-local address/],
    ['IPv6 loopback', '[::1]', /is a loopback address/],
    ['an IP address as a number', '2130706434', /host 127\.0\.0\.2 is a loopback address/],
    ['a cloud metadata address', '169.254.169.254', /is a cloud metadata address/],
    ['a name with a metadata address', 'metadata.test', /resolves to a cloud metadata address/],
    ['the metadata host name', 'metadata.google.internal', /belongs to this machine or its cloud/],
    ['a name with a private address', 'lan.test', /resolves to a private address/],
    ['an unknown name', 'unknown.test', /host unknown\.test does not resolve/],
  ])('a navigation to %s, which fails with a reason', async (_, host, why) => {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:${inner.port}/${scheme}`
      await expect(browsing.page.goto(url)).rejects.toThrow(/net::ERR_/)
    }
    expect(reached).toEqual([])
    expect(faultAt(host)).toMatch(why)
  })
  const faultAt = (host: string) => browsing.faultOf(new URL(`http://${host}:${inner.port}/`).href) ?? ''

  const inPage = (code: string) => (to: string) =>
    browsing.page.evaluate(`{ const to = ${JSON.stringify(to)}; ${code} }`)
  const element = (markup: string) =>
    inPage(`document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(markup)}.replaceAll('TO', to))`)
  const VECTORS: Record<string, (to: string) => Promise<unknown>> = {
    'a link that is clicked': inPage(
      `const a = document.createElement('a'); a.href = to; document.body.append(a); a.click()`,
    ),
    'a redirect': (to) => browsing.page.goto(`${home}redirect?to=${to}`).catch(() => null),
    'a frame': element('<iframe src="TO"></iframe>'),
    'a frame that is redirected': element(`<iframe src="${home}redirect?to=TO"></iframe>`),
    'an embedded object': element('<object data="TO"></object>'),
    'an image': element('<img src="TO">'),
    'a CSS background image': element('<div style="background: url(TO)">x</div>'),
    'a style sheet': element('<link rel="stylesheet" href="TO">'),
    'an imported style sheet': element(`<link rel="stylesheet" href="${home}redirect.css?to=TO">`),
    'a video': element('<video src="TO" preload="auto"></video>'),
    'a font': inPage(`new FontFace('x', 'url(' + to + ')').load().catch(() => 0)`),
    'a prefetch': element('<link rel="prefetch" href="TO">'),
    'a script': inPage(`const s = document.createElement('script'); s.src = to; document.body.append(s)`),
    'a module': inPage(`import(to).catch(() => 0)`),
    fetch: inPage(`fetch(to, { mode: 'no-cors' }).catch(() => 0)`),
    'a fetch that is redirected': inPage(`fetch('/redirect?to=' + to, { mode: 'no-cors' }).catch(() => 0)`),
    XMLHttpRequest: inPage(`const x = new XMLHttpRequest(); x.open('POST', to); x.send('a')`),
    'a beacon': inPage(`navigator.sendBeacon(to, 'a')`),
    'an event stream': inPage(`new EventSource(to)`),
    'a WebSocket': inPage(`new WebSocket(to.replace('http', 'ws'))`),
    'a form': element('<form action="TO" method="post"></form><script></script>'),
    'a new tab': inPage(`open(to)`),
    'a worker': inPage(`new Worker('/worker.js?to=' + to)`),
    'a script imported by a worker': inPage(`new Worker('/importing-worker.js?to=' + to)`),
    'a module imported by a worker': inPage(`new Worker('/module-worker.js?to=' + to, { type: 'module' })`),
    'a shared worker': inPage(`new SharedWorker('/worker.js?to=' + to)`),
    'a service worker': inPage(`navigator.serviceWorker.register('/service-worker.js?to=' + to).catch(() => 0)`),
  }

  test.each(Object.keys(VECTORS))('%s', async (name) => {
    await fresh()
    const to = `http://inner.test:${inner.port}/${name.replaceAll(' ', '-')}`
    await VECTORS[name]?.(to)
    if (name === 'a form') {
      const ended = browsing.page.waitForNavigation()
      await Promise.allSettled([ended, browsing.page.evaluate('document.forms[0].submit()')])
    }
    await untilConnection(`inner.test:${inner.port}`)
    expect(reached).toEqual([])
  })

  test('speculative loading', async () => {
    await fresh()
    const to = `http://inner.test:${inner.port}/advance`
    await element('<link rel="preconnect" href="TO"><link rel="dns-prefetch" href="TO">')(to)
    await inPage(`const s = document.createElement('script'); s.type = 'speculationrules'
      s.text = JSON.stringify({ prefetch: [{ urls: [to], eagerness: 'immediate' }] }); document.head.append(s)`)(to)
    await element('<img src="TO">')(`http://metadata.test:${inner.port}/after`)
    await untilConnection(`metadata.test:${inner.port}`)
    expect(reached).toEqual([])
  })

  test('DNS rebinding', async () => {
    rebindings = ['127.0.0.1', '127.0.0.2']
    const url = `http://rebinding.test:${inner.port}/`
    const outer = Bun.serve({
      hostname: '127.0.0.1',
      port: inner.port ?? 0,
      fetch: () => html('', { connection: 'close' }),
    })
    await browsing.page.goto(url)
    await outer.stop(true)
    await browsing.page.evaluate(`fetch('/again').catch(() => 0)`)
    await expect(browsing.page.goto(`${url}second`)).rejects.toThrow('net::ERR_')
    expect(faultAt('rebinding.test')).toContain('resolves to a loopback address')
    expect(reached).toEqual([])
  })

  test('a navigation to a port that web servers do not use', async () => {
    await expect(browsing.page.goto('http://127.0.0.1:81/')).rejects.toThrow('net::ERR_')
    expect(browsing.faultOf('http://127.0.0.1:81/x')).toContain('port 81 is not allowed')
  })

  test('UDP', async () => {
    await using udp = await udpPort()
    await fresh()
    await browsing.page.evaluate(`(async () => {
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udp.port}' }] })
      peer.createDataChannel('x')
      const gathered = new Promise((done) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && done() })
      await peer.setLocalDescription()
      await gathered
      const transport = new WebTransport('https://127.0.0.1:${udp.port}/')
      await transport.ready.catch(() => 0)
    })()`)
    expect(udp.packets).toBe(0)
  })
})

async function udpPort() {
  const socket: Socket = createSocket('udp4')
  await new Promise<void>((bound) => socket.bind(0, '127.0.0.1', bound))
  const all = {
    port: socket.address().port,
    packets: 0,
    [Symbol.asyncDispose]: () => new Promise<void>((done) => socket.close(() => done())),
  }
  socket.on('message', () => all.packets++)
  return all
}
