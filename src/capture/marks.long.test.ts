import { describe, expect, test } from 'bun:test'
import { onOwnHost } from '../../test/decoders/first-party-requests.ts'
import { captureConfigOf } from './capture-config.ts'

const { marks } = captureConfigOf(
  { vendors: [], capture: { enabled: true, sampleRate: { prod: 1, dev: 1 }, sessionMode: 'memory' } },
  { token: 'pt_1', collectUrl: 'https://collect.example/' },
)

/**
 * Eight times the maximum length of a body that the browser script reads. At this length, a pattern with quadratic
 * running time takes minutes.
 */
const LENGTH = 512 * 1024

/** Returns the strings that a pattern searches for, in order. */
function textsIn(pattern: string): string[] {
  const plain = pattern
    .replaceAll(/\(\?<?[=!:]|\[\\s\\S\]|\\b|\[\^[^\]]*\]/g, '(')
    .replaceAll(/\\[dw]|\[(?:\\[dw]|[A-Z]-)[^\]]*\]/g, '1')
    .replaceAll('\\n', '\n')
    .replaceAll(/\[([^\]])[^\]]*\]/g, '$1')
    .replaceAll(/\\([^s])/g, '$1')
  return [...new Set(plain.split(/[()|*+^$]|\{\d[\d,]*\}|\\s|\.(?=[*{])/).filter(Boolean))]
}

const repeated = (text: string) => text.repeat(Math.ceil(LENGTH / text.length)).slice(0, LENGTH)

/** Generates requests that contain the parts of a pattern as often as possible, but never all of them. */
function* hardFor(pattern: string): Generator<string> {
  const texts = textsIn(pattern)
  for (const [at, text] of texts.entries()) {
    const before = texts.slice(0, at).join('')
    for (const one of [text, `?${text}`, `&${text}1`, `"${text}`]) {
      yield `host?${repeated(one)}\n`
      yield `host?${before}${repeated(one)}\n{`
      yield `host\n${before}${repeated(one)}`
      yield `host\n{${repeated(one)}`
      yield `host\n${repeated(`${one}\n`)}`
      yield `host?${before}\n${repeated(one)}`
    }
  }
}

test.each(marks.filter(([, mark]) => mark))(
  'a pattern that runs on visitors’ pages takes linear time: %s %s',
  (_, mark) => {
    const pattern = new RegExp(mark)
    for (const text of hardFor(mark)) pattern.test(text)
  },
)

const UUID = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const json = JSON.stringify
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
const GA_URL = 'https://shop.example/g/collect?v=2&tid=G-ABCDE12345&cid=1.2&en=page_view'

