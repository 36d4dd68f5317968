import { createServer } from 'node:http'

/**
 * A tiny shop: a product, a cart and a thank-you page that reports the order to Google Analytics 4.
 *
 * @param {{dropsTransactionId?: boolean}} options true for a release whose purchase has lost the transaction id
 */
export function shop({ dropsTransactionId = false } = {}) {
  const send = (event, parameters = '') =>
    `navigator.sendBeacon('https://www.google-analytics.com/g/collect?v=2&tid=G-SHOP1&cid=1.2&en=${event}${parameters}')`
  const order = `${dropsTransactionId ? '' : '&ep.transaction_id=T-1001'}&epn.value=42.5&cu=EUR`
  const pages = {
    '/': `<h1>Shirt</h1><a href="/cart">Add to cart</a><script>${send('page_view')}</script>`,
    '/cart': `<h1>Cart</h1><a href="/thanks">Buy</a><script>${send('page_view')};${send('add_to_cart', '&cu=EUR')}</script>`,
    '/thanks': `<h1>Thank you</h1><script>${send('page_view')};${send('purchase', order)}</script>`,
  }
  return createServer((request, response) => {
    const page = pages[request.url]
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/html' })
    response.end(page ? `<!doctype html><title>Shop</title>${page}` : '')
  })
}
