import { existsSync, readFileSync, rmSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { CDPSession, Protocol } from 'puppeteer-core'
import { startBrowser } from './browser/chromium.ts'
import { until } from './run-program.ts'

const USAGE = `usage: ./run test/record-sdk.ts FOLDER SNIPPET OUT.har [PREFIX=FILE …]

Runs a vendor's public SDK in Chromium on a page of https://shop.example and writes its requests to a HAR file.
No request leaves this machine: all responses are local.

FOLDER       folder in which the SDK is installed (npm install --prefix FOLDER PACKAGE)
SNIPPET      code that uses the SDK: a module (.js, .ts), bundled with its imports from FOLDER,
             or a page (.html), to which FOLDER/node_modules is served under /node_modules/
PREFIX=FILE  file returned for requests whose URL starts with PREFIX; all other responses are empty`

const PAGE = 'https://shop.example/checkout?utm_source=news'
/** The recording ends once this time has passed without a request. Most SDKs send batched events within 5 s. */
const QUIET_MS = 6000
const LONGEST_MS = 60_000
const PIXEL = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64')

/** The body and content type of a response. */
interface Answer {
  body: Buffer
  type: string
}

/** A HAR entry that has only the fields read by decoders (http://www.softwareishard.com/blog/har-12-spec/). */
interface HarEntry {
  startedDateTime: string
  _resourceType: string
  request: {
    method: string
    url: string
    headers: { name: string; value: string }[]
    queryString: []
    /** Binary data is base64-encoded. */
    postData?: { mimeType: string; text: string; encoding?: 'base64' }
  }
  response: { status: number; headers: []; content: { size: 0 } }
}

export interface Har {
  log: { version: '1.2'; creator: { name: string; version: string }; entries: HarEntry[] }
}

export interface Recording {
  folder: string
  snippet: string
  /** Responses by URL prefix. */
  answers?: ReadonlyMap<string, Answer>
  quietMs?: number
}

/**
 * Records the requests that an SDK sends. Throws when the snippet can't be bundled. Errors on the page are written to
 * stderr.
 */
export async function recordSdk({ folder, snippet, answers = new Map(), quietMs = QUIET_MS }: Recording): Promise<Har> {
  const own = await ownFiles(folder, snippet)
  const entries: HarEntry[] = []
  let askedAt = performance.now()
  await using chromium = await startBrowser()
  const page = await chromium.browser.newPage()
  page.on('pageerror', (error) => console.error(`page: ${error}`))
  await answerAll(await page.createCDPSession(), (asked) => {
    askedAt = performance.now()
    const mine = own(asked.request.url)
    if (mine) return mine
    if (asked.request.method !== 'OPTIONS') entries.push(entryOf(asked))
    const given = [...answers].find(([prefix]) => asked.request.url.startsWith(prefix))
    return given?.[1] ?? emptyAnswer(asked.resourceType)
  })
  const quiet = () => until('the SDK to finish', () => performance.now() - askedAt > quietMs, LONGEST_MS)
  await page.goto(PAGE)
  await quiet()
  // Many SDKs send their remaining events when the page is closed.
  await page.goto('about:blank')
  await quiet()
  return { log: { version: '1.2', creator: { name: 'record-sdk', version: '1' }, entries } }
}

/**
 * Responds to every request of the page and its workers in place of the network. Requests from frames of other sites
 * are blocked.
 */
async function answerAll(
  session: CDPSession,
  answer: (asked: Protocol.Fetch.RequestPausedEvent) => Answer,
): Promise<void> {
  session.on('Fetch.requestPaused', (asked) => {
    const { requestId, request } = asked
    if (!/^https?:/.test(request.url)) {
      void session.send('Fetch.continueRequest', { requestId })
      return
    }
    const { body, type } = answer(asked)
    const responseHeaders = [...corsHeaders(request.headers), { name: 'content-type', value: type }]
    // If the page has been closed in the meantime, it needs no response.
    session
      .send('Fetch.fulfillRequest', {
        requestId,
        responseCode: 200,
        responseHeaders,
        body: body.toString('base64'),
      })
      .catch(() => {})
  })
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] })
}

