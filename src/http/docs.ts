import { Elysia } from 'elysia'
import rapidoc from 'rapidoc/dist/rapidoc-min.js' with { type: 'text' }
import page from '../web/docs.html' with { type: 'text' }
import script from '../web/docs.js' with { type: 'text' }
import { API_HEADERS, PAGE_HEADERS } from './headers.ts'
import { staticFile } from './static-file.ts'

const SCRIPT = 'text/javascript; charset=utf-8'

/**
 * `GET /openapi.json`, the description of the API, and `GET /docs`, the page that shows it to people. The description
 * is asked for once, at its first use.
 */
export function docsPages(describe: () => object) {
  let description: ReturnType<typeof staticFile> | null = null
  const answers = {
    '/docs': staticFile(String(page), 'text/html; charset=utf-8', PAGE_HEADERS),
    '/docs/page.js': staticFile(script, SCRIPT, PAGE_HEADERS),
    '/docs/rapidoc.js': staticFile(rapidoc, SCRIPT, PAGE_HEADERS),
    '/openapi.json'(request: Request) {
      description ??= staticFile(JSON.stringify(describe()), 'application/json', API_HEADERS)
      return description(request)
    },
  }
  const app = new Elysia({ normalize: false })
  for (const [path, answer] of Object.entries(answers)) app.get(path, ({ request }) => answer(request))
  return app
}
