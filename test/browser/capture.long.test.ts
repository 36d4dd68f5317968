import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import type { StoredEvent } from '../../src/core/event.ts'
import { until } from '../run-program.ts'
import { type CaptureSite, captureSite, caseOf, SITE_HOSTS } from './capture-site.ts'
import { startBrowser, type TestBrowser } from './chromium.ts'

let site: CaptureSite
let chromium: TestBrowser
/** Expected number of stored events for each test case. */
const expected = new Map<string, number>()

beforeAll(async () => {
  site = await captureSite()
  const secure = `--unsafely-treat-insecure-origin-as-secure=${site.url('shop.test', '')}`
  chromium = await startBrowser([SITE_HOSTS, secure])
})
afterAll(async () => {
  await chromium[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

const vendor = (name: string, query = '') =>
  site.url('metrics.vendor.test', `/g/collect?v=2&tid=G-TEST&en=ping&ep.case=${name}&${query}`)

/** Adobe Web SDK endpoint on one of the site's own hosts. */
const INTERACT = '/ee/v1/interact?configId=aaaabbbb-1111-2222-3333-444455556666'

/** Waits for the stored events of a test case. The last test checks that no further events were stored. */
async function stored(name: string, count = 1): Promise<StoredEvent[]> {
  expected.set(name, count)
  return site.stored(name, count)
}

/** Opens a page of the shop and waits until the script runs. */
async function open(name: string, html: string, headers?: Record<string, string>): Promise<Page> {
  const page = await chromium.browser.newPage()
  await page.goto(site.page(name, html, headers))
  await running(page)
  return page
}

const running = (page: Page) => page.waitForFunction(`Symbol.for('tagwarden.installed') in window`)
const SHOP = '<!doctype html><html><head>HEAD<title>Shop</title></head><body></body></html>'

describe('every API with every kind of body', () => {
  const SENDERS: Record<string, string> = {
    fetch: `await fetch(url, { method: 'POST', body })`,
    'fetch no-cors': `await fetch(url, { method: 'POST', mode: 'no-cors', body })`,
    'fetch with a Request': `await fetch(new Request(url, { method: 'POST', body }))`,
    XMLHttpRequest: `await new Promise((done) => {
      const xhr = new XMLHttpRequest()
      xhr.onloadend = done
      xhr.open('POST', url)
      xhr.send(body)
    })`,
    sendBeacon: `if (!navigator.sendBeacon(url, body)) throw new Error('not queued')`,
  }
  const BODIES: Record<string, string> = {
    text: `text`,
    URLSearchParams: `new URLSearchParams(text)`,
    FormData: `form(text)`,
    Blob: `new Blob([text], { type: 'text/plain' })`,
    ArrayBuffer: `new TextEncoder().encode(text).buffer`,
    'gzip bytes': `await gzip(text)`,
  }
  const CASES = Object.keys(SENDERS).flatMap((sender) => Object.keys(BODIES).map((body) => `${sender}, ${body}`))

  beforeAll(async () => {
    const page = await open('ways', SHOP)
    await page.evaluate(`(async () => {
      const form = (text) => {
        const data = new FormData()
        for (const [key, value] of new URLSearchParams(text)) data.append(key, value)
        return data
      }
      const gzip = async (text) => {
        const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
        return new Uint8Array(await new Response(packed).arrayBuffer())
      }
      const url = '${site.url('metrics.vendor.test', '/g/collect?v=2&tid=G-TEST')}'
      ${CASES.map((name) => {
        const [sender = '', body = ''] = name.split(', ')
        const text = JSON.stringify(`en=purchase&ep.case=${name}&epn.value=42.5`)
        return `{ const text = ${text}; const body = ${BODIES[body]}; ${SENDERS[sender]} }`
      }).join('\n')}
    })()`)
  })

  test.each(CASES)('%s', async (name) => {
    const [event] = await stored(name)
    expect(event).toMatchObject({
      vendor: 'Google Analytics 4',
      event: 'purchase',
      account: 'G-TEST',
      kind: 'event',
      // The result of a beacon is not visible to the script.
      status: name.startsWith('sendBeacon') ? null : 'ok',
      host: 'shop.test',
      path: '/ways',
      title: 'Shop',
      params: { 'epn.value': '42.5' },
    })
  })
})

describe("requests to the site's own hosts", () => {
  const SENDERS: Record<string, string> = {
    'fetch with text': `fetch(url, { method: 'POST', body: text })`,
    'fetch with bytes': `fetch(url, { method: 'POST', body: new TextEncoder().encode(text) })`,
    'fetch with a blob': `fetch(url, { method: 'POST', body: new Blob([text]) })`,
    'fetch with a Request': `fetch(new Request(url, { method: 'POST', body: text }))`,
    XMLHttpRequest: `const xhr = new XMLHttpRequest(); xhr.open('POST', url); xhr.send(text)`,
    'beacon with a blob': `navigator.sendBeacon(url, new Blob([text]))`,
  }
  /** Sends the same body through each API, to a vendor and to the shop's own backend. */
  const sendAll = (when: string) =>
    Object.entries(SENDERS)
      .map(([way, code]) => {
        const name = `${when}, ${way}`
        const track = {
          type: 'track',
          event: 'ping',
          case: name,
          context: { library: { name: 'RudderLabs JavaScript SDK' } },
        }
        const url = (host: string) => site.url(host, '/v1/track')
        return `
          { const url = '${url('rs.shop.test')}'; const text = '${JSON.stringify(track)}'; ${code} }
          { const url = '${url('api.shop.test')}'; const text = '{"type":"track","event":"secret"}'; ${code} }`
      })
      .join('')

  test('are captured only for vendors, both before and after the script runs', async () => {
    const page = await open('own', SHOP.replace('<title>', `<script>${sendAll('early own')}</script><title>`))
    await page.evaluate(`(() => {${sendAll('own')}})()`)
    for (const when of ['early own', 'own']) {
      for (const way of Object.keys(SENDERS)) {
        expect((await stored(`${when}, ${way}`))[0]).toMatchObject({
          vendor: 'RudderStack',
          event: 'ping',
          kind: 'event',
          path: '/own',
        })
      }
    }
    await page.close()
    expect(JSON.stringify(site.sent)).not.toMatch(/secret|api\.shop\.test/)
  })
})

describe('requests sent before the script is loaded', () => {
  test('are captured with their bodies if the snippet is first in the head', async () => {
    const early = (name: string) => `'${vendor(name)}', 'en=one&ep.case=${name}\\nen=two&ep.case=${name}'`
    const page = await open(
      'early',
      SHOP.replace(
        '<title>',
        `<script>
          const [fetchUrl, fetchBody] = [${early('early fetch')}]
          fetch(fetchUrl, { method: 'POST', body: fetchBody })
          fetch(new Request('${vendor('early request')}', { method: 'POST', body: 'en=one&ep.case=early request' }))
          navigator.sendBeacon(${early('early beacon')})
          const xhr = new XMLHttpRequest()
          const [xhrUrl, xhrBody] = [${early('early xhr')}]
          xhr.open('POST', xhrUrl)
          xhr.send(xhrBody)
        </script><img src="${vendor('early picture', 'answer=gif')}"><title>`,
      ),
    )
    await page.close()
    for (const name of ['early fetch', 'early beacon', 'early xhr']) {
      expect((await stored(name, 2)).map(({ event }) => event)).toEqual(['one', 'two'])
    }
    expect((await stored('early request'))[0]).toMatchObject({ event: 'one', path: '/early' })
    expect((await stored('early picture'))[0]).toMatchObject({ event: 'ping', path: '/early' })
  })

  test('are captured with their URLs if the script is loaded late', async () => {
    const late = SHOP.replace('HEAD', '').replace(
      '<body>',
      `<body><img src="${vendor('late picture', 'answer=gif')}">
       <script src="${vendor('late script', 'answer=js')}"></script>
       <script>
         fetch('${vendor('late fetch')}')
         addEventListener('load', () => {
           document.head.append(Object.assign(document.createElement('script'), { src: '${site.snippet.scriptUrl}' }))
         })
       </script>`,
    )
    const page = await open('late', late)
    for (const name of ['late picture', 'late script', 'late fetch']) {
      expect((await stored(name))[0]).toMatchObject({ event: 'ping', path: '/late', title: 'Shop' })
    }
    await page.close()
  })
})

describe('request status and size', () => {
  test('includes the transfer size for hosts that expose it', async () => {
    const page = await open('timed', SHOP)
    await page.evaluate(`(async () => {
      navigator.sendBeacon('${vendor('timed beacon', 'answer=timed')}', 'en=purchase')
      new Image().src = '${vendor('timed picture', 'answer=timed')}'
    })()`)
    for (const name of ['timed beacon', 'timed picture']) expect((await stored(name))[0]?.bytes).toBeGreaterThan(0)
    await page.close()
  })

  const CASES: [name: string, run: string, status: string | null][] = [
    ['redirected image', `picture(url('answer=redirect'))`, 'ok'],
    ['image with an empty response', `picture(url('answer=204'))`, null],
    ['image set by attribute', `picture(url('answer=gif'), 'setAttribute')`, 'ok'],
    ['script element', `script(url('answer=js'))`, 'ok'],
    ['script set by attribute', `script(url('answer=js'), 'setAttribute')`, 'ok'],
    ['script with status 404', `script(url('answer=404'))`, 'failure'],
    ['fetch with status 500', `fetch(url('answer=500'))`, 'failure'],
    ['fetch with an unreadable status 500', `fetch(url('answer=500'), { mode: 'no-cors' })`, 'ok'],
    ['XMLHttpRequest with status 503', `xhr(url('answer=503'))`, 'failure'],
    ['fetch blocked by CORS', `fetch(url('answer=gif')).catch(() => {})`, 'failure'],
    [
      'fetch that times out',
      `fetch(url('answer=never'), { signal: AbortSignal.timeout(50) }).catch(() => {})`,
      'timeout',
    ],
    ['XMLHttpRequest that times out', `xhr(url('answer=never'), 50)`, 'timeout'],
    ['fetch aborted by the page', `fetch(url('answer=never'), { signal: given.signal }).catch(() => {})`, 'failure'],
    [
      'beacon that throws',
      `(() => { try { navigator.sendBeacon(url(''), new ReadableStream()) } catch {} })()`,
      'exception',
    ],
  ]

  beforeAll(async () => {
    const page = await open('ends', SHOP)
    await page.evaluate(`(async () => {
      const given = { get signal() {
        const controller = new AbortController()
        setTimeout(() => controller.abort(), 50)
        return controller.signal
      } }
      const ended = (element) => new Promise((done) => { element.onload = element.onerror = done })
      const give = (element, url, how) => how ? element.setAttribute('SRC', url) : (element.src = url)
      const picture = (url, how) => {
        const image = new Image()
        give(image, url, how)
        return ended(image)
      }
      const script = (url, how) => {
        const element = document.createElement('script')
        give(element, url, how)
        document.head.append(element)
        return ended(element)
      }
      const xhr = (url, timeout = 0) => new Promise((done) => {
        const request = new XMLHttpRequest()
        request.onloadend = done
        request.open('GET', url)
        request.timeout = timeout
        request.send()
      })
      ${CASES.map(([name, run]) => `{ const url = (query) => '${vendor(name)}' + query; await ${run} }`).join('\n')}
    })()`)
  })

  test.each(CASES)('%s', async (name, _run, status) => {
    expect((await stored(name))[0]).toMatchObject({ event: 'ping', status, path: '/ends' })
  })

  test('reports requests blocked by the browser', async () => {
    const page = await open('refused', SHOP)
    const session = await page.createCDPSession()
    await session.send('Network.enable')
    await session.send('Network.setBlockedURLs', { urls: ['*refused*'] })
    await page.evaluate(`(async () => {
      await fetch('${vendor('refused fetch')}').catch(() => {})
      navigator.sendBeacon('${vendor('refused beacon')}', 'en=purchase')
      await new Promise((done) => Object.assign(new Image(), { onerror: done, src: '${vendor('refused picture')}' }))
    })()`)
    for (const name of ['refused fetch', 'refused beacon', 'refused picture']) {
      expect([name, (await stored(name))[0]?.status]).toEqual([name, 'blocked'])
    }
    await page.close()
  })

  test("reports requests blocked by the page's content security policy", async () => {
    const page = await open('policy', SHOP.replace('<body>', `<body><img src="${vendor('forbidden markup')}">`), {
      'content-security-policy':
        "default-src 'self'; script-src 'unsafe-inline' http://collect.test:*; connect-src http://collect.test:*",
    })
    await page.evaluate(`(async () => {
      await fetch('${vendor('forbidden fetch')}').catch(() => {})
      navigator.sendBeacon('${vendor('forbidden beacon')}', 'en=purchase')
      new Image().src = '${vendor('forbidden picture')}'
      document.head.append(Object.assign(document.createElement('script'), { src: '${vendor('forbidden script')}' }))
    })()`)
    for (const what of ['fetch', 'picture', 'script', 'markup']) {
      const name = `forbidden ${what}`
      expect([name, (await stored(name))[0]?.status]).toEqual([name, 'blocked'])
    }
    expect((await stored('forbidden beacon'))[0]).toMatchObject({ event: 'purchase', status: 'blocked' })
    await page.close()
  })
})

describe('page requests', () => {
  test("are assigned to the page's URL at the time of the request", async () => {
    const page = await open('spa', SHOP)
    await page.evaluate(`(async () => {
      const ping = (name) => fetch('${vendor('')}'.replace('ep.case=', 'ep.case=' + name))
      const go = (path, title) => {
        history.pushState({}, '', path)
        document.title = title
      }
      await ping('spa first')
      go('/spa/cart?user=ann@example.com#top', 'Cart')
      await ping('spa second')
      go('/spa/thanks', 'Thanks')
      const late = ping('spa third')
      go('/spa', 'Shop again')
      await late
      await ping('spa fourth')
    })()`)
    await page.close()
    const pageViews = []
    for (const name of ['spa first', 'spa second', 'spa third', 'spa fourth']) {
      const [event] = await stored(name)
      pageViews.push([event?.path, event?.sessionId])
    }
    const [[, session] = []] = pageViews
    expect(pageViews.map(([path]) => path)).toEqual(['/spa', '/spa/cart', '/spa/thanks', '/spa'])
    expect(new Set(pageViews.map(([, id]) => id))).toEqual(new Set([session]))
    const mine = () => site.sent.filter(({ batch }) => batch.sessionId === session)
    const measured = await until('page stats of four page views', () => {
      const batches = new Map(mine().flatMap(({ batchId, batch }) => (batch.pageStats ? [[batchId, batch]] : [])))
      return batches.size >= 4 && [...batches.values()]
    })
    const paths = measured.map(({ page: { url } }) => new URL(url).pathname)
    expect(paths.toSorted()).toEqual(['/spa', '/spa', '/spa/cart', '/spa/thanks'])
    // Personal data in a page's URL does not leave the page.
    expect(JSON.stringify(mine())).not.toMatch(/ann@example|#top/)
  })

  test("in frames have the same session and the frame's URL; requests of cross-origin frames are not captured", async () => {
    site.page('inner', SHOP.replace('<body>', `<body><script>fetch('${vendor('in frame')}')</script>`))
    const page = await open(
      'outer',
      SHOP.replace(
        '<body>',
        `<body><iframe src="/inner"></iframe><iframe src="${vendor('foreign frame', 'answer=html')}"></iframe>`,
      ),
    )
    await page.evaluate(`fetch('${vendor('around frame')}').then(() => {})`)
    await page.close()
    const [inside] = await stored('in frame')
    const [outside] = await stored('around frame')
    expect([inside?.path, outside?.path]).toEqual(['/inner', '/outer'])
    expect(inside?.sessionId).toBe(outside?.sessionId ?? '')
    expect((await stored('foreign frame'))[0]).toMatchObject({ path: '/outer', event: 'ping' })
  })

  test('in `srcdoc` frames with the snippet are assigned to the surrounding page', async () => {
    const inner = (name: string) =>
      SHOP.replace('HEAD', site.snippet.head)
        .replace('<body>', `<body><script>fetch('${vendor(name)}'); fetch('/api/track?case=${name}')</script>`)
        .replaceAll('&', '&amp;')
        .replaceAll('"', '&quot;')
    const page = await open(
      'around',
      SHOP.replace(
        '<body>',
        `<body><iframe srcdoc="${inner('in srcdoc')}"></iframe>
         <iframe sandbox="allow-scripts" srcdoc="${inner('in sandbox')}"></iframe>`,
      ),
    )
    await page.evaluate(`fetch('${vendor('around srcdoc')}').then(() => {})`)
    const [inside] = await stored('in srcdoc')
    const [outside] = await stored('around srcdoc')
    await page.close()
    expect([inside?.host, inside?.path]).toEqual(['shop.test', '/around'])
    expect(inside?.sessionId).toBe(outside?.sessionId ?? '')
    // The page of a sandboxed frame is unknown, so no events from the frame are stored.
  })

  test('are captured if the page closes immediately or sends them while closing', async () => {
    const page = await open('closed', SHOP)
    await page.evaluate(`
      addEventListener('pagehide', () => {
        navigator.sendBeacon('${vendor('last beacon')}', 'en=purchase&ep.case=last beacon')
        fetch('${vendor('last fetch')}', { method: 'POST', body: 'en=purchase', keepalive: true })
        // There is no time left to read the blob.
        navigator.sendBeacon('${vendor('last blob')}', new Blob(['en=purchase']))
        navigator.sendBeacon('${site.url('data.shop.test', `${INTERACT}&case=last event`)}', new Blob(['{"events": []}']))
      })
      navigator.sendBeacon('${vendor('before last')}', 'en=purchase')`)
    await page.close()
    for (const name of ['last beacon', 'last fetch', 'before last']) {
      expect((await stored(name))[0]).toMatchObject({ event: 'purchase', path: '/closed' })
    }
    expect((await stored('last event'))[0]).toMatchObject({
      vendor: 'Adobe Experience Platform Web SDK',
      kind: 'hit',
      path: '/closed',
    })
    expect((await stored('last blob'))[0]).toMatchObject({ event: 'ping', path: '/closed' })
  })

  test('are captured if the page goes offline and comes back online', async () => {
    const page = await open('offline', SHOP)
    await page.setOfflineMode(true)
    await page.waitForFunction('!navigator.onLine')
    await page.evaluate(`(async () => {
      await fetch('${vendor('while offline')}').catch(() => {})
      // Enough to fill a batch, which is sent immediately and fails.
      for (let n = 0; n < 20; n++) await fetch('${vendor('offline too')}').catch(() => {})
    })()`)
    await page.setOfflineMode(false)
    expect((await stored('while offline'))[0]).toMatchObject({ status: 'failure', path: '/offline' })
    await page.close()
    await stored('offline too', 20)
  })

  test('are retried when the collector is overloaded, and counted once', async () => {
    const page = await open('again', SHOP)
    {
      using _refusing = site.interfere((path) =>
        path === '/api/v1/events'
          ? new Response('{}', { status: 503, headers: { 'access-control-allow-origin': '*', 'retry-after': '1' } })
          : null,
      )
      await page.evaluate(`(async () => {
        for (let n = 0; n < 20; n++) await fetch('${vendor('sent again')}')
      })()`)
      await until('a rejected batch', () => site.sent.some(({ status }) => status === 503))
    }
    await stored('sent again', 20)
    const batches = (wanted: number) =>
      site.sent.filter(({ status }) => status === wanted).map(({ batchId }) => batchId)
    await until('each rejected batch to be accepted', () => {
      const taken = new Set(batches(202))
      return batches(503).every((batchId) => taken.has(batchId))
    })
    await page.close()
    expect(await stored('sent again', 20)).toHaveLength(20)
  })

  test('are captured only once if the page includes the script twice', async () => {
    const twice = SHOP.replace('HEAD', `HEADHEAD<script src="${site.snippet.scriptUrl}"></script>`)
    const page = await open('twice', twice.replaceAll('HEAD', site.snippet.head))
    await page.addScriptTag({ url: `${site.snippet.scriptUrl}?again` })
    await page.evaluate(`fetch('${vendor('two copies')}').then(() => {})`)
    await page.close()
    await stored('two copies')
  })
})

describe('requests from pages that patch the observed APIs', () => {
  test('are captured if the page wraps or replaces fetch after the script is loaded', async () => {
    const page = await open('replaced', SHOP)
    await page.evaluate(`(async () => {
      const ours = window.fetch
      window.fetch = (...args) => ours(...args)
      await fetch('${vendor('wrapped')}', { method: 'POST', body: 'en=purchase' })
      window.fetch = (url, { method, body }) => new Promise((done) => {
        const xhr = new XMLHttpRequest()
        xhr.open(method, url)
        xhr.onload = () => done(new Response(null, { status: 204 }))
        xhr.send(body)
      })
      await fetch('${vendor('replaced')}', { method: 'POST', body: 'en=purchase' })
    })()`)
    for (const name of ['wrapped', 'replaced']) {
      expect((await stored(name))[0]).toMatchObject({ event: 'purchase', status: 'ok' })
    }
    await page.close()
  })

  test('are captured by URL if the APIs were frozen before the script is loaded', async () => {
    const locked = `<script>
      Object.freeze(Navigator.prototype)
      Object.freeze(XMLHttpRequest.prototype)
      Object.defineProperty(window, 'fetch', { value: window.fetch, writable: false, configurable: false })
      Object.freeze(HTMLImageElement.prototype)
    </script>`
    const page = await open('locked', SHOP.replace('HEAD', `${locked}HEAD`))
    await page.evaluate(`(async () => {
      navigator.sendBeacon('${vendor('locked beacon')}', 'en=purchase')
      await fetch('${vendor('locked fetch')}')
      const image = new Image()
      image.src = '${vendor('locked picture', 'answer=gif')}'
      await image.decode()
      const xhr = new XMLHttpRequest()
      xhr.open('GET', '${vendor('locked xhr')}')
      await new Promise((done) => { xhr.onloadend = done; xhr.send() })
    })()`)
    for (const what of ['beacon', 'fetch', 'picture', 'xhr']) {
      expect((await stored(`locked ${what}`))[0]).toMatchObject({ event: 'ping', path: '/locked' })
    }
    await page.close()
  })
})

test('no event is stored twice, and no unexpected event is stored', async () => {
  const counts = new Map<string, number>()
  for (const event of await site.events()) {
    const name = caseOf(event) || JSON.stringify(event)
    if (event.vendor !== 'Tagwarden') counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(expected))
})
