import { join } from 'node:path'
import { buildWeb } from '../../../src/build/web-bundle.ts'
import { DASHBOARD_HEADERS, PAGE_HEADERS } from '../../../src/http/headers.ts'
import { fileResponse, IMMUTABLE, REVALIDATED } from '../../../src/http/static-files.ts'
import { ASSETS_PATH } from '../../../src/http/web-pages.ts'

/**
 * Serves a page that contains only React and one heading. The page is built, compressed and cached like the dashboard,
 * with the same security headers.
 */
export async function openMinimalPage(): Promise<{ url: string; stop(): void }> {
  const { pages, assets } = await buildWeb([join(import.meta.dir, 'minimal-page.html')], { effort: 'best' })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url)
      const asset = assets[pathname.slice(ASSETS_PATH.length)]
      if (asset) return fileResponse(request, asset, { ...PAGE_HEADERS, 'cache-control': IMMUTABLE })
      const page = pathname === '/' && pages['minimal-page.html']
      return page
        ? fileResponse(request, page, { ...DASHBOARD_HEADERS, 'cache-control': REVALIDATED })
        : new Response(null, { status: 404 })
    },
  })
  return { url: server.url.origin, stop: () => void server.stop(true) }
}