function corsHeaders(asked: Record<string, string>): { name: string; value: string }[] {
  const header = (wanted: string) => Object.entries(asked).find(([name]) => name.toLowerCase() === wanted)?.[1]
  return [
    { name: 'access-control-allow-origin', value: header('origin') ?? '*' },
    { name: 'access-control-allow-credentials', value: 'true' },
    { name: 'access-control-allow-methods', value: 'GET, POST, PUT, PATCH, DELETE' },
    { name: 'access-control-allow-headers', value: header('access-control-request-headers') ?? '*' },
  ]
}

function emptyAnswer(resourceType: string): Answer {
  if (resourceType === 'Image') return { body: PIXEL, type: 'image/gif' }
  if (resourceType === 'Script') return { body: Buffer.from(''), type: 'text/javascript' }
  return { body: Buffer.from('{}'), type: 'application/json' }
}

function entryOf({ request, resourceType }: Protocol.Fetch.RequestPausedEvent): HarEntry {
  const headers = Object.entries(request.headers)
    .map(([name, value]) => ({ name: name.toLowerCase(), value }))
    .filter(({ name }) => name === 'content-type' || name === 'content-encoding')
  const bytes = Buffer.concat((request.postDataEntries ?? []).map(({ bytes }) => Buffer.from(bytes ?? '', 'base64')))
  const mimeType = headers.find(({ name }) => name === 'content-type')?.value ?? ''
  const { method, url } = request
  return {
    startedDateTime: new Date().toISOString(),
    _resourceType: resourceType.toLowerCase(),
    request: {
      method,
      url,
      headers,
      queryString: [],
      ...(bytes.length > 0 ? { postData: { mimeType, ...textOf(bytes) } } : {}),
    },
    response: { status: 200, headers: [], content: { size: 0 } },
  }
}

function textOf(bytes: Buffer): { text: string; encoding?: 'base64' } {
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? { text } : { text: bytes.toString('base64'), encoding: 'base64' }
}

/**
 * Returns a function that returns the shop's own files: the page, its script and the packages. For other URLs, which
 * are recorded, the function returns null.
 */
async function ownFiles(folder: string, snippet: string): Promise<(url: string) => Answer | null> {
  const isPage = extname(snippet) === '.html'
  const html = isPage ? readFileSync(snippet, 'utf8') : '<script type="module" src="/snippet.js"></script>'
  const page = answerWith(`<!doctype html><title>Checkout</title><button id="buy">Buy</button>${html}`, '.html')
  const script = answerWith(isPage ? '' : await bundle(folder, snippet), '.js')
  return (url) => {
    const { host, pathname, href } = new URL(url)
    if (host !== 'shop.example') return null
    if (href === PAGE) return page
    if (pathname === '/snippet.js') return script
    if (pathname === '/favicon.ico') return emptyAnswer('Image')
    const path = join(folder, decodeURI(pathname))
    return pathname.startsWith('/node_modules/') && existsSync(path) ? fileAnswer(path) : null
  }
}

/** Bundles the snippet as if it were in the folder, so that its imports are resolved there. */
async function bundle(folder: string, snippet: string): Promise<string> {
  const entry = join(folder, `record-sdk-${process.pid}${extname(snippet)}`)
  await Bun.write(entry, readFileSync(snippet, 'utf8'))
  try {
    const { outputs } = await Bun.build({
      entrypoints: [entry],
      target: 'browser',
      define: { 'process.env.NODE_ENV': '"production"' },
    })
    return (await outputs[0]?.text()) ?? ''
  } finally {
    rmSync(entry)
  }
}

function fileAnswer(path: string): Answer {
  return answerWith(readFileSync(path), extname(path))
}

function answerWith(content: string | Buffer, extension: string): Answer {
  const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json' }
  return { body: Buffer.from(content), type: types[extension] ?? 'application/octet-stream' }
}

if (import.meta.main) {
  const [folder, snippet, out, ...given] = process.argv.slice(2)
  if (!folder || !snippet || !out || given.some((one) => !one.includes('='))) {
    console.error(USAGE)
    process.exit(2)
  }
  const answers = given.map((one): [string, Answer] => {
    const equals = one.lastIndexOf('=')
    return [one.slice(0, equals), fileAnswer(one.slice(equals + 1))]
  })
  const har = await recordSdk({ folder, snippet, answers: new Map(answers) })
  await Bun.write(out, `${JSON.stringify(har)}\n`)
  console.log(`${har.log.entries.length} requests; to decode them: ./run src/main.ts decode --har ${out}`)
}
