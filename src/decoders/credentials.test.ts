import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { pathsFor } from './decoder-cases.ts'
import { decodeHit, decoders } from './index.ts'

const CANARY = 'Canary7Qz'
const NAMES = [
  'access_token',
  'accessToken',
  'api_secret',
  'apiKey',
  'api_key',
  'token_auth',
  'authorization',
  'Authorization',
  'client_secret',
  'password',
  'refresh_token',
  'X-Api-Key',
  'secret',
]

/** Properties with which many decoders recognise the body as an event. */
const EVENT = {
  event: 'buy',
  name: 'buy',
  type: 'track',
  e: 'pv',
  t: 'event',
  en: 'buy',
  ev: 'Buy',
  eventName: 'buy',
  id: '7',
  tid: 'G-1',
  v: '2',
  idsite: '7',
  rec: '1',
  token: 't',
  writeKey: 'k',
  pixel_id: 'p',
  aid: 'a',
}
const LISTS = ['data', 'events', 'batch', 'requests', 'conversions', 'req', 'list', 'evts', 'attachments']

/** Returns JSON documents that contain the credential in different positions. */
function bodiesWith(name: string): object[] {
  const event = { ...EVENT, [name]: CANARY }
  const nested = { ...EVENT, properties: { user: { [name]: CANARY } }, params: { [name]: { value: CANARY } } }
  const headers = { ...EVENT, headers: { [name]: `Bearer ${CANARY}` } }
  const pairs = { ...EVENT, headers: [{ name, value: CANARY }], options: [{ key: name, value: CANARY }] }
  const texts = {
    ...EVENT,
    url: `https://shop.example/?a=1&${name}=${CANARY}#x`,
    context: JSON.stringify({ [name]: CANARY, inner: JSON.stringify({ [name]: CANARY }) }),
  }
  return [event, nested, headers, pairs, texts].flatMap((one) => [
    one,
    { ...EVENT, [name]: CANARY, ...Object.fromEntries(LISTS.map((list) => [list, [one, one]])) },
  ])
}

function querysWith(name: string): string[] {
  const page = encodeURIComponent(`https://shop.example/?${name}=${CANARY}`)
  const json = encodeURIComponent(JSON.stringify({ [name]: CANARY }))
  const event = new URLSearchParams(EVENT).toString()
  return [
    `${event}&${name}=${CANARY}&${name}=${CANARY}`,
    `${event}&url=${page}&dl=${page}&data=${json}&ed=${json}&x=${json}`,
  ]
}

const routes = decoders.flatMap(({ hosts, routes }) => routes.map((route) => ({ hosts, route })))
const address = fc.oneof(
  ...routes.map(({ hosts, route }) => fc.tuple(fc.constantFrom(...hosts, 'shop.example'), pathsFor(route.path))),
)
const QUERY = new URLSearchParams(EVENT).toString()
const bodies = NAMES.flatMap((name) => [
  ...querysWith(name),
  ...bodiesWith(name).flatMap((body) => {
    const json = JSON.stringify(body)
    return [json, `[${json}]`, `${json}\n${json}`, `data=${encodeURIComponent(json)}`, `data=${btoa(json)}`]
  }),
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${CANARY}\r\n--x--\r\n`,
])
const sent = fc.record({
  query: fc.constantFrom('', QUERY, ...NAMES.flatMap(querysWith)),
  body: fc.constantFrom(null, ...bodies),
})

test('no decoder returns a credential from any part of a request', () => {
  const met = new Set<string>()
  fc.assert(
    fc.property(address, sent, ([host, path], { query, body }) => {
      const { vendor, events, error } = decodeHit({ url: `https://${host}${path}?${query}`, method: 'POST', body })
      if (vendor !== null && events.length > 0) met.add(vendor)
      for (const { event, account, params } of events) {
        // Some vendors use a public project id as the API key. In these cases, the account is the key.
        const kept = Object.entries(params).filter(([, value]) => value !== account)
        const found = [event, ...kept.map((pair) => pair.join('='))].filter((text) => text.includes(CANARY))
        if (found.length > 0) expect([vendor, path, found]).toEqual([vendor, path, []])
      }
      if (error?.includes(CANARY)) expect(error).not.toContain(CANARY)
    }),
    { numRuns: 5_000 },
  )
  expect(met.size).toBeGreaterThan(decoders.length * 0.6)
})
