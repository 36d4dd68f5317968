import { PAGE_PATHS, type PageArea } from '../contract/page-paths.ts'
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
  /** Asset names of the scripts that the pages of an area load in addition to the shared scripts. */
  areas: Readonly<Partial<Record<PageArea, readonly string[]>>>
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

const AREA_PATTERNS = Object.entries(PAGE_PATHS).map(
  ([area, paths]) =>
    [area as PageArea, RegExp(`^(?:${Object.values(paths).join('|').replaceAll('$id', '[^/]+')})$`)] as const,
)

/** Returns the area of the page at the path of a URL; null if there is no such page. */
const areaOf = (path: string): PageArea | null => AREA_PATTERNS.find(([, pattern]) => pattern.test(path))?.[0] ?? null

/** Paths of documents. The page name is the path without its leading slash. */
const DOCUMENTS = /^\/docs\/[a-z]+(?:\/[\da-z-]+)?$/

/** Serves the pages, their assets and `/openapi.json`. */
export function webPages({ bundle, describe }: WebPageDeps): Pages {
  let description: StaticFile | null = null
  const page = async (name: string, headers: Record<string, string>, area?: PageArea): Promise<Found> => {
    const { pages, areas } = await bundle()
    // Lets the browser fetch the area's scripts in parallel with the shared script. Otherwise, they would be requested
    // only when the shared script runs.
    const link = (area && areas[area])
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
    const area = areaOf(path)
    if (area !== null) return page('index.html', DASHBOARD_HEADERS, area)
    if (path === '/docs') return page('api-reference.html', DOCS_HEADERS)
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
