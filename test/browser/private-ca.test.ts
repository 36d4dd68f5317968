import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { trustIn } from '../../src/browser/trust-authorities.ts'
import { messageOf } from '../../src/core/error.ts'
import { canCertify, type PrivateAuthority, privateAuthority } from '../integrations/certificates.fixture.ts'
import { temporaryFolder } from '../run-program.ts'
import { browse } from './browse.ts'

const HOTJAR = 'ws.hotjar.com'

/**
 * True if Chromium can be made to trust private authorities. This requires libnss3, which is not part of the npm
 * package.
 */
function canTrust(): boolean {
  using authority = privateAuthority()
  using home = temporaryFolder()
  try {
    trustIn(home.path, authority.ca)
    return true
  } catch (error) {
    if (messageOf(error).includes('there is no libnss3.so')) return false
    throw error
  }
}

describe.skipIf(!canCertify || !canTrust())('a site with a certificate from a private authority', () => {
  let authority: PrivateAuthority
  let other: PrivateAuthority
  let site: ReturnType<typeof serve>
  /** Hosts of the WebSocket connections to the site. */
  const opened: string[] = []

  const serve = (tls?: { key: string; cert: string }) =>
    Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      ...(tls && { tls }),
      fetch(request, server) {
        const host = request.headers.get('host') ?? ''
        if (request.headers.get('upgrade') === 'websocket') opened.push(host)
        if (server.upgrade(request, { data: undefined })) return
        return new Response('<title>inside</title>', { headers: { 'content-type': 'text/html' } })
      },
      websocket: { message: () => undefined },
    })
  beforeAll(() => {
    authority = privateAuthority(`IP:127.0.0.1,DNS:shop.test,DNS:${HOTJAR}`)
    other = privateAuthority()
    site = serve(authority)
  })
  afterAll(async () => {
    await site.stop(true)
    authority[Symbol.dispose]()
    other[Symbol.dispose]()
  })
  const parts = { resolve: async () => ['127.0.0.1'] }
  const at = (scheme: string, host: string, port = site.port) => `${scheme}://${host}:${port}/api?site_id=1`

  test.each<[string, () => string, string | null]>([
    ['opens if its authority is trusted', () => authority.ca, null],
    ['opens if several authorities are trusted', () => other.ca + authority.ca, null],
    ['opens if its own certificate is trusted', () => authority.cert, null],
    ['does not open if only another authority is trusted', () => other.ca, 'net::ERR_CERT_AUTHORITY_INVALID'],
    ['does not open if no authority is configured', () => '', 'net::ERR_CERT_AUTHORITY_INVALID'],
  ])('%s', async (_, ca, fault) => {
    await using browsing = await browse({ outboundCa: ca() }, parts)
    const navigation = browsing.page.goto(at('https', 'shop.test')).then(
      (response) => response?.status(),
      (error: unknown) => messageOf(error).split(' ', 1)[0],
    )
    expect(await navigation).toBe(fault ?? 200)
    // Certificates for other names are still not trusted.
    await expect(browsing.page.goto(at('https', 'other.test'))).rejects.toThrow('net::ERR_CERT_')
  })

  test.each(['answer', 'send'] as const)(
    'can open WebSockets if its authority is trusted; WebSockets to vendors depend on the mode (%s)',
    async (vendorRequests) => {
      using plain = serve()
      opened.length = 0
      await using browsing = await browse({ outboundCa: authority.ca, vendorRequests }, parts)
      await browsing.page.goto(at('http', '127.0.0.1', plain.port))
      const hosts = ['shop.test', HOTJAR]
      const sockets = hosts.flatMap((host) => [at('wss', host), at('ws', host, plain.port)])
      const outcomes = await browsing.page.evaluate(
        (urls: string[]) =>
          Promise.all(
            urls.map((url) => {
              const { promise, resolve } = Promise.withResolvers<string>()
              const socket = new WebSocket(url)
              socket.onopen = () => resolve('open')
              socket.onclose = () => resolve('closed')
              return promise
            }),
          ),
        sockets,
      )
      const isAllowed = (url: string) => vendorRequests === 'send' || !url.includes(HOTJAR)
      expect(outcomes).toEqual(sockets.map((url) => (isAllowed(url) ? 'open' : 'closed')))
      expect(opened.toSorted()).toEqual(
        sockets
          .filter(isAllowed)
          .map((url) => new URL(url).host)
          .toSorted(),
      )
      const seen = browsing.traffic.requests.filter(({ resourceType }) => resourceType === 'websocket')
      expect(seen.map(({ url, answered, error }) => ({ url, answered, error }))).toEqual(
        sockets.map((url) => ({ url, answered: !isAllowed(url), error: null })),
      )
    },
  )
})
