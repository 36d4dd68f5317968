import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { closeSync, ftruncateSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { memoryOfProcess } from '../../src/browser/process-memory.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { descendantsOf } from '../proc-fs.ts'
import { ask, BINARY, call, initialize, type Server, startServer, temporaryFolder, until } from '../run-program.ts'

const MIB = 2 ** 20
const PASSWORD = 'correct horse battery'
/** Number of POST requests that the page sends in one run. A HAR stores at most 20 MB of their bodies. */
const POSTS = 100
const POST_BYTES = 300_000

const POSTING_PAGE = `<!doctype html><title>Posts</title><script>
  window.posted = 0
  const post = async () => {
    for (let n = 0; n < ${POSTS / 4}; n++) await fetch('/post', { method: 'POST', body: 'x'.repeat(${POST_BYTES}) })
    window.posted += ${POSTS / 4}
  }
  for (let n = 0; n < 4; n++) post()
</script>`

const html = (text: string) => new Response(text, { headers: { 'content-type': 'text/html' } })

/** Starts two servers. The operator allows requests only to one of them. */
function openSites() {
  const asked: string[] = []
  const inner = Bun.serve({
    hostname: '127.0.0.2',
    port: 0,
    fetch({ url }) {
      asked.push(url)
      return html('inner')
    },
  })
  const secret = `http://127.0.0.2:${inner.port}`
  const site = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/robots.txt' || pathname === '/moved.xml') return Response.redirect(`${secret}${pathname}`)
      if (pathname === '/index.xml') {
        return new Response(`<sitemapindex><sitemap><loc>${secret}/inner.xml</loc></sitemap></sitemapindex>`)
      }
      if (pathname === '/post') await request.bytes()
      if (pathname === '/linked') return html('<!doctype html><title>Shop</title><a href="/2">2</a>')
      return html(pathname === '/posts' ? POSTING_PAGE : '<!doctype html><title>Shop</title>')
    },
  })
  return {
    asked,
    secret,
    url: `http://127.0.0.1:${site.port}`,
    async [Symbol.asyncDispose]() {
      await site.stop(true)
      await inner.stop(true)
    },
  }
}

