import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { callTool, connect } from '../../src/mcp/mcp-endpoint.fixture.ts'
import { toolName } from '../../src/mcp/tool.ts'
import { needsDomain, nounsOf, pathOf, type Route } from './openapi-routes.ts'
import { type DescribedApi, describedApi, type TestTenant } from './two-tenants.ts'
import { make, oneOf } from './valid-calls.ts'

/*
 * Plants personal data in every field of every list in a batch, and searches for it in all output: the response of
 * every reading route and every MCP tool, every message and every log line. The routes are taken from the OpenAPI
 * document, so new routes are covered automatically.
 */

const PLANTS: Record<string, { text: string; traces: readonly RegExp[] }> = {
  email: { text: 'j.plant@planted.example', traces: [/j\.plant/i, /planted\.ex/i] },
  phone: { text: '+1 506 234 5678', traces: [/506.{0,3}234.{0,3}5678/] },
  card: { text: '4111 1111 1111 1111', traces: [/4111.{0,3}1111/] },
  iban: { text: 'DE89 3704 0044 0532 0130 00', traces: [/DE89.{0,3}3704/i, /0044.{0,3}0532/] },
  own: { text: 'EMP-123456', traces: [/EMP-\d/] },
}
const ALL = Object.values(PLANTS).map(({ text }) => text)
const TEXT = ALL.join(';')
/** The values as URL parameters, and URL-encoded twice. */
const IN_URL = ALL.map(
  (text, n) => `p${n}=${encodeURIComponent(text)}&q${n}=${encodeURIComponent(encodeURIComponent(text))}`,
).join('&')
const IN_PATH = ALL.map((text) => encodeURIComponent(text)).join('/')
const HOST = '4111111111111111.shop.example'
/** Routes that show unmasked data in raw events, but only to members and higher roles. */
const RAW = ['GET /v1/events', 'GET /v1/domains/{id}/live']

/** Returns the planted data found in a string. */
function shownIn(text: string): string[] {
  const forms = [text, decoded(text), decoded(decoded(text))]
  return Object.entries(PLANTS).flatMap(([name, { traces }]) => {
    const found = traces.flatMap((trace) => forms.flatMap((form) => around(form, trace)))
    return found.length > 0 ? [`${name}: ${found[0]}`] : []
  })
}

function around(text: string, trace: RegExp): string[] {
  const at = text.search(trace)
  return at < 0 ? [] : [`…${text.slice(Math.max(0, at - 100), at + 60)}…`]
}

