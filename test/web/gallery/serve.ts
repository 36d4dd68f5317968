import { join } from 'node:path'
import { buildWeb } from '../../../src/http/web-bundle.ts'

/** Builds and serves the page with all charts. Gone at the end of the block. */
export async function serveGallery(): Promise<{ url: string } & Disposable> {
  const { pages, assets } = await buildWeb([join(import.meta.dir, 'gallery.html')])
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url)
      if (pathname === '/favicon.ico') return new Response(null, { status: 204 })
      const file = pathname === '/' ? pages['gallery.html'] : assets[pathname.split('/').at(-1) ?? '']
      return file
        ? new Response(file.body, { headers: { 'content-type': file.type } })
        : new Response('', { status: 404 })
    },
  })
  return { url: server.url.origin, [Symbol.dispose]: () => void server.stop(true) }
}
