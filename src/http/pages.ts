import { AppError } from '../core/error.ts'
import { errorResponse } from './errors.ts'
import { API_HEADERS, DOCS_HEADERS, PAGE_HEADERS } from './headers.ts'
import { fileResponse, IMMUTABLE, REVALIDATED, type StaticFile, staticFile } from './static-files.ts'
import { ASSETS_PATH, type WebBundle } from './web-bundle.ts'

export interface PageParts {
  bundle(): Promise<WebBundle>
  /** Returns the OpenAPI document; called once, at its first use. */
  describe(): object
}

/** Answers a request for a page or one of its assets; returns null for any other request. */
export type Pages = (request: Request) => Promise<Response> | null

/** A file to send and its headers; the file is null when there is none at the address. */
interface Found {
  file: StaticFile | null
  headers: Record<string, string>
}

/** Addresses of the pages; links in messages lead to `/issues/{id}`. */
const PAGES = [
  { paths: /^\/(?:issues\/[^/]+)?$/, name: 'home.html', headers: PAGE_HEADERS },
  { paths: /^\/docs$/, name: 'docs.html', headers: DOCS_HEADERS },
]

/** Serves the pages, their assets, and `/openapi.json`. */
export function webPages({ bundle, describe }: PageParts): Pages {
  let description: StaticFile | null = null
  const page = async (name: string, headers: Record<string, string>): Promise<Found> => ({
    file: (await bundle()).pages[name] ?? null,
    headers: { ...headers, 'cache-control': REVALIDATED },
  })
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
    if (known) return page(known.name, known.headers)
    if (path.startsWith(ASSETS_PATH)) return asset(path.slice(ASSETS_PATH.length))
    return path === '/openapi.json' ? openApi() : null
  }
  return (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null
    const found = find(new URL(request.url).pathname)
    return (
      found?.then(({ file, headers }) =>
        file ? fileResponse(request, file, headers) : errorResponse(new AppError('notFound', 'no such file')),
      ) ?? null
    )
  }
}