const decoded = (text: string) =>
  text.replaceAll(/%([0-7][0-9A-Fa-f])/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

const params = {
  text: TEXT,
  [`of ${ALL[0]}`]: 'x',
  [`of ${ALL[4]}`]: 'x',
  url: `https://a.example/${IN_PATH}?${IN_URL}`,
  ...Object.fromEntries(ALL.map((text, n) => [`k${n}`, text])),
}

/** Returns a batch with planted data in every field of every list. */
const batch = (n: number) => ({
  batchId: `${n} ${ALL[4]} ${ALL[0]}`.slice(0, 64),
  sessionId: TEXT,
  customerId: TEXT,
  version: 12,
  page: {
    url: `https://${HOST}/${IN_PATH}?${IN_URL}`,
    referrer: `https://a.example/${IN_PATH}?${IN_URL}`,
    title: TEXT,
  },
  events: [
    { id: TEXT, vendor: 'Shop', event: 'buy', account: TEXT, status: 'failure', execMs: 4, params },
    ...ALL.map((text, at) => ({
      id: `${n} ${at} ${text}`,
      vendor: `Shop ${text}`,
      event: `buy ${text}`,
      account: text,
      params: { k: text },
    })),
    { vendor: 'Shop', event: 'buy', [TEXT]: 1 },
    { vendor: 'Shop', event: 'buy', status: TEXT },
  ],
  hits: [
    {
      id: TEXT,
      url: `https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=${encodeURIComponent(`e ${ALL[0]}`)}&${IN_URL}`,
    },
    { url: `https://tracker.example/${IN_PATH}?${IN_URL}`, method: 'POST', body: `${IN_URL}&${TEXT}`, type: 'ping' },
    { url: `https://4111111111111111.tracker.example/?${IN_URL}`, status: 200 },
    { url: `not a url ${TEXT}` },
    { url: 'https://tracker.example/', [TEXT]: 1, type: TEXT },
  ],
  tags: [
    {
      id: `${n} ${ALL[2]}`,
      container: TEXT,
      tagId: TEXT,
      name: TEXT,
      event: TEXT,
      status: 'ok',
      execMs: 4,
    },
    { container: TEXT, tagId: TEXT, [TEXT]: 1 },
  ],
  pageStats: {
    loaf: true,
    vendors: [
      { host: HOST, requests: 2, durMs: [3, 4], blockMs: 9, bytes: 10 },
      { host: TEXT, requests: 1, [TEXT]: 2 },
    ],
  },
})

let api: DescribedApi
let tenant: TestTenant
let web: { url: string; stop(): Promise<void> }
const sent: string[] = []
const transport = {
  send: async (outbound: object) => {
    sent.push(JSON.stringify(outbound))
    return { kind: 'status', status: 200, headers: {}, body: '' } as const
  },
}
/** IDs of existing resources by kind. */
const ids: Record<string, string[]> = {}

beforeAll(async () => {
  api = await describedApi(transport as never)
  tenant = api.tenant()
  const { world } = api
  const maker = { world, tenant }
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => world.app.fetch(request) })
  web = { url: `http://127.0.0.1:${server.port}/mcp`, stop: () => server.stop(true) }
  const key = tenant.people.owner.key
  const patterns = [{ name: 'employee', pattern: 'EMP-[0-9]{6}' }]
  await world.call('PATCH', '/v1/org', { as: key, body: { piiPatterns: patterns } })
  const domain = await make(maker, '/v1/domains', { name: 'Shop' })
  let n = 0
  // Creating signals requires this many days and events.
  for (let hour = 0; hour < 8 * 24; hour++) {
    world.clock.advance(HOUR_MS)
    const events = batch(n++).events.slice(1, 6)
    await world.collect(domain.token, { sampleRate: 0.1, page: { url: `https://${HOST}/` }, events })
  }
  await world.run('flush', 'compact', 'scan for personal data', 'automatic alerts', 'evaluate series')
  await plantAlerts(maker, domain.id)
  await world.call('GET', `/v1/domains/${domain.id}/live`, { as: key })
  for (let step = 0; step < 2; step++) {
    world.clock.advance(MINUTE_MS)
    expect((await world.collect(domain.token, batch(n++))).status).toBe(202)
    await world.run('evaluate', 'deliver')
  }
  await world.collect(domain.token, `{"${TEXT}": 1}` as never)
  await world.collect(domain.token, { ...batch(n++), [TEXT]: TEXT })
  await world.run('flush', 'compact', 'scan for personal data', 'automatic alerts', 'evaluate series')
  for (let step = 0; step < 4; step++) {
    world.clock.advance(HOUR_MS + MINUTE_MS)
    await world.run('flush', 'evaluate', 'evaluate series', 'deliver')
  }
  await world.call('GET', `/v1/domains/${domain.id}/live`, { as: key })
  await world.collect(domain.token, batch(n++))
  const found = await world.call('GET', '/v1/compliance/pii?limit=200', { as: key })
  for (const { vendor, key: name, kind } of found.body.findings)
    await world.call('POST', '/v1/compliance/pii/action', {
      as: key,
      body: { action: 'file', vendor, key: name, kind },
    })
  await world.run('flush', 'scan for personal data', 'evaluate', 'evaluate series', 'deliver', 'retain')
  const all = async (path: string, list: string) =>
    (await world.call('GET', `${path}?limit=200`, { as: key })).body[list].map(({ id }: { id: string }) => id)
  ids.domains = [domain.id]
  ids.issues = await someIssues(key)
  ids.alerts = await all('/v1/alerts', 'alerts')
  ids.deliveries = (await all('/v1/notifications/deliveries', 'deliveries')).slice(0, 20)
})
afterAll(async () => {
  await web?.stop()
  await api?.world[Symbol.asyncDispose]()
})

