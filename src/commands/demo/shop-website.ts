/** The shop as a website on loopback, used by flow tests and audits. */
export interface ShopWebsite {
  /** URL without a trailing slash. */
  origin: string
  /**
   * Releases a new version, in which a button is renamed and two tags are missing: the button's tag and one on the
   * shirts page.
   */
  release(): void
  close(): Promise<void>
}

const STYLE = `body { max-width: 720px; margin: 48px auto; padding: 0 24px; font: 16px/1.5 system-ui, sans-serif; color: #1d2433 }
  nav a { margin-right: 24px } h1 { margin: 32px 0 8px }
  button { padding: 12px 20px; border: 0; border-radius: 6px; background: #2b4acb; color: #fff; font: inherit }
  input { padding: 11px; border: 1px solid #8a93a6; border-radius: 6px; font: inherit }`

/** Requests in the same format as those of the vendors' code. They do not leave the browser of a flow test. */
const TAGS = `
  const send = (url, params) => navigator.sendBeacon(url + new URLSearchParams(params))
  const ga = (en, params = {}) =>
    send('https://www.google-analytics.com/g/collect?', { v: '2', tid: 'G-ABCDE12345', cid: '7.1', en, dl: location.href, ...params })
  const fb = (ev, params = {}) => send('https://www.facebook.com/tr/?', { id: '1234567890123456', ev, ...params })
  const on = (id, act) => document.getElementById(id).addEventListener('click', act)`
const VIEW = `ga('page_view')`
const ITEM = `{ 'ep.item_id': 'blue-shirt', 'epn.value': '24.90', 'ep.currency': 'EUR' }`

/** Title, content and script of each page, before and after the release. */
const PAGES: Record<string, (isReleased: boolean) => [title: string, content: string, script: string]> = {
  '/': () => ['Spring is here', '<p>New <a href="/category/shirts">shirts</a>, coats and caps.</p>', VIEW],
  '/category/shirts': (isReleased) => [
    ...(['Shirts', '<p><a id="blue" href="/product/blue-shirt">Blue shirt</a>, 24.90 €</p>'] as const),
    isReleased ? '' : VIEW,
  ],
  '/product/blue-shirt': () => [
    ...(['Blue shirt', '<p>Linen, made to last. 24.90 €</p><button id="add">Add to cart</button>'] as const),
    `${VIEW}; ga('view_item', ${ITEM})
     on('add', () => { ga('add_to_cart', ${ITEM}); fb('AddToCart', { 'cd[value]': '24.90' }); location.href = '/cart' })`,
  ],
  '/cart': () => [
    ...(['Cart', '<p>One blue shirt, 24.90 €</p><button id="buy">Buy now</button>'] as const),
    `${VIEW}; on('buy', () => { location.href = '/thank-you' })`,
  ],
  '/thank-you': () => [
    ...(['Thank you', '<p>Your order is on its way.</p>'] as const),
    `${VIEW}; ga('purchase', { 'ep.transaction_id': 'T-1001', 'epn.value': '24.90', 'ep.currency': 'EUR' })
     fb('Purchase', { 'cd[order_id]': 'T-1001', 'cd[value]': '24.90', 'cd[currency]': 'EUR' })`,
  ],
  '/newsletter': (isReleased) => {
    const id = isReleased ? 'cta-2' : 'join'
    return [
      'Newsletter',
      `<p><label>Your e-mail address <input id="email" type="email"></label></p>
       <button id="${id}">Join the newsletter</button> <p id="said" role="status"></p>`,
      `${VIEW}; on('${id}', () => {
         ${isReleased ? '' : `ga('sign_up', { 'ep.method': 'newsletter' })`}
         document.getElementById('said').textContent = 'Welcome!'
       })`,
    ]
  },
}

export function openShopWebsite(): ShopWebsite {
  let isReleased = false
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const page = PAGES[new URL(request.url).pathname]
      if (!page) return new Response('Page not found.', { status: 404 })
      const [title, content, script] = page(isReleased)
      const nav =
        '<a href="/">Sample Shop</a> <a href="/category/shirts">Shirts</a> <a href="/newsletter">Newsletter</a>'
      const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title} · Sample Shop</title><style>${STYLE}</style>
        <nav>${nav} <a href="/sale">Sale</a></nav><main><h1>${title}</h1>${content}</main><script>${TAGS}; ${script}</script></html>`
      return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } })
    },
  })
  return {
    origin: `http://127.0.0.1:${server.port}`,
    release() {
      isReleased = true
    },
    close: () => server.stop(true),
  }
}
