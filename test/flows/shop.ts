import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../run-program.ts'

/** A shop for flow tests. */
export interface Shop extends Disposable {
  /** Without a trailing slash. */
  origin: string
}

const PRICE = { cu: 'EUR', 'epn.value': '49.9' }

/**
 * Returns the script that runs on every page. It sends requests as the libraries of two vendors do, and contains the
 * shop's fault.
 */
const scriptOf = (fault: string) => `
const F = ${JSON.stringify(fault)}
const at = (name, ...faults) => faults.some((one) => F === name + ' ' + one)
function ga(en, params = {}) {
  const send = (name, data) => {
    const query = new URLSearchParams({ v: '2', tid: F === en + ' account' ? 'G-OTHER' : 'G-SHOP', cid: '1.2', _p: '7', _s: String(++ga.count), en: name, ...data })
    const url = 'https://www.google-analytics.com/g/collect?' + query
    if (F === en + ' beacon') addEventListener('pagehide', () => navigator.sendBeacon(url))
    else if (F === en + ' worker') new Worker(URL.createObjectURL(new Blob(['fetch(' + JSON.stringify(url) + ', { mode: "no-cors" })'])))
    else fetch(url, { method: 'POST', mode: 'no-cors', keepalive: true })
  }
  if (F === en + ' gone' || F === 'tags gone') return
  if (F === en + ' renamed') return send(en + '_new', params)
  if (F === en + ' currency') params = { ...params, cu: 'USD' }
  if (F === en + ' value') params = { ...params, 'epn.value': '0' }
  if (F === en + ' id') { params = { ...params }; delete params['ep.transaction_id'] }
  const later = F === en + ' late' ? 700 : F === en + ' too late' ? 60000 : 0
  setTimeout(() => { send(en, params); if (F === en + ' double') send(en, params) }, later)
}
ga.count = 0
function fb(ev, params = {}) {
  if (F === ev + ' gone' || F === 'tags gone') return
  const url = () => 'https://www.facebook.com/tr/?' + new URLSearchParams({ id: '123', ev, ts: String(Date.now()), ...params })
  new Image().src = url()
  if (F === ev + ' double') setTimeout(() => { new Image().src = url() }, 20)
}
`

const pages: Record<string, (fault: string, origin: string) => string> = {
  '/': (fault) => `<h1>The shop</h1>
    <a id="red" href="/product">Red shoes</a> <a id="sale" href="/product" target="_blank">Sale</a>
    ${fault.startsWith('banner') ? '<div id="banner" style="position:fixed;inset:0;background:#fffc"><button id="ok">Accept all cookies</button><button>Reject all</button></div>' : ''}
    <script>
      const begin = () => { ga('page_view'); if (F === 'debug') ga('debug') }
      if (F === 'banner') ok.onclick = () => { banner.remove(); begin() }
      else begin()
      if (F === 'error') setTimeout(() => { throw new Error('broken on purpose') })
      if (F === 'busy') setInterval(() => fetch('/poll'), 100)
      if (F === 'alert') alert('Welcome')
      if (F === 'private') location = 'http://169.254.169.254/latest/meta-data/'
      if (F === 'freeze') for (;;) {}
    </script>`,
  '/product': (fault) => `<h1>Red shoes</h1>
    <buy-box></buy-box>${fault === 'button twice' ? '<buy-box></buy-box>' : ''}
    <p id="state"></p>
    <script>
      customElements.define('buy-box', class extends HTMLElement {
        connectedCallback() {
          const root = this.attachShadow({ mode: 'open' })
          if (F === 'button gone') return
          const id = at('button', 'renamed', 'twice') || F === 'renamed, no tag' ? 'b' + Math.random().toString(36).slice(2) : 'add'
          root.innerHTML = '<button id="' + id + '">' + (F === 'button reworded' ? 'Into the bag' : 'Add to basket') + '</button>'
          root.querySelector('button').onclick = () => {
            if (F === 'confirm' && !confirm('Really?')) return
            if (F === 'freeze on click') for (;;) {}
            if (F === 'crash on click') return void fetch('/crash')
            if (F === 'download') location = '/invoice.pdf'
            if (F === 'new tab') open('/thanks')
            history.pushState(null, '', '/product/added')
            if (F !== 'renamed, no tag') ga('add_to_cart', ${JSON.stringify(PRICE)})
            fb('AddToCart', { 'cd[value]': '49.9' })
            if (F === 'unwanted') ga('remove_from_cart')
          }
        }
      })
      ga('view_item')
    </script>`,
  '/pay': (fault, origin) => `<h1>Pay</h1>${fault === 'advert' ? '<iframe src="/login"></iframe>' : ''}
    <iframe src="${origin.replace('127.0.0.1', '127.0.0.2')}/card" width="400" height="200"></iframe>
    <script>
      if (F === 'beforeunload') addEventListener('beforeunload', (event) => event.preventDefault())
      addEventListener('message', () => { location = F === 'certificate' ? '/to-bad-certificate' : F === 'circle' ? '/circle' : '/thanks' })
      ga('begin_checkout')
    </script>`,
  '/card': () => `<button id="pay" onclick="parent.postMessage('paid', '*')">Pay now</button>`,
  '/login': () => `<h1>Sign in</h1>
    <form onsubmit="event.preventDefault(); done()">
      <label>E-mail <input id="email" type="email"></label>
      <label>Password <input id="password" type="password"></label>
      <button id="in">Sign in</button>
    </form>
    <script>
      function done() {
        if (email.value !== 'ann@shop.test' || password.value !== 'open sesame') return
        if (F !== 'login gone') ga('login', { 'ep.method': 'password' })
        document.querySelector('form').remove()
      }
    </script>`,
  '/thanks': () => `<h1>Thank you</h1>
    <script>
      ga('purchase', { ...${JSON.stringify(PRICE)}, 'ep.transaction_id': 'T' + Date.now() })
      fb('Purchase', { 'cd[value]': '49.9', 'cd[currency]': 'EUR' })
    </script>`,
}

