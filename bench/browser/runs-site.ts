import { sized } from '../tools/bench-size.ts'

/**
 * A site for flow tests and audits. Its pages have text, a style sheet, images, and tags from two vendors. `stop` shuts
 * the site down.
 */
export interface RunsSite {
  /** URL without a trailing slash. */
  origin: string
  stop(): void
}

/** Number of pages on the site. Each page links to the next ten. */
export const SITE_PAGES = sized(50, 3)
const LINKS = sized(10, 2)
const PICTURES = 8
const PARAGRAPHS = 40

const TEXT = 'A shoe is made of a sole and what holds it to the foot. '.repeat(8)
const PIXEL = Uint8Array.fromBase64('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7')

function page(n: number): string {
  const links = Array.from({ length: LINKS }, (_, at) => (n + at + 1) % SITE_PAGES)
  return `<!doctype html><title>Page ${n}</title><link rel="stylesheet" href="/style.css"><h1>Page ${n}</h1>
    ${links.map((to) => `<a href="/page/${to}">Page ${to}</a>`).join(' ')}
    <a id="next" href="/page/${(n + 1) % SITE_PAGES}">Next</a>
    ${Array.from({ length: PICTURES }, (_, at) => `<img width="40" height="40" src="/picture/${at}.gif">`).join('')}
    ${`<p>${TEXT}</p>`.repeat(PARAGRAPHS)}
    <script>
      fetch('https://www.google-analytics.com/g/collect?v=2&tid=G-1&cid=1.2&en=page_view&ep.page=${n}', { method: 'POST', mode: 'no-cors' }).catch(() => {})
      new Image().src = 'https://www.facebook.com/tr/?id=1&ev=PageView&cd[page]=${n}'
    </script>`
}

export function openRunsSite(): RunsSite {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname.startsWith('/picture/')) return new Response(PIXEL, { headers: { 'content-type': 'image/gif' } })
      if (pathname === '/style.css') {
        return new Response('body { font: 16px sans-serif }', { headers: { 'content-type': 'text/css' } })
      }
      const [, n] = /^\/page\/(\d+)$/.exec(pathname) ?? []
      if (n === undefined) return new Response('', { status: 404 })
      return new Response(page(Number(n)), { headers: { 'content-type': 'text/html' } })
    },
  })
  return { origin: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) }
}