/** Returns the first issue of each alert, at most 20 issues in total. */
async function someIssues(key: string): Promise<string[]> {
  const found: string[] = []
  for (const { id } of (await api.world.call('GET', '/v1/alerts?limit=200', { as: key })).body.alerts) {
    const { issues } = (await api.world.call('GET', `/v1/issues?limit=1&alertId=${id}`, { as: key })).body
    found.push(...issues.map((issue: { id: string }) => issue.id))
  }
  // Compliance issues come last. There is one for each key.
  return found.slice(0, 20)
}

/** Creates alerts that cover all planted data, with an e-mail address and a webhook as channels. */
async function plantAlerts(maker: Parameters<typeof make>[0], domainId: string): Promise<void> {
  // The first three alerts have the same channels. Each of the others has a separate e-mail address.
  const channelsOf = (n: number) => [
    { type: 'email', target: n < 3 ? 'ann@people.example' : `ann${n}@people.example` },
    { type: 'webhook', target: 'https://hooks.example.com/a' },
  ]
  const common = { domainId, period: '1h' }
  const count = (n: number) => ({ op: 'gte', count: n })
  const rules = [
    ...['*', 'text', '$title', '$path', '$event', '$account', '$sessionId', '$vendor', '$host'].map((parameter) => ({
      alertType: 'data_validation',
      conditions: {
        logic: 'any',
        items: [
          { parameter, op: 'not_blank' },
          { parameter, op: 'contains', values: ['e'] },
        ],
      },
    })),
    { alertType: 'data_validation', conditions: { logic: 'any', items: [{ parameter: '*', op: 'contains_email' }] } },
    {
      alertType: 'data_validation',
      conditions: { logic: 'any', items: [{ parameter: 'k', op: 'regex', values: ['.'] }] },
    },
    { alertType: 'volume_threshold', volume: count(1) },
    {
      alertType: 'journey',
      journey: {
        steps: [
          { vendor: 'Shop', event: 'never' },
          { vendor: 'Shop', event: 'buy' },
        ],
      },
    },
  ]
  for (const [n, rule] of rules.entries()) {
    await make(maker, '/v1/alerts', { ...common, channels: channelsOf(n), name: `Rule ${n}`, ...rule })
  }
}

const reading = () => api.routes.filter(({ method, isPublic }) => method === 'GET' && !isPublic)

/**
 * Returns the paths with which a route is called: one for each resource in its path, with and without a domain in the
 * query if the route accepts one.
 */
async function pathsOf(route: Route): Promise<string[]> {
  const nouns = nounsOf(route)
  const missing = nouns.filter((noun) => !ids[noun])
  const made = missing.length > 0 ? await oneOf(missing, { world: api.world, tenant }) : {}
  for (const noun of missing) ids[noun] = [made[noun] ?? '']
  const [noun] = nouns
  const places = noun === undefined ? [{}] : (ids[noun] ?? []).map((id) => ({ [noun]: id }))
  const queries = [
    ...(needsDomain(route) ? [] : ['']),
    ...(route.parameters.some(({ name }) => name === 'domainId') ? [`?domainId=${ids.domains?.[0]}`] : []),
  ]
  const most = route.parameters.find(({ name }) => name === 'limit')?.schema.maximum
  const limit = most === undefined ? '' : `limit=${most}`
  const hours = route.parameters.some(({ name }) => name === 'hours') ? 'hours=168' : ''
  const asked = route.parameters
    .filter((one) => one.in === 'query' && one.required && one.name !== 'domainId')
    .map(({ name }) => `${name}=${encodeURIComponent(REQUIRED[name] ?? '')}`)
  const pair = route.id === 'compareTraffic' ? 'aEnv=prod&bEnv=dev' : ''
  const more = [limit, hours, pair, ...asked].filter(Boolean).join('&')
  return places.flatMap((place) =>
    queries.map((query) => `${pathOf(route, place)}${query}${more && (query ? '&' : '?')}${more}`),
  )
}