/** Requests made by a site itself: path and query, and body. */
const OWN: [what: string, path: string, body: string][] = [
  ['a sign-in', '/login', form({ username: 'jane@shop.example', password: 'secret', csrf: 'a1' })],
  ['a sign-in in JSON', '/api/login', json({ email: 'jane@shop.example', password: 'secret' })],
  ['a sign-in in a JSON array', '/api/login', json([{ email: 'jane@shop.example', password: 'secret' }])],
  [
    'a sign-in with an identity provider',
    '/auth/v1/token?grant_type=password',
    json({ email: 'j@shop.example', password: 's' }),
  ],
  [
    'an OAuth password grant',
    '/oauth/token',
    form({ grant_type: 'password', client_id: 'web', client_secret: 's', v: '2' }),
  ],
  ['an OAuth code exchange', '/oauth/token', form({ client_id: 'web', code: 'c', code_verifier: 'v', e: '1', t: 'x' })],
  ['a checksum', '/pay', form({ client: 'web', checksum: 'a'.repeat(32), e: 'jane@shop.example', card: '4111' })],
  ['a checksum of a list', '/pay', form({ client: 'web', checksum: 'a'.repeat(32), e: '[4111]' })],
  ['a session', '/session', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc'],
  ['a session in a form', '/save', form({ data: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc' })],
  ['a code', '/api/2fa', json({ token: '123456', event: 'login', properties: { device: 'd' } })],
  ['a state', '/callback?state=dj0y&code=c', form({ state: 'dj0y', code: 'c' })],
  [
    'GraphQL',
    '/graphql',
    json({ operationName: 'Pay', variables: { card: '4111' }, query: 'mutation Pay{ pay{ id } }' }),
  ],
  ['persisted GraphQL', '/graphql', json({ operationName: 'TrackEvent', variables: { events: [{ type: 'x' }] } })],
  [
    'batched GraphQL',
    '/graphql',
    json([{ operationName: 'A', variables: { token: 't', distinct_id: 'd' }, query: 'q' }]),
  ],
  ['GraphQL in a shop', '/api/2026-01/graphql.json', json({ query: 'mutation { cartCreate }', variables: {} })],
  ['a tRPC call', '/api/trpc/user.save?batch=1', json({ 0: { json: { name: 'Jane', event: 'x' } } })],
  ['a JSON-RPC call', '/rpc', json({ jsonrpc: '2.0', id: 1, method: 'track', params: { event: 'x', token: 't' } })],
  ['a React server action', '/account', '["$K1",{"email":"jane@shop.example"}]'],
  ['a socket message', '/socket.io/?EIO=4&transport=polling&t=a', '42["message",{"text":"hello"}]'],
  ['a SignalR message', '/hub?id=a', '{"type":1,"target":"send","arguments":["hello"]}\u001e'],
  [
    'a checkout',
    '/api/checkout',
    json({ cart: [{ sku: '1' }], card: { number: '4111' }, messageId: 'm1', type: 'track' }),
  ],
  ['a checkout in a form', '/checkout', form({ 'card[number]': '4111', 'card[cvc]': '123', email: 'j@shop.example' })],
  ['a WooCommerce checkout', '/?wc-ajax=checkout', form({ billing_email: 'j@shop.example', payment_method: 'card' })],
  ['a sign-in with a base64-encoded path', '/login', form({ next: btoa('/g/collections/1'), password: 'secret' })],
  ['a base64-encoded path', `/go?${form({ to: btoa('/g/collections/1') })}`, ''],
  ['a tracked package', '/track', form({ data: json({ event: 'package', email: 'jane@shop.example' }) })],
  ['a base64-encoded package', '/track', form({ data: btoa(json({ event: 'package', email: 'jane@shop.example' })) })],
  ['a cart', '/cart/add.js', form({ id: '1', quantity: '2' })],
  ['a cart in JSON', '/rest/V1/carts/mine/items', json({ cartItem: { sku: '1', qty: 2 } })],
  ['an address', '/api/addresses', json({ type: 'home', payload: { street: 'Main St 1' } })],
  ['a delivery', '/rest/v1/delivery?client=web&sessionId=s', json({ address: 'Main St 1' })],
  ['a delivery to another address', '/v1/delivery', json({ execute: true, address: 'Main St 1' })],
  ['a tracked order', '/v1/track', json({ orderId: '1', email: 'jane@shop.example', messageId: 'm1' })],
  ['a tracked order in a form', '/track', form({ order: '1', email: 'jane@shop.example' })],
  ['a search', '/search?q=shoes&v=2&tid=1&cid=3', ''],
  ['a search in JSON', '/_msearch', '{"index":"a"}\n{"query":{"match":{"event":"x"}}}\n'],
  ['a bulk request', '/_bulk', '{"index":{"_id":"1"}}\n{"name":"Jane","dsn":"x"}\n'],
  ['several commands', '/api/bulk', json({ commands: [{ name: 'rename', data: { id: 1 } }] })],
  ['several customers', '/customers/bulk', json([{ name: 'Jane', email: 'jane@shop.example' }])],
  ['a message', '/api/chat', json({ messageId: 'm1', text: 'secret' })],
  ['a message to a versioned path', '/v1/page', json({ messageId: 'm1', text: 'secret' })],
  ['messages', '/v1/batch', json({ batch: [{ messageId: 'm1', text: 'secret' }] })],
  ['a prompt', '/api/complete', json({ api_key: 'sk-1', library: 'own', prompt: 'secret' })],
  ['a contact form', '/contact', form({ name: 'Jane', url: 'https://jane.example', message: 'secret', t: 'x' })],
  ['a website in a contact form', '/api', '{"type":"contact","payload":{"website":"https://jane.example","text":"s"}}'],
  ['a website identified by name', '/api', '{"type":"event","payload":{"website":"jane","text":"secret"}}'],
  ['a website identified by id', '/api', `{"type":"site","website":"${UUID}","payload":{"text":"secret"}}`],
  ['a calendar entry', '/api/events', json({ name: 'dentist', date: '2026-01-01', type: 'create' })],
  ['a calendar entry at a versioned path', '/v1/events', json({ events: [{ title: 'dentist' }] })],
  ['a note', '/api/notes', json({ n: 'title', text: 'secret', d: 'draft' })],
  ['a profile', '/rpc', json({ type: 'update', payload: { profileId: 'p', password: 's' } })],
  ['playback progress', '/api/progress', json({ eventType: 'pause', playerTime: 12 })],
  ['an upload', '/upload', '--b\r\nContent-Disposition: form-data; name="idsite"\r\n\r\n1\r\n--b--'],
  ['a comment with a URL', '/comments', form({ text: GA_URL })],
  ['a comment with a URL in JSON', '/comments', json({ text: GA_URL, event: 'x' })],
  ['a bare URL', '/links', GA_URL],
  ['tag settings', '/admin/tags', json({ measurement_id: 'G-ABCDE12345', api_secret: 's' })],
  ['tag settings in a form', '/admin/tags', form({ measurement_id: 'G-ABCDE12345', api_secret: 's' })],
  ['PostHog settings', '/admin/tags', json({ posthogKey: 'phc_Abcdef1234567890', secret: 's' })],
  ['Segment settings', '/admin/tags', json({ writeKey: 'k1', secret: 's' })],
  ['Sentry settings', '/admin/errors', json({ dsn: 'https://abc@o1.ingest.sentry.io/1', token: 's' })],
  ['database settings', '/admin/database', json({ dsn: 'http://user:pass@db.shop.example/1' })],
  ['Matomo settings', '/admin/tags', form({ idsite: '1', url: 'https://stats.shop.example', token_auth: 's' })],
  ['Countly settings', '/admin/tags', json({ app_key: 'a'.repeat(40), sdk_name: 'x' })],
  ['a report with a Google id', '/admin/report?id=G-ABCDE12345', json({ secret: 's' })],
  [
    'a WordPress AJAX call',
    '/wp-admin/admin-ajax.php',
    form({ action: 'save', data: json({ event: 'x', token: 't' }) }),
  ],
  ['base64-encoded data', '/save', form({ data: btoa(json({ password: 'p', token: 't', event: 'e' })) })],
  ['an API version', '/api/data', json({ sdk_version: '1', secret: 's' })],
  ['an organization', '/api/org/page', json({ OrgId: 'o', secret: 's' })],
]

describe('a request by the site itself', () => {
  test.each(OWN)('is ignored: %s', (_, path, body) => {
    expect(onOwnHost(`https://www.shop.example${path}`, body)).toMatchObject({ vendor: null, isCaptured: false })
  })
})
