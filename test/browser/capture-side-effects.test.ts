import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import type { CaptureConfig } from '../../src/capture/capture-config.ts'
import { until } from '../run-program.ts'
import { type CaptureSite, captureSite, SITE_HOSTS } from './capture-site.ts'
import { startBrowser, type TestBrowser } from './chromium.ts'

let site: CaptureSite
let chromium: TestBrowser

beforeAll(async () => {
  site = await captureSite()
  chromium = await startBrowser([SITE_HOSTS])
})
afterAll(async () => {
  await chromium[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

const SHOP = '<!doctype html><html><head>HEAD<title>Shop</title></head><body></body></html>'
const vendor = (name: string, query = '') =>
  site.url('metrics.vendor.test', `/g/collect?v=2&tid=G-TEST&en=ping&ep.case=${name}&${query}`)

async function open(name: string, html = SHOP): Promise<Page> {
  const page = await chromium.browser.newPage()
  // Pages would otherwise use the previous page's cached configuration.
  await page.setCacheEnabled(false)
  await page.goto(site.page(name, html))
  await page.waitForFunction(`Symbol.for('tagwarden.installed') in window`)
  return page
}

/** Returns the batches sent from the page with this name, excluding retries. */
const sentFrom = (name: string) => {
  const mine = site.sent.filter(({ batch }) => batch.page.url.endsWith(`/${name}`))
  return [...new Map(mine.map(({ batchId, batch }) => [batchId, batch])).values()]
}

describe('the capture script', () => {
  test('leaves the results, errors and names of functions unchanged', async () => {
    const html = SHOP.replace(
      'HEAD',
      `<script>
        const given = Object.assign(Promise.resolve(new Response('mine')), { cancel() {} })
        const real = window.fetch
        window.fetch = function fetch(input) {
          return String(input).includes('own') ? given : real.apply(this, arguments)
        }
        window.fetch.polyfill = true
        const shapes = () => [
          ...[fetch, XMLHttpRequest.prototype.open, navigator.sendBeacon].map((one) => [one.name, one.length]),
          Object.getOwnPropertyDescriptor(window, 'fetch'),
          Object.getOwnPropertyDescriptor(Navigator.prototype, 'sendBeacon'),
          Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, 'src'),
        ]
        window.shop = { given, shapes, before: JSON.stringify(shapes()), names: Object.keys(window) }
      </script>HEAD`,
    )
    const page = await open('unnoticed', html)
    const seen = await page.evaluate(`(async () => {
      let conversions = 0
      const address = { toString() { conversions++; return '${vendor('by object')}' } }
      const errorOf = (act) => { try { act(); return null } catch (error) { return error.constructor.name } }
      const stream = new Response('text').body
      const request = new Request('${vendor('request')}', { method: 'POST', body: 'en=purchase' })
      const response = await fetch(request)
      const xhr = new XMLHttpRequest()
      return {
        same: fetch('${vendor('own')}') === shop.given,
        polyfill: fetch.polyfill,
        shapes: JSON.stringify(shop.shapes()) === shop.before,
        added: Object.keys(window).filter((name) => !shop.names.includes(name) && !/^shop$|uery/.test(name)),
        objects: (navigator.sendBeacon(address), conversions),
        illegal: errorOf(() => navigator.sendBeacon.call({}, '/x')),
        missing: errorOf(() => navigator.sendBeacon()),
        beforeOpen: errorOf(() => xhr.send()),
        wrong: errorOf(() => xhr.open()),
        rejects: await fetch.call(window, 'http://').catch((error) => error.constructor.name),
        used: [request.bodyUsed, response.status],
        unread: (await fetch('${vendor('given stream')}', { method: 'POST', body: stream, duplex: 'half' }).catch(() => 0), stream.locked),
        attributes: (() => {
          const image = document.createElement('img')
          return [image.setAttribute('src', '${vendor('attribute')}') === undefined, image.getAttribute('src') === '${vendor('attribute')}']
        })(),
      }
    })()`)
    expect(seen).toEqual({
      same: true,
      polyfill: true,
      shapes: true,
      added: ['tagwardenQueue', 'tagwarden'],
      objects: 1,
      illegal: 'TypeError',
      missing: 'TypeError',
      beforeOpen: 'DOMException',
      wrong: 'TypeError',
      rejects: 'TypeError',
      used: [true, 204],
      unread: true,
      attributes: [true, true],
    })
    await page.close()
  })

  test('does not change which promise rejections the browser reports as unhandled', async () => {
    const page = await open('rejections')
    const reported = await page.evaluate(`(async () => {
      const reported = []
      addEventListener('unhandledrejection', ({ reason }) => reported.push(reason.message))
      addEventListener('rejectionhandled', () => reported.push('handled late'))
      const dead = 'http://nobody.vendor.test:1/g/collect?v=2&tid=G-TEST&en=ping&ep.case='
      fetch(dead + 'unhandled')
      await fetch(dead + 'handled').catch(() => {})
      await new Promise((done) => setTimeout(done, 300))
      return reported
    })()`)
    expect(reported).toEqual(['Failed to fetch'])
    for (const name of ['unhandled', 'handled']) {
      // A connection that is refused immediately looks like a request that the browser blocked.
      expect(['failure', 'blocked']).toContain((await site.stored(name))[0]?.status ?? '')
    }
    await page.close()
  })

  test('hides its own errors, and stops capturing after five errors', async () => {
    const page = await open('errors')
    const answers = await page.evaluate(`(async () => {
      const base = Object.getOwnPropertyDescriptor(Node.prototype, 'baseURI')
      Object.defineProperty(Node.prototype, 'baseURI', { get() { throw new Error('no') }, configurable: true })
      const answers = []
      // Resolving this relative URL reads the broken baseURI.
      const address = '/g/collect?v=2&tid=G-TEST&en=ping&ep.case=broken'
      for (let n = 0; n < 6; n++) answers.push((await fetch(address)).status)
      Object.defineProperty(Node.prototype, 'baseURI', base)
      answers.push((await fetch('${vendor('after errors')}')).status)
      return answers
    })()`)
    expect(answers).toEqual([204, 204, 204, 204, 204, 204, 204])
    await page.close()
    const next = await open('after-errors')
    await next.evaluate(`fetch('${vendor('another page')}').then(() => {})`)
    await next.close()
    await site.stored('another page')
    expect(JSON.stringify(site.sent)).not.toContain('after errors')
  })

  test('sets no cookies, and uses no storage without consent', async () => {
    using _mode = site.configure({ sessionMode: 'sessionStorage' })
    const page = await open('storage')
    const stored = () => page.evaluate(`[document.cookie, localStorage.length, Object.keys(sessionStorage).join()]`)
    await page.evaluate(`fetch('${vendor('before consent')}').then(() => {})`)
    expect(await stored()).toEqual(['', 0, ''])
    await page.evaluate(`(tagwarden('consent', 'granted'), fetch('${vendor('with consent')}').then(() => {}))`)
    expect(await stored()).toEqual(['', 0, 'tagwarden.session'])
    await page.goto(
      site.page('storage2', SHOP.replace('<title>', `<script>tagwarden('consent', 'granted')</script><title>`)),
    )
    await page.waitForFunction(`Symbol.for('tagwarden.installed') in window`)
    await page.evaluate(`fetch('${vendor('next page')}').then(() => {})`)
    await page.evaluate(`(tagwarden('consent', 'denied'), 0)`)
    expect(await stored()).toEqual(['', 0, ''])
    await page.close()
    const sessions = []
    for (const name of ['before consent', 'with consent', 'next page']) {
      sessions.push((await site.stored(name))[0]?.sessionId)
    }
    expect(new Set(sessions).size).toBe(1)
  })
})

describe('captured requests', () => {
  test("include requests to other sites and to vendors on the site's own host by default, with bodies only for vendors", async () => {
    const page = await open('filter')
    const other = site.url('other.test', '/api?case=other&q=shoes')
    const own = site.url('shop.test', '/api/login?case=own')
    const proxied = site.url('shop.test', '/metrics/g/collect?v=2&tid=G-TEST')
    const picture = site.url('cdn.test', '/hero.jpg?case=photo')
    await page.evaluate(`(async () => {
      const send = (url, body) => fetch(url, { method: 'POST', body, mode: 'no-cors' })
      await send('${other}', 'secret of other')
      await send('${own}', 'secret of own')
      await send('${proxied}', 'en=proxied&ep.case=proxied')
      await send('${proxied}', 'en=large&x=' + 'x'.repeat(70000))
      await Promise.all(['${picture}', 'data:image/gif;base64,AAAA', '/logo.png'].map((src) => new Promise((done) => {
        Object.assign(new Image(), { onload: done, onerror: done, src })
      })))
    })()`)
    await page.close()
    expect((await site.stored('proxied'))[0]).toMatchObject({ event: 'proxied', host: 'shop.test' })
    expect((await site.stored('other'))[0]).toMatchObject({ kind: 'hit', vendor: 'other.test', params: { q: 'shoes' } })
    const hits = sentFrom('filter').flatMap(({ hits = [] }) => hits)
    expect(new Set(hits.map(({ url }) => new URL(url).pathname))).toEqual(new Set(['/api', '/metrics/g/collect']))
    expect(JSON.stringify(hits)).not.toContain('secret of')
    expect(hits.filter(({ url, body }) => url.includes('g/collect') && body === undefined)).toHaveLength(1)
  })

  test.each<[string, Partial<CaptureConfig>, string[]]>([
    ['patterns', { crossSite: false, patterns: ['shop.test:*/own*case=1'] }, ['/own']],
    ['ignored-path', { ignore: '^/api' }, ['/other']],
    ['kill-switch', { kill: true }, []],
    ['newer-version', { version: 2 } as unknown as Partial<CaptureConfig>, []],
    ['zero-sample-rate', { sampleRate: { prod: 0, dev: 1 } }, []],
  ])('follow the configuration: %s', async (name, config, paths) => {
    using _config = site.configure(config)
    const page = await open(name)
    await page.evaluate(`(async () => {
      for (const url of ['/own?case=1', '${site.url('other.test', '/other')}', '${site.url('other.test', '/api')}']) {
        await fetch(url, { mode: 'no-cors' })
      }
    })()`)
    await page.close()
    const hits = () => sentFrom(name).flatMap(({ hits = [] }) => hits)
    if (paths.length > 0) await until('the hits', () => hits().length > 0)
    expect([...new Set(hits().map(({ url }) => new URL(url).pathname))]).toEqual(paths)
    if (paths.length === 0) expect(sentFrom(name)).toEqual([])
  })

  test('include data reported by the page and its tag manager', async () => {
    const page = await open(
      'reported',
      SHOP.replace(
        '<title>',
        `<script>tagwarden('configure', { env: 'dev', version: '12', customerId: 'c-7' })</script><title>`,
      ),
    )
    await page.evaluate(`
      tagwarden('configure', { sessionId: 'PHPSESSID=4711' })
      tagwarden('container', 'GTM-ABC')
      tagwarden('container', 'GTM-ABC')
      tagwarden('tags', 'GTM-ABC', 'purchase', [
        { id: 7, name: 'Purchase', status: 'success', executionTime: 3 },
        { id: '8', status: 'failure', executionTime: 40 },
        { status: 'no id' },
      ])
      tagwarden('what is this')
      fetch('${vendor('reported')}')`)
    await page.close()
    const [event] = await site.stored('reported')
    const sessionId = new Bun.CryptoHasher('sha256').update('PHPSESSID=4711').digest('hex').slice(0, 32)
    const shared = {
      env: 'dev',
      version: 12,
      sessionId,
      path: '/reported',
      customerId: expect.stringMatching(/^[\da-f]{32}$/),
    }
    expect(event).toMatchObject(shared)
    const reported = (await site.events()).filter(({ path }) => path === '/reported')
    expect(reported).toContainEqual(expect.objectContaining({ vendor: 'Tagwarden', event: 'snippet_ran' }))
    expect(reported.filter((one) => one.event === 'container_loaded')).toMatchObject([
      { ...shared, vendor: 'Google Tag Manager', account: 'GTM-ABC' },
    ])
    expect(reported.filter(({ kind }) => kind === 'tag')).toMatchObject([
      {
        ...shared,
        event: 'purchase',
        account: 'GTM-ABC',
        status: 'ok',
        execMs: 3,
        params: { tagId: '7', name: 'Purchase' },
      },
      { ...shared, event: 'purchase', status: 'failure', execMs: 40, params: { tagId: '8' } },
    ])
    expect(JSON.stringify(site.sent)).not.toContain('PHPSESSID')
  })

  test('include how long vendors block the main thread', async () => {
    const busy = site.url('slow.vendor.test', '/busy?answer=busy')
    const page = await open('busy')
    await page.evaluate(`new Promise((done) => {
      document.head.append(Object.assign(document.createElement('script'), { src: '${busy}', onload: done }))
    })`)
    await page.waitForFunction(`performance.getEntriesByType('long-animation-frame').length > 0 || window.busy`)
    await page.evaluate(`new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))`)
    await page.close()
    const stats = await until(
      'the measures',
      () => sentFrom('busy').find(({ pageStats }) => pageStats)?.pageStats ?? null,
    )
    expect(stats.loaf).toBe(true)
    const host = stats.vendors.find(({ host }: { host: string }) => host === 'slow.vendor.test')
    expect(host).toMatchObject({ requests: 1, durMs: [expect.any(Number)] })
    expect(host.blockMs).toBeGreaterThan(100)
  })
})
