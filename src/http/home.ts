import { Elysia } from 'elysia'
import page from '../web/home.html' with { type: 'text' }

/** No outside host, no inline script from anywhere but this page itself. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** `GET /`: one plain page over `/v1`. */
export function homePage(script: string) {
  return new Elysia({ normalize: false })
    .get('/', () => new Response(String(page), { headers: HEADERS }), { detail: { hide: true } })
    .get(
      '/home.js',
      () => new Response(script, { headers: { ...HEADERS, 'content-type': 'text/javascript; charset=utf-8' } }),
      { detail: { hide: true } },
    )
}
