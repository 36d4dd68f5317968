import { join } from 'node:path'
import type { CaptureConfig } from '../../src/capture/capture-config.ts'
import type { StoredEvent } from '../../src/core/event.ts'
import { ask, askAll, initialize, startServer, temporaryFolder, until } from '../run-program.ts'

/** A request from a browser to the collector. */
interface CollectorCall {
  batchId: string
  /** Status of the response; 0 if the connection was cut. */
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields it expects
  batch: any
}

/** Websites on several hosts, all served on one port of this machine. One host forwards to the real program. */
export interface CaptureSite extends AsyncDisposable {
  port: number
  /** The URL of the program itself. */
  programUrl: string
  domainId: string
  token: string
  apiKey: string
  /** Example: `site.url('shop.test', '/a')`. */
  url(host: string, path: string): string
  /** Adds a page to `shop.test` and returns its URL; `HEAD` is replaced by the head snippet. */
  page(name: string, html: string, headers?: Record<string, string>): string
  /** The head snippet and the template, as returned by the API. */
  snippet: { head: string; template: string; scriptUrl: string; configUrl: string }
  /**
   * Intercepts requests to the collector until disposed. If the function returns null, the request is passed on to the
   * program.
   */
  interfere(how: (path: string) => Response | null): Disposable
  /** Changes the configuration of the script until disposed. */
  configure(change: Partial<CaptureConfig>): Disposable
  /** Requests that browsers sent to the collector. */
  sent: readonly CollectorCall[]
  /** Requests to vendor hosts, as `POST /path?query`. */
  vendorRequests: readonly string[]
  /** All stored events of the kinds event, hit, tag and library, oldest first. */
  events(): Promise<StoredEvent[]>
  /** Resolves with the stored events whose parameter `ep.case` or `case` is `name`, once there are at least `count`. */
  stored(name: string, count?: number): Promise<StoredEvent[]>
}

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const OPEN = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }

/** The response from a vendor host, selected by the query parameter `answer`. */
async function vendorAnswer(url: URL): Promise<Response> {
  const answer = url.searchParams.get('answer') ?? '204'
  if (answer === 'gif') return new Response(GIF, { headers: { 'content-type': 'image/gif' } })
  if (answer === 'js')
    return new Response('window.loads = (window.loads ?? 0) + 1', { headers: { 'content-type': 'text/javascript' } })
  if (answer === 'busy') {
    const work = 'const until = performance.now() + 300; while (performance.now() < until); window.busy = true'
    return new Response(work, { headers: { 'content-type': 'text/javascript' } })
  }
  if (answer === 'html') return new Response('<title>frame</title>', { headers: { 'content-type': 'text/html' } })
  if (answer === 'redirect') {
    url.searchParams.set('answer', 'gif')
    url.searchParams.set('en', 'redirected')
    return new Response(null, { status: 302, headers: { ...OPEN, location: url.href } })
  }
  if (answer === 'never') return new Promise(() => undefined)
  if (answer === 'timed') return new Response(null, { status: 204, headers: { ...OPEN, 'timing-allow-origin': '*' } })
  return new Response(null, { status: Number(answer), headers: OPEN })
}

/** The name of the test case that sent an event. */
export function caseOf({ params }: StoredEvent): string {
  return params['ep.case'] ?? params.case ?? ''
}

/** Starts the sites and the program. The browser must map hosts that end with `.test` to this machine. */
export async function captureSite(): Promise<CaptureSite> {
  const folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const apiKey = await initialize(data)
  const pages = new Map<string, { html: string; headers: Record<string, string> }>()
  const sent: CollectorCall[] = []
  const vendorRequests: string[] = []
  let interfere = (_path: string): Response | null => null
  let change: Partial<CaptureConfig> | null = null
  let programUrl = ''

  /** Returns the script or the configuration with the changed values. */
  const changed = async (path: string) => {
    const answer = await fetch(programUrl + path)
    const other = (config: string) => JSON.stringify({ ...JSON.parse(config), ...change })
    const text = await answer.text()
    // The script ends with its configuration: `(function(CONFIG){…})({…});`.
    const at = path.endsWith('.js') ? text.lastIndexOf('})(') + 3 : 0
    const end = at === 0 ? text.length : text.length - 2
    const type = at === 0 ? 'application/json' : 'text/javascript'
    return new Response(text.slice(0, at) + other(text.slice(at, end)) + text.slice(end), {
      headers: { ...OPEN, 'content-type': type },
    })
  }
  const collect = async (request: Request, { pathname, search }: URL) => {
    const text = request.method === 'POST' ? await request.text() : null
    const record = (status: number) => {
      if (text === null) return
      const batch = JSON.parse(text)
      sent.push({ batchId: batch.batchId, status, batch })
    }
    const own = interfere(pathname)
    if (own) {
      record(own.status)
      return own
    }
    const headers = new Headers(request.headers)
    headers.delete('host')
    const order = { method: request.method, headers, body: text, decompress: false }
    if (change && pathname.startsWith('/t/')) return changed(pathname)
    const answer = await fetch(programUrl + pathname + search, order)
    record(answer.status)
    return answer
  }
  const web = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url)
      if (url.hostname === 'collect.test') return collect(request, url)
      const page = /^(?:\w+\.)?shop\.test$/.test(url.hostname) ? pages.get(url.pathname) : undefined
      if (page) return new Response(page.html, { headers: { 'content-type': 'text/html', ...page.headers } })
      if (request.method === 'OPTIONS') return new Response(null, { headers: OPEN })
      vendorRequests.push(`${request.method} ${url.pathname}${url.search}`)
      return vendorAnswer(url)
    },
  })
  const port = Number(web.port)
  const program = await startServer(data, { env: { TAGWARDEN_COLLECT_URL: `http://collect.test:${port}` } })
  programUrl = program.url
  const domain = await ask('POST', `${program.url}/v1/domains`, apiKey, { name: 'shop.test' })
  const snippet = await ask('GET', `${program.url}/v1/domains/${domain.id}/snippet`, apiKey)
  const url = (host: string, path: string) => `http://${host}:${port}${path}`
  const events = async () => {
    const all = await askAll<StoredEvent>(program.url, `/v1/events?domainId=${domain.id}`, apiKey, 'events')
    return all.toSorted((a, b) => a.seq - b.seq)
  }
  return {
    port,
    programUrl,
    domainId: domain.id,
    token: domain.token,
    apiKey,
    url,
    snippet,
    sent,
    vendorRequests,
    events,
    page(name, html, headers = {}) {
      pages.set(`/${name}`, { html: html.replace('HEAD', snippet.head), headers })
      return url('shop.test', `/${name}`)
    },
    interfere(how) {
      interfere = how
      return {
        [Symbol.dispose]() {
          interfere = () => null
        },
      }
    },
    configure(to) {
      change = to
      return {
        [Symbol.dispose]() {
          change = null
        },
      }
    },
    stored: (name, count = 1) =>
      until(`${count} events of "${name}"`, async () => {
        const found = (await events()).filter((event) => caseOf(event) === name)
        return found.length >= count && found
      }),
    async [Symbol.asyncDispose]() {
      await program.stop()
      await web.stop(true)
      folder[Symbol.dispose]()
    },
  }
}

/** Chromium argument that maps all hosts of the sites to this machine. */
export const SITE_HOSTS = '--host-resolver-rules=MAP *.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'
