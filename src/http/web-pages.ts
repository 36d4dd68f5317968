import { DASHBOARD } from '../contract/dashboard-url-paths.ts'
import { AppError } from '../core/error.ts'
import { errorResponse } from './error-responses.ts'
import { API_HEADERS, DASHBOARD_HEADERS, DOCS_HEADERS, PAGE_HEADERS } from './headers.ts'
import { fileResponse, IMMUTABLE, REVALIDATED, type StaticFile, staticFile } from './static-files.ts'

/** The server's pages and the files they load, ready to be sent. */
export interface WebBundle {
  /**
   * Pages by file name (`home.html`), and documents by path (`docs/use/alerts`). Pages refer to assets. `web-pages.ts`
   * maps URLs to the names of pages.
   */
  pages: Readonly<Record<string, StaticFile>>
  /** Scripts, styles and images by file name, which contains a hash of the content, such as `home-rcsx9z4h.js`. */
  assets: Readonly<Record<string, StaticFile>>
  /**
   * Asset names of the scripts that a section's pages load in addition to the shared scripts. The keys are folder
   * names, such as `issues`.
   */
  rooms: Readonly<Record<string, readonly string[]>>
}

/** The path prefix of all assets. */
export const ASSETS_PATH = '/assets/'

export interface WebPageDeps {
  bundle(): Promise<WebBundle>
  /** Returns the OpenAPI document. Called once, on first use. */
  describe(): object
}

export interface Pages {
  /** Handles a request for a page, an asset or the API description. Returns null for any other request. */
  answer(request: Request): Promise<Response> | null
  /** Returns the dashboard's "not found" page with status 404 to a browser. Returns null for other clients. */
  missing(request: Request): Promise<Response> | null
}

/** A file to send, with its headers. The file is null when the URL matches no file. */
interface Found {
  file: StaticFile | null
  headers: Record<string, string>
}

/**
 * Path of the list of messages that the demo has sent. Servers other than the demo return 204: pages request the path
 * on every server, and browsers would log a 404 as an error.
 */
export const DEMO_INBOX_PATH = '/demo/inbox'

/** The folder in `src/web/pages` for each first segment of a URL path. */
const ROOMS: Readonly<Record<string, string>> = {
  '': 'overview',
  setup: 'sign-in',
  login: 'overview',
  reset: 'sign-in',
  invite: 'sign-in',
}
const roomOf = (path: string) => {
  const [, first = ''] = path.split('/')
  return ROOMS[first] ?? first
}

/** Returns a pattern that matches the paths. `{id}` matches any segment, and `{a|b}` matches either word. */
function patternOf(addresses: readonly string[]): RegExp {
  const parts = addresses.map((address) => address.replace('{id}', '[^/]+').replaceAll('{', '(?:').replaceAll('}', ')'))
  return new RegExp(`^(?:${parts.join('|')})$`)
}

const PAGES = [
  { paths: patternOf(DASHBOARD), name: 'index.html', headers: DASHBOARD_HEADERS },
  { paths: /^\/docs$/, name: 'api-reference.html', headers: DOCS_HEADERS },
]
/** Paths of documents. The page name is the path without its leading slash. */
const DOCUMENTS = /^\/docs\/[a-z]+(?:\/[\da-z-]+)?$/

/** Serves the pages, their assets and `/openapi.json`. */
export function webPages({ bundle, describe }: WebPageDeps): Pages {
  let description: StaticFile | null = null
  const page = async (name: string, headers: Record<string, string>, room?: string): Promise<Found> => {
    const { pages, rooms } = await bundle()
    // Lets the browser fetch the section's script in parallel with the shared script. Otherwise, the section's script
    // would be requested only when the shared one runs.
    const link = rooms[room ?? '']
      ?.map((script) => `<${ASSETS_PATH}${script}>; rel=modulepreload; fetchpriority=low`)
      .join(', ')
    return { file: pages[name] ?? null, headers: { ...headers, 'cache-control': REVALIDATED, ...(link && { link }) } }
  }
  const asset = async (name: string): Promise<Found> => {
    const { assets } = await bundle()
    const file = Object.hasOwn(assets, name) ? assets[name] : null
    return { file: file ?? null, headers: { ...PAGE_HEADERS, 'cache-control': IMMUTABLE } }
  }
  const openApi = async (): Promise<Found> => {
    description ??= staticFile('application/json', JSON.stringify(describe()))
    return { file: description, headers: { ...API_HEADERS, 'cache-control': REVALIDATED } }
  }
  const find = (path: string): Promise<Found> | null => {
    const known = PAGES.find(({ paths }) => paths.test(path))
    if (known) return page(known.name, known.headers, known.name === 'index.html' ? roomOf(path) : undefined)
    if (path.startsWith(ASSETS_PATH)) return asset(path.slice(ASSETS_PATH.length))
    return path === '/openapi.json' ? openApi() : null
  }
  const respond = async (request: Request, found: Promise<Found>) => {
    const { file, headers } = await found
    return file ? fileResponse(request, file, headers) : errorResponse(new AppError('notFound', 'no such file'))
  }
  const respondDocument = async (request: Request, name: string) => {
    const found = await page(name, PAGE_HEADERS)
    return found.file
      ? respond(request, Promise.resolve(found))
      : (missing(request) ?? respond(request, Promise.resolve(found)))
  }
  const missing: Pages['missing'] = (request) => {
    if (!isRead(request) || !request.headers.get('accept')?.includes('text/html')) return null
    // Ignores the conditional headers of the request, because a 304 response would replace the page's own status.
    const plain = new Request(request.url, { method: request.method, headers: encodingsOf(request) })
    return respond(plain, page('index.html', DASHBOARD_HEADERS)).then(
      ({ body, headers }) => new Response(body, { status: 404, headers }),
    )
  }
  const isRead = ({ method }: Request) => method === 'GET' || method === 'HEAD'
  return {
    answer(request) {
      const path = new URL(request.url).pathname
      if (isRead(request) && path === DEMO_INBOX_PATH) {
        return Promise.resolve(new Response(null, { status: 204, headers: API_HEADERS }))
      }
      if (isRead(request) && DOCUMENTS.test(path)) return respondDocument(request, path.slice(1))
      const found = isRead(request) ? find(path) : null
      return found && respond(request, found)
    },
    missing,
  }
}

const encodingsOf = ({ headers }: Request) => ({ 'accept-encoding': headers.get('accept-encoding') ?? '' })
