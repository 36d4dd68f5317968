const ga4 = (page: string) =>
  `<script>navigator.sendBeacon('https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=page_view&ep.page=${page}')</script>`
const links = (paths: readonly string[]) => paths.map((path) => `<a href="${path}">${path}</a>`).join(' ')
const html = (title: string, body: string) =>
  new Response(`<!doctype html><title>${title}</title>${body}`, { headers: { 'content-type': 'text/html' } })

export interface TrapSite extends AsyncDisposable {
  origin: string
  /** Number of requests for each path, including its query. */
  asked: Map<string, number>
}

/**
 * Starts a shop with traps for crawlers: a calendar, filters, session ids in URLs, redirect loops, endless pages, and
 * files.
 */
export function trapSite(products: number): TrapSite {
  const asked = new Map<string, number>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, search, origin, searchParams } = new URL(request.url)
      asked.set(pathname + search, (asked.get(pathname + search) ?? 0) + 1)
      const [, first = '', second = ''] = pathname.split('/')
      if (pathname === '/robots.txt') return new Response('User-agent: *\nDisallow: /private')
      if (pathname === '/sitemap.xml')
        return new Response(
          `<urlset><url><loc>${origin}/product/1</loc></url><url><loc>${origin}/product/2</loc></url></urlset>`,
        )
      if (pathname === '/') {
        const items = Array.from({ length: products }, (_, n) => `/product/${n + 1}?PHPSESSID=${crypto.randomUUID()}`)
        const traps = [
          '/calendar/2031/1',
          '/list',
          '/circle/a',
          '/file.pdf',
          '/private',
          '/gone',
          '/old',
          '/big',
          '/loop',
        ]
        return html('Home', ga4('home') + links([...items, ...traps, 'https://other.example/', '/?utm_source=x#top']))
      }
      if (first === 'product')
        return html(
          `Product ${second}`,
          ga4(second) + links(['/', `/product/${Number(second) + 1 > products ? 1 : Number(second) + 1}`]),
        )
      if (first === 'calendar') {
        const [, , year, month] = pathname.split('/').map(Number)
        return html('Calendar', links([`/calendar/${year}/${(month ?? 0) + 1}`, `/calendar/${(year ?? 0) + 1}/1`]))
      }
      if (first === 'list') {
        const more = Array.from({ length: 30 }, (_, n) => `/list?color=${n}&size=${searchParams.get('size') ?? n}`)
        return html('List', links(more))
      }
      if (first === 'circle') return Response.redirect(`/circle/${second === 'a' ? 'b' : 'a'}`)
      if (pathname === '/old') return Response.redirect('/product/3')
      if (pathname === '/file.pdf') return new Response('%PDF', { headers: { 'content-type': 'application/pdf' } })
      if (pathname === '/big') return html('Big', `<!--${'x'.repeat(20 * 1024 * 1024)}-->`)
      if (pathname === '/loop') return html('Loop', '<script>setTimeout(() => { while (true) {} }, 50)</script>')
      return new Response('<title>Not found</title>', { status: 404, headers: { 'content-type': 'text/html' } })
    },
  })
  return {
    origin: `http://127.0.0.1:${server.port}`,
    asked,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** Expected crawl results for the other pages: the status, and whether there is an error. */
export const OTHER_PAGES: Readonly<Record<string, [number | null, boolean]>> = {
  '/': [200, false],
  '/circle/a': [null, true],
  '/gone': [404, false],
  '/big': [200, false],
  '/loop': [200, true],
}