/**
 * Serves the shop on 127.0.0.1 and its frame on 127.0.0.2.
 * @param fault the fault of the shop; empty for none
 * @param crash called when a page requests `/crash`; crashes that page
 */
export function openShop(fault: string, crash: () => Promise<unknown>): Shop {
  const bad = untrustedServer()
  const answer = (request: Request): Response | Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname === '/circle') return Response.redirect(`${origin}/circle`, 302)
    if (pathname === '/to-bad-certificate') return Response.redirect(`https://127.0.0.1:${bad.port}/`, 302)
    if (pathname === '/poll') return new Response('')
    if (pathname === '/crash') return crash().then(() => new Response(''))
    if (pathname === '/invoice.pdf') {
      return new Response('%PDF-', { headers: { 'content-disposition': 'attachment; filename="invoice.pdf"' } })
    }
    if (pathname === '/product' && fault === 'not found')
      return new Response('<h1>Gone</h1>', { status: 404, headers: HTML })
    if (pathname === '/product' && fault === 'broken')
      return new Response('<h1>Oops</h1>', { status: 500, headers: HTML })
    if (pathname === '/product' && fault === 'hang') return new Promise(() => {})
    const page = pages[pathname === '/product/added' ? '/product' : pathname]
    if (!page) return new Response('', { status: 404 })
    const html = `<!doctype html><title>Shop</title><script>${scriptOf(fault)}</script>${page(fault, origin)}`
    const response = new Response(html, { headers: HTML })
    return fault === 'slow' ? Bun.sleep(800).then(() => response) : response
  }
  const server = Bun.serve({ port: 0, hostname: '0.0.0.0', idleTimeout: 0, fetch: answer })
  const origin = `http://127.0.0.1:${server.port}`
  return {
    origin,
    [Symbol.dispose]() {
      server.stop(true)
      bad[Symbol.dispose]()
    },
  }
}

/**
 * Starts an HTTPS server with an untrusted certificate. Without openssl, it serves HTTP on the same port, which a
 * browser also rejects.
 */
function untrustedServer() {
  untrusted ??= newCertificate()
  const tls = untrusted.key === '' ? {} : { tls: untrusted }
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', ...tls, fetch: () => new Response('secret') })
  return { port: server.port, [Symbol.dispose]: () => void server.stop(true) }
}

/** The certificate, created once. */
let untrusted: { key: string; cert: string } | null = null

/** Creates an untrusted certificate in PEM format; empty without openssl. */
function newCertificate() {
  using folder = temporaryFolder()
  const openssl = Bun.which('openssl')
  if (!openssl) return { key: '', cert: '' }
  const [key = '', cert = ''] = ['key.pem', 'cert.pem'].map((name) => join(folder.path, name))
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1']
  Bun.spawnSync([openssl, ...words, '-keyout', key, '-out', cert])
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

const HTML = { 'content-type': 'text/html' }
