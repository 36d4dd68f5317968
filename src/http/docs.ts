import { createHash } from 'node:crypto'
import { Elysia } from 'elysia'
import rapidoc from 'rapidoc/dist/rapidoc-min.js' with { type: 'text' }
import page from '../web/docs.html' with { type: 'text' }
import script from '../web/docs.js' with { type: 'text' }
import { API_HEADERS, PAGE_HEADERS } from './headers.ts'

const SCRIPT = 'text/javascript; charset=utf-8'

/** The answer with this text, or 304 when the browser has it; browsers keep it, and ask each time whether it changed. */
function cached(text: string, type: string, headers: Record<string, string>): (request: Request) => Response {
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
  const all = { ...headers, 'cache-control': 'no-cache', 'content-type': type, etag }
  return ({ headers }) => {
    const known = headers.get('if-none-match')?.split(',') ?? []
    // A proxy that compresses the text marks the tag as weak: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3
    const isKnown = known.some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
    return isKnown ? new Response(null, { status: 304, headers: all }) : new Response(text, { headers: all })
  }
}

/**
 * `GET /openapi.json`, the description of the API, and `GET /docs`, the page that shows it to people. The description
 * is asked for once, at its first use.
 */
export function docsPages(describe: () => object) {
  let description: ReturnType<typeof cached> | null = null
  const answers = {
    '/docs': cached(String(page), 'text/html; charset=utf-8', PAGE_HEADERS),
    '/docs/page.js': cached(script, SCRIPT, PAGE_HEADERS),
    '/docs/rapidoc.js': cached(rapidoc, SCRIPT, PAGE_HEADERS),
    '/openapi.json'(request: Request) {
      description ??= cached(JSON.stringify(describe()), 'application/json', API_HEADERS)
      return description(request)
    },
  }
  const app = new Elysia({ normalize: false })
  for (const [path, answer] of Object.entries(answers)) app.get(path, ({ request }) => answer(request))
  return app
}