/** Required query parameters of some routes. */
const REQUIRED: Readonly<Record<string, string>> = {
  by: 'vendor',
  containerPath: 'accounts/6/containers/71',
  q: 'example',
}

describe('the planted personal data', () => {
  test('is stored', async () => {
    for (const type of ['data_validation', 'volume_threshold', 'journey']) {
      const { issues } = (await api.world.call('GET', `/v1/issues?alertType=${type}`, { as: tenant.people.owner.key }))
        .body
      expect([type, issues.length > 0]).toEqual([type, true])
    }
    expect(sent.length).toBeGreaterThan(20)
    const { findings } = (await api.world.call('GET', '/v1/compliance/pii?limit=200', { as: tenant.people.viewer.key }))
      .body
    const kinds = new Set(findings.map(({ kind }: { kind: string }) => kind))
    expect([...kinds].sort()).toEqual(['card', 'email', 'employee', 'iban', 'phone'])
    const keys = new Set(findings.map(({ key }: { key: string }) => key))
    for (const key of ['$title', '$path', '$event', '$account', '$sessionId', 'text', 'url'])
      expect(keys).toContain(key)
    const raw = await api.world.call('GET', '/v1/events?limit=200', { as: tenant.people.owner.key })
    expect(shownIn(JSON.stringify(raw.body))).toHaveLength(ALL.length)
    const live = await api.world.call('GET', `/v1/domains/${ids.domains?.[0]}/live?limit=500`, {
      as: tenant.people.member.key,
    })
    expect(shownIn(JSON.stringify(live.body))).toHaveLength(ALL.length)
  })

  test.each(['viewer', 'owner'] as const)('is masked in responses to the %s', async (role) => {
    const shown: object[] = []
    for (const route of reading()) {
      if (role === 'owner' && RAW.includes(route.name)) continue
      for (const path of await pathsOf(route)) {
        const { status, body } = await api.world.call('GET', path, { as: tenant.people[role].key })
        // Status 409 is returned because Google Tag Manager is not connected.
        const ok = [200, 403, 404, 409].includes(status)
        expect({ path, ok, body: status < 400 || body }).toMatchObject({ ok: true })
        const found = shownIn(JSON.stringify(body))
        if (found.length > 0) shown.push({ path, found })
      }
    }
    expect(shown.slice(0, 12)).toEqual([])
  })

  test.each(['', 'developer'])('is masked in a digest with the context %j', async (context) => {
    const as = tenant.people.viewer.key
    const { body } = await api.world.call('POST', '/v1/notifications/digest/preview', { as, body: { context } })
    expect(body).toMatchObject({ hasData: true })
    expect(shownIn(JSON.stringify(body))).toEqual([])
  })

  test.each(['viewer', 'owner'] as const)('is masked in MCP tools used by the %s', async (role) => {
    await using client = await connect(web.url, tenant.people[role].key)
    const shown: object[] = []
    for (const { id, path, method, query } of api.world.app.routes.filter(({ tool }) => tool)) {
      if (method !== 'GET' || (role === 'owner' && RAW.includes(`GET ${path}`))) continue
      const noun = /([^/]+)\/\{id\}/.exec(path)?.[1]
      const places =
        noun === undefined ? [{}, { domainId: ids.domains?.[0] }] : (ids[noun] ?? []).map((one) => ({ id: one }))
      const asked = query?.required?.includes('q') ? { q: REQUIRED.q } : {}
      for (const place of places) {
        const args = { ...place, ...asked }
        const { texts, value } = await callTool(client, toolName(id), args)
        const found = shownIn(texts.join('\n') + JSON.stringify(value ?? ''))
        if (found.length > 0) shown.push({ id, args, found })
      }
    }
    expect(shown.slice(0, 12)).toEqual([])
  })

  test('is masked in messages', () => {
    expect(
      sent
        .flatMap((message) => shownIn(message).map((found) => ({ found, message: message.slice(0, 200) })))
        .slice(0, 12),
    ).toEqual([])
  })

  test('is masked in the log', () => {
    expect(api.world.lines.flatMap((line) => shownIn(line))).toEqual([])
  })
})