describe.skipIf(BINARY === null)('attacks on the executable by websites and large run files', () => {
  const data = temporaryFolder()
  const sites = openSites()
  let server: Server
  let key: string
  beforeAll(async () => {
    key = await initialize(data.path, PASSWORD)
    const env = {
      NO_PROXY: '*',
      no_proxy: '*',
      HTTP_PROXY: sites.secret,
      http_proxy: sites.secret,
      TAGWARDEN_CHROMIUM: await installedChromium(),
      TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1',
    }
    server = await startServer(data.path, { env })
  })
  afterAll(async () => {
    await server?.stop()
    await sites[Symbol.asyncDispose]()
    data[Symbol.dispose]()
  })

  const audited = async (input: object) => {
    const body = { name: 'Shop', delayMs: 0, settleMs: 0, ...input }
    const { id } = await ask('POST', `${server.url}/v1/audits`, key, body)
    return until(`audit ${id} to end`, async () => {
      const audit = await ask('GET', `${server.url}/v1/audits/${id}`, key)
      return ['finished', 'failed'].includes(audit.status) ? audit : null
    })
  }

  test.each([
    ['a redirect of robots.txt', { startUrls: ['/'] }, /^robots.txt can't be read: /],
    ['a redirect of a sitemap', { sitemap: '/moved.xml' }, /moved.xml can't be read: /],
    [
      'a sitemap index that lists a private URL',
      { sitemap: '/index.xml' },
      /index.xml contains no page that can be visited/,
    ],
  ])(
    'regardless of proxy environment variables, %s causes no request to a private address',
    async (_, input, reason) => {
      const { startUrls, sitemap } = input as { startUrls?: string[]; sitemap?: string }
      const absolute = {
        ...(startUrls && { startUrls: startUrls.map((path) => sites.url + path) }),
        ...(sitemap && { sitemap: sites.url + sitemap }),
      }
      const { error, pages } = await audited(absolute)
      expect(error ?? pages[0].error).toMatch(reason)
      expect(sites.asked).toEqual([])
    },
  )

  test('private network URLs are rejected when an audit is saved', async () => {
    for (const input of [{ startUrls: [`${sites.secret}/`] }, { sitemap: `${sites.secret}/sitemap.xml` }]) {
      const answer = await call('POST', `${server.url}/v1/audits`, { as: key, body: { name: 'Shop', ...input } })
      expect([answer.status, Object.keys(input).some((name) => answer.body.error.startsWith(name))]).toEqual([
        400,
        true,
      ])
    }
  })

  test('waiting audits do not occupy browsers, and can be cancelled', async () => {
    const home = (await ask('GET', `${server.url}/v1/orgs`, key)).orgs[0].id
    const other = await ask('POST', `${server.url}/v1/auth/login`, '', { email: 'a@example.com', password: PASSWORD })
    const as = other.token
    const made = await call('POST', `${server.url}/v1/orgs`, {
      as,
      headers: { 'x-org-id': home },
      body: { name: 'Slow' },
    })
    const slow = { as, headers: { 'x-org-id': String(made.body.id) } }
    const ids: string[] = []
    for (const name of ['one', 'two', 'three']) {
      const body = { name, startUrls: [`${sites.url}/linked`], respectRobots: false, delayMs: 60_000, settleMs: 0 }
      const { status, body: audit } = await call('POST', `${server.url}/v1/audits`, { ...slow, body })
      expect(status).toBe(201)
      ids.push(audit.id)
    }
    const audits = async () => {
      const { body } = await call('GET', `${server.url}/v1/audits`, slow)
      return ids.map((id) => body.audits.find((audit: { id: string }) => audit.id === id))
    }
    // Two audits wait between pages. The third waits for one of them to finish.
    await until('two waiting audits', async () => {
      const [one, two] = await audits()
      return one.summary.pagesTotal === 1 && two.summary.pagesTotal === 1
    })
    expect((await audits()).map(({ status }) => status)).toEqual(['running', 'running', 'queued'])

    expect(await audited({ startUrls: [`${sites.url}/`], respectRobots: false })).toMatchObject({ status: 'finished' })
    expect((await audits()).map(({ status }) => status)).toEqual(['running', 'running', 'queued'])
    for (const id of ids) {
      expect(await call('POST', `${server.url}/v1/audits/${id}/cancel`, slow)).toMatchObject({ status: 200 })
    }
    await until('the browsers to be closed', () => descendantsOf(server.pid).length === 0)
    expect((await audits()).map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  })

  test('a site that sends large requests does not fill the disk, and downloads use little memory', async () => {
    const steps = [
      { type: 'navigate', url: `${sites.url}/posts` },
      { type: 'waitForExpression', expression: `window.posted === ${POSTS}`, timeout: 30_000 },
    ]
    const made = await ask('POST', `${server.url}/v1/flows/tests`, key, {
      name: 'Posts',
      retries: 0,
      recording: { title: 'Posts', timeout: 30_000, steps },
    })
    const { id } = await ask('POST', `${server.url}/v1/flows/tests/${made.id}/run`, key, {})
    const run = await until('the run to end', async () => {
      const run = await ask('GET', `${server.url}/v1/flows/runs/${id}`, key)
      return run.finishedAt === null ? null : run
    })
    expect([run.status, run.error]).toEqual(['passed', null])

    const paths = { har: `/v1/flows/runs/${id}/har`, screenshot: `/v1/flows/runs/${id}/steps/0/screenshot` }
    const get = (path: string) => fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } })
    const har = await (await get(paths.har)).text()
    expect(har.length).toBeWithin(15_000_000, 20_500_000)
    expect(har).toContain(`Truncated to 256000 of ${POST_BYTES} bytes`)
    expect(har).toContain('the HAR is full')
    expect(har).not.toContain('x'.repeat(256_001))

    // Larger than any real run file, so that reading a file into memory exceeds the limit.
    for (const name of ['requests.har', 'step-0.png']) grow(join(data.path, 'runs', id, name), DOWNLOAD_BYTES)
    for (const path of Object.values(paths)) {
      const before = memoryOfProcess(server.pid)
      const peak = await peakDuring(server.pid, () =>
        Promise.all([1, 2, 3].map(async () => discarded(await get(path)))),
      )
      expect(`${path}: ${peak - before < ALLOWED_BYTES ? 'streamed' : `${(peak - before) / MIB} MiB`}`).toBe(
        `${path}: streamed`,
      )
    }
  })
})

const DOWNLOAD_BYTES = 256 * MIB
const ALLOWED_BYTES = 128 * MIB

/** Extends a file to this length without writing data. */
function grow(path: string, bytes: number): void {
  const file = openSync(path, 'r+')
  ftruncateSync(file, bytes)
  closeSync(file)
}

/** Reads and discards a whole response. Throws when its length differs from the file's. */
async function discarded(response: Response): Promise<void> {
  let bytes = 0
  for await (const part of response.body ?? []) bytes += part.length
  expect([response.status, bytes]).toEqual([200, DOWNLOAD_BYTES])
}

/** Returns the peak memory of a process during an action, in bytes. */
async function peakDuring(pid: number, work: () => Promise<unknown>): Promise<number> {
  let peak = 0
  const look = setInterval(() => {
    peak = Math.max(peak, memoryOfProcess(pid))
  }, 5)
  await work().finally(() => clearInterval(look))
  return peak
}
