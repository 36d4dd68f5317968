import { describe, expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { testClock } from '../../test/fixtures.ts'
import { testApp } from '../../test/test-app.ts'
import { HOUR_MS } from '../core/clock.ts'
import { decoders } from '../decoders/index.ts'
import type { CollectorDomain } from '../domains/domain-directory.ts'
import { captureConfigOf } from './capture-config.ts'
import { type ScriptBundle, scriptBundle } from './script-bundle.ts'
import { ScriptFiles } from './serve-capture-script.ts'

const DOMAIN: CollectorDomain = {
  id: 'dom_1',
  orgId: 'org_1',
  customerSalt: 'salt',
  vendors: [{ vendorName: 'Own', urlPatternMatches: ['https://Metrics.shop.example/c*&k='] }, { vendorName: 'Other' }],
  nameVendor: () => null,
  pageViewRate: { dev: 1, prod: 1 },
  capture: { enabled: true, sampleRate: { prod: 1, dev: 1 }, sessionMode: 'memory' },
}

function setUp(bundle: ScriptBundle = { script: 'run(CONFIG)', stub: '' }) {
  const clock = testClock()
  const domains = new Map([['pt_1', DOMAIN]])
  const legacy: string[] = []
  const files = new ScriptFiles({
    clock,
    domains: { byToken: (token) => domains.get(token) ?? null },
    collectUrlOf: () => 'https://collect.example/api/v1/events',
    legacyHost: 'tags.example',
    askedAtLegacy: (id) => void legacy.push(id),
    bundle: async () => bundle,
  })
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET', host = 'collect.example') =>
    files.answer(new Request(`https://${host}${path}`, { method, headers }))
  return { clock, domains, legacy, ask }
}

test('the script contains its configuration, and only the configuration file contains the vendor lists', async () => {
  const { ask } = setUp()
  const script = await (await ask('/t/pt_1.js')).text()
  const full = (await (await ask('/t/pt_1.json')).json()) as Record<string, unknown>
  const { hosts, marks, ...config } = full
  let given: unknown = null
  new Function('run', script)((config: unknown) => {
    given = config
  })
  expect(given).toEqual(config)
  expect(config).toMatchObject({
    version: 1,
    token: 'pt_1',
    collectUrl: 'https://collect.example/api/v1/events',
    configUrl: 'https://collect.example/t/pt_1.json',
    kill: false,
    patterns: ['metrics.shop.example/c*&k='],
  })
  expect(hosts).toEqual(expect.arrayContaining(['google-analytics.com', 'api.segment.io']))
  expect(marks).toContainEqual(['/watch/(\\d+)(/\\d+)?/?$', '^(?=.*[?&]browser-info=).*[?&]page-url='])
})

test('the compressed script has at most 10 kB, including its configuration', async () => {
  const { script } = await scriptBundle()
  const { ask } = setUp({ script, stub: '' })
  const sent = await (await ask('/t/pt_1.js', { 'accept-encoding': 'gzip' })).bytes()
  expect(sent.length).toBeLessThanOrEqual(10_000)
})

test("the collector serves the files, and pages send events to the domain's endpoint", async () => {
  await using world = await testApp({ collectUrl: 'https://collect.example', publicUrl: 'https://tags.example' })
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  const { collector } = world.app
  const path = `/t/${domain.token}.json`
  const collectUrl = async () => {
    const answer = await collector.fetch(new Request(`https://collect.example${path}`))
    return ((await answer.json()) as { collectUrl: string }).collectUrl
  }
  const snippet = async () => (await world.call('GET', `/v1/domains/${domain.id}/snippet`)).body
  expect(collector.owns(path)).toBe(true)
  expect(await collectUrl()).toBe('https://collect.example/api/v1/events')
  expect(await snippet()).toMatchObject({ scriptUrl: `https://collect.example/t/${domain.token}.js` })
  const custom = { mode: 'custom', hostname: 'collect.shop.example' }
  await world.call('PUT', `/v1/domains/${domain.id}/endpoint`, { body: custom })
  expect(await collectUrl()).toBe('https://collect.shop.example/api/v1/events')
  const { head, configUrl, template } = await snippet()
  expect(configUrl).toBe(`https://collect.shop.example${path}`)
  expect(head).toContain(`"https://collect.shop.example/t/${domain.token}.js"`)
  expect(template).toContain('"https://collect.shop.example/t/*"')
})

test.each([
  ['/t/pt_1.js', 'text/javascript; charset=utf-8'],
  ['/t/pt_1.json', 'application/json; charset=utf-8'],
])('%s can be loaded by every page and is cached for five minutes', async (path, type) => {
  const { headers, status } = await setUp().ask(path)
  expect(status).toBe(200)
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': type,
    'cache-control': 'public, max-age=300',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'timing-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    vary: 'accept-encoding',
    etag: expect.stringMatching(/^"[\w-]+"$/),
  })
})

describe('a browser with a cached file', () => {
  test('gets status 304 until the settings change', async () => {
    const { ask, domains } = setUp()
    const etag = (await ask('/t/pt_1.js')).headers.get('etag') ?? ''
    const again = await ask('/t/pt_1.js', { 'if-none-match': `"other", W/${etag}` })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    domains.set('pt_1', { ...DOMAIN, vendors: [] })
    const changed = await ask('/t/pt_1.js', { 'if-none-match': etag })
    expect(changed.status).toBe(200)
    expect(changed.headers.get('etag')).not.toBe(etag)
  })
})

test('the script is compressed if the browser supports it', async () => {
  const { ask } = setUp()
  const plain = await (await ask('/t/pt_1.js')).text()
  for (let n = 0; n < 2; n++) {
    const packed = await ask('/t/pt_1.js', { 'accept-encoding': 'br, gzip;q=0.5' })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(gunzipSync(await packed.arrayBuffer()).toString()).toBe(plain)
  }
})

test('the response to HEAD has no body', async () => {
  const { status, headers, body } = await setUp().ask('/t/pt_1.js', {}, 'HEAD')
  expect([status, body, headers.get('etag') === null]).toEqual([200, null, false])
})

test.each([
  ['/t/pt_2.js', 'GET', 'no such script'],
  ['/t/pt_1.css', 'GET', 'no such script'],
  ['/t/pt_1', 'GET', 'no such script'],
  ['/t/a/pt_1.js', 'GET', 'no such script'],
  ['/t/', 'GET', 'no such script'],
  ['/t/pt_1.js', 'POST', 'only GET is allowed'],
])('%s requested with %s returns 404, which is cached for a minute', async (path, method, error) => {
  const answer = await setUp().ask(path, {}, method)
  expect([answer.status, await answer.json()]).toEqual([404, { error }])
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'cache-control': 'public, max-age=60',
    'access-control-allow-origin': '*',
  })
})

test('requests to the host of the web interface are reported at most once an hour', async () => {
  const { ask, clock, legacy } = setUp()
  await ask('/t/pt_1.js')
  expect(legacy).toEqual([])
  for (const wait of [0, HOUR_MS - 1, 1, HOUR_MS]) {
    clock.advance(wait)
    await ask('/t/pt_1.json', {}, 'GET', 'tags.example')
  }
  expect(legacy).toEqual(['dom_1', 'dom_1', 'dom_1'])
})

test('the configuration includes the settings of the domain', () => {
  const capture = { enabled: false, sampleRate: { prod: 0.1, dev: 0 }, sessionMode: 'customer' } as const
  expect(
    captureConfigOf({ ...DOMAIN, capture }, { token: 'pt_1', collectUrl: 'https://collect.example/' }),
  ).toMatchObject({ kill: true, sampleRate: { prod: 0.1, dev: 0 }, sessionMode: 'customer' })
})

describe('the configuration of the script', () => {
  const config = captureConfigOf(DOMAIN, { token: 'pt_1', collectUrl: 'https://collect.example/' })
  const paths = new RegExp(config.paths, 'i')
  const ignore = new RegExp(config.ignore, 'i')

  test.each([
    ['/g/collect?v=2&tid=G-ABC', true],
    ['/metrics/g/s/collect/?tid=GT-ABC', true],
    ['/metrics/g/c?v=2&tid=G-ABC', true],
    ['/g/collect', false],
    ['/g/collect?v=2&tid=42', false],
    ['/redirect?to=/matomo.php', false],
    ['/matomo.php', true],
    ['/com.snowplowanalytics.snowplow/tp2', true],
    ['/', false],
    ['/api/batch', false],
    ['/api/collect', false],
    ['/cart/s', false],
    ['/p/17', false],
    ['/analytics', false],
    ['/matomo.js', false],
  ])('recognises %s as a vendor under the site’s own host name: %p', (path, isVendor) => {
    expect(paths.test(path)).toBe(isVendor)
  })

  test.each([
    ['/hero.jpg?w=300', true],
    ['/font.woff2', true],
    ['/logo.png', true],
    ['/pixel.png?id=1', false],
    ['/tr?file=a.jpg', false],
    ['/tag.js', false],
    ['/collect', false],
  ])('ignores %s on other sites: %p', (address, isIgnored) => {
    expect(ignore.test(address)).toBe(isIgnored)
  })

  test('contains no regular expression that Safari before 16.4 rejects', () => {
    const sources = [config.paths, config.ignore, ...config.marks.flat()]
    expect(sources.filter((source) => /\(\?<[=!]/.test(source))).toEqual([])
  })

  test('covers the hosts of every decoder', () => {
    const covers = (host: string) => config.hosts.some((one) => host === one || host.endsWith(`.${one}`))
    expect(decoders.flatMap(({ hosts }) => hosts).filter((host) => !covers(host))).toEqual([])
  })
})
