import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { version } from '../../package.json'
import { PERMISSIONS } from '../../src/http/permission.ts'
import type { Route } from '../../src/http/route.ts'
import { callTool, connect, everyRow } from '../../src/mcp/mcp-endpoint.fixture.ts'
import { INSTRUCTIONS } from '../../src/mcp/mcp-instructions.ts'
import { toolName } from '../../src/mcp/tool.ts'
import { CALL_TOOL, CORE, LIST_TOOLS } from '../../src/mcp/tool-groups.ts'
import { type JsonSchema, least } from '../api/json-schema.ts'
import { type TestApp, testApp } from '../test-app.ts'

/* Uses the program as an assistant does: over HTTP, with the SDK's client. */

let world: TestApp
let web: { url: string; stop(): Promise<void> }

beforeAll(async () => {
  world = await testApp()
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => world.app.fetch(request) })
  web = { url: `http://127.0.0.1:${server.port}/mcp`, stop: () => server.stop(true) }
})
afterAll(async () => {
  await web.stop()
  await world[Symbol.asyncDispose]()
})

const toolRoutes = () => world.app.routes.filter(({ tool }) => tool)
const writes = ({ access }: Route) => PERMISSIONS[access].writes
const newKey = async (readOnly: boolean): Promise<{ id: string; secret: string }> => {
  const body = { name: 'assistant', expiresInDays: 30, readOnly }
  return (await world.call('POST', '/v1/keys', { body })).body
}
const assistant = () => connect(web.url, world.owner.apiKey)
/** Connects an assistant that lists every tool. */
const listingAll = (key = world.owner.apiKey) => connect(`${web.url}?groups=all`, key)

/** Returns the result of a tool call. Throws when the call is rejected. */
async function value(client: Client, name: string, args: Record<string, unknown> = {}) {
  const answer = await callTool(client, name, args)
  expect([name, answer.refusal]).toEqual([name, null])
  return answer.value
}

describe('every tool', () => {
  test('is listed under a unique name, with schemas that compile', async () => {
    await using client = await listingAll()
    expect(client.getServerVersion()).toMatchObject({ name: 'tagwarden', version })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual(
      toolRoutes()
        .map(({ id }) => toolName(id))
        .sort(),
    )
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length)
    for (const { name, inputSchema, outputSchema, description } of tools) {
      expect(name).toMatch(/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/)
      expect(description).toMatch(/^[A-Z].+/s)
      for (const schema of [inputSchema, outputSchema ?? {}]) new AjvJsonSchemaValidator().getValidator(schema)
    }
  })

  test('has a short description, because clients that list all tools pay for its length', async () => {
    await using client = await listingAll()
    const { tools } = await client.listTools()
    const lengths = tools.map((tool) => JSON.stringify(tool).length)
    expect(Math.max(...lengths)).toBeLessThan(22_000)
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(240_000)
  })

  test('is listed by default if it is a core tool; other tools are found by group, and the default list is below 40 kB', async () => {
    await using client = await assistant()
    const listed = await client.listTools()
    expect(JSON.stringify(listed).length).toBeLessThan(40_000)
    const names = listed.tools.map(({ name }) => name)
    expect(names.slice(-2)).toEqual(['list_tools', 'call_tool'])
    expect(names.length).toBeGreaterThan(20)
    const describe = async (args: object) =>
      JSON.parse((await callTool(client, 'list_tools', { ...args })).texts[0] ?? '')
    const { groups } = await describe({})
    expect(JSON.stringify(groups).length).toBeLessThan(10_000)
    const reached: string[] = []
    for (const { group, tools } of groups) {
      const { tools: described } = await describe({ group })
      expect(described.map(({ name }: { name: string }) => name)).toEqual(
        tools.map(({ name }: { name: string }) => name),
      )
      expect(JSON.stringify(described).length).toBeLessThan(40_000)
      reached.push(...described.map(({ name }: { name: string }) => name))
    }
    expect(reached.sort()).toEqual(
      toolRoutes()
        .map(({ id }) => toolName(id))
        .sort(),
    )
  })

  test('is in a group that the documentation mentions', async () => {
    await using client = await assistant()
    const { groups } = JSON.parse((await callTool(client, 'list_tools')).texts[0] ?? '')
    const paragraph = readFileSync(join(import.meta.dir, '../../docs/connect/mcp.md'), 'utf8').match(
      /Groups: (.+?)\. /s,
    )?.[1]
    const documented = [...(paragraph ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name)
    expect(groups.map(({ group }: { group: string }) => group)).toEqual(documented)
  })

  test('accepts ISO 8601 for every timestamp in its arguments', async () => {
    await using client = await listingAll()
    const { tools } = await client.listTools()
    /**
     * Matches names of timestamp arguments. Exceptions are the `since` of a live view, which is a sequence number, and
     * the names in the steps of a flow test.
     */
    const named = /^(?:.*(?:At|Until|Since)|since|until|from|to|at)$/
    const missing: string[] = []
    const found: string[] = []
    const look = (schema: JsonSchema, path: string): void => {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        const shown = JSON.stringify(field)
        const isNumber = /"type":"(?:integer|number)"/.test(shown) && !shown.includes('"properties"')
        if (isNumber && named.test(name)) {
          if (shown.includes('"date-time"')) found.push(`${path}.${name}`)
          else missing.push(`${path}.${name}`)
        }
        look(field, `${path}.${name}`)
      }
      for (const inner of [...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? [])]) look(inner, path)
    }
    for (const { name, inputSchema } of tools) look(inputSchema as JsonSchema, name)
    expect(missing).toEqual(['watch_domain.since'])
    expect(found.sort()).toEqual([
      'change_issue.mutedUntil',
      'compare_traffic.from',
      'compare_traffic.to',
      'create_maintenance.from',
      'create_maintenance.to',
      'get_event_dictionary.from',
      'get_event_dictionary.to',
      'get_journey_flows.from',
      'get_journey_flows.to',
      'get_performance_stats.from',
      'get_performance_stats.to',
      'get_tag_performance.from',
      'get_tag_performance.to',
      'get_vendors_before_consent.from',
      'get_vendors_before_consent.to',
      'get_volume.from',
      'get_volume.to',
      'get_volume_segments.from',
      'get_volume_segments.to',
      'list_deliveries.from',
      'list_deliveries.to',
      'list_issues.since',
      'list_paired_events.from',
      'list_paired_events.to',
      'post_change.occurredAt',
      'post_orders.orders.at',
      'reconcile_orders.from',
      'reconcile_orders.to',
      'replace_maintenance.from',
      'replace_maintenance.to',
      'search_events.from',
      'search_events.to',
    ])
  })

  test('in the core list exists', () => {
    const names = toolRoutes().map(({ id }) => toolName(id))
    expect([...CORE].filter((name) => !names.includes(name))).toEqual([])
  })

  test('is listed for a read-only key only if it does not write', async () => {
    const { secret } = await newKey(true)
    await using client = await listingAll(secret)
    const { tools } = await client.listTools()
    const reading = toolRoutes().filter((route) => !writes(route))
    expect(tools.map(({ name }) => name).sort()).toEqual(reading.map(({ id }) => toolName(id)).sort())
    for (const { id } of toolRoutes().filter(writes)) {
      expect((await callTool(client, toolName(id))).refusal).toBe('this key is read-only')
    }
  })

  test('responds to minimal arguments with a result or an error message, and a dry run changes nothing', async () => {
    await using client = await listingAll()
    const routes = new Map(toolRoutes().map((route) => [toolName(route.id), route]))
    const { tools } = await client.listTools()
    const before = everyRow(world.app.db)
    for (const { name, inputSchema } of tools) {
      const route = routes.get(name)
      const args = least(inputSchema as JsonSchema) as Record<string, unknown>
      const { refusal } = await callTool(client, name, { ...args, ...(route && writes(route) ? { dryRun: true } : {}) })
      expect(refusal ?? 'answers').not.toContain('internal error')
      expect(refusal).not.toBe('')
    }
    expect(everyRow(world.app.db)).toEqual(before)
  })

  test('neither exposes secrets nor grants permissions', () => {
    const never = /key|password|secret|token|session|member|invit|owner|setup|login|logout/i
    expect(toolRoutes().filter(({ id, path }) => never.test(id) || never.test(path))).toEqual([])
  })

  test('mentioned in the instructions exists', () => {
    const names = new Set([...toolRoutes().map(({ id }) => toolName(id)), LIST_TOOLS, CALL_TOOL])
    const told = [...new Set(INSTRUCTIONS.match(/\b[a-z]+(?:_[a-z]+)+\b/g))]
    expect(told.length).toBeGreaterThan(3)
    expect(told.filter((name) => !names.has(name))).toEqual([])
  })
})

test('an assistant finds a problem, investigates and acknowledges it, and creates an alert', async () => {
  const start = world.clock.now()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  await using client = await assistant()
  await client.listTools()

  // Creates an alert, after a dry run.
  const rule = {
    name: 'Purchase has a value',
    alertType: 'data_validation',
    severity: 'high',
    domainId: domain.id,
    conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
    period: '1h',
    channels: [{ type: 'email', target: 'ops@example.com' }],
  }
  const before = everyRow(world.app.db)
  const tried = await value(client, 'create_alert', { ...rule, dryRun: true })
  expect(tried).toMatchObject({ name: rule.name, severity: 'high' })
  expect(everyRow(world.app.db)).toEqual(before)
  const made = await value(client, 'create_alert', rule)
  expect(made.id).not.toBe(tried.id)
  expect((await value(client, 'list_alerts')).alerts).toEqual([made])
  expect((await callTool(client, 'create_alert', { ...rule, period: '5x' })).refusal).toStartWith('period: ')

  // The alert is active immediately. The dry run of its deletion leaves the compiled rules unchanged.
  await value(client, 'delete_alert', { id: made.id, dryRun: true })
  await world.collect(domain.token, {
    batchId: 'batch-one',
    page: { url: 'https://shop.example/checkout' },
    events: [
      { vendor: 'Shop', event: 'purchase', params: { value: '' } },
      { vendor: 'Shop', event: 'purchase', params: { value: '12' } },
    ],
  })
  await world.at(start + 2000)

  const { issues, openCounts } = await value(client, 'list_issues', { status: 'open' })
  expect([issues.length, openCounts.high]).toEqual([1, 1])
  const [issue] = issues
  const evidence = await value(client, 'investigate_issue', { id: issue.id })
  expect(evidence).toMatchObject({ issue: { id: issue.id }, alert: { id: made.id }, events: [{ event: 'purchase' }] })
  const { contents } = await client.readResource({ uri: `tagwarden://issues/${issue.id}` })
  expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ id: issue.id, status: 'open' })
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([
    `tagwarden://issues/${issue.id}`,
    `tagwarden://alerts/${made.id}`,
  ])

  // Acknowledges the issue, after a dry run.
  const acknowledge = { id: issue.id, status: 'acknowledged' }
  const asItWas = everyRow(world.app.db)
  expect(await value(client, 'change_issue', { ...acknowledge, dryRun: true })).toMatchObject({
    status: 'acknowledged',
  })
  expect(everyRow(world.app.db)).toEqual(asItWas)
  expect(await value(client, 'get_issue', { id: issue.id })).toMatchObject({ status: 'open' })
  await value(client, 'change_issue', acknowledge)
  const { status, history } = (await world.call('GET', `/v1/issues/${issue.id}`)).body
  expect([status, history.at(-1).kind]).toEqual(['acknowledged', 'assigned'])
  expect((await callTool(client, 'change_issue', { ...acknowledge, colour: 'red' })).refusal).toStartWith('colour: ')
})

test('timestamps can be ISO 8601 strings, with the same result', async () => {
  await using client = await assistant()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Times' } })
  const now = world.clock.now()
  const iso = (at: number) => new Date(at).toISOString()
  for (const at of [now - 3_600_000, now]) {
    expect(await value(client, 'list_issues', { since: iso(at) })).toEqual(
      await value(client, 'list_issues', { since: at }),
    )
  }
  const range = { from: now - 7_200_000, to: now }
  expect(await value(client, 'search_events', { from: iso(range.from), to: iso(range.to) })).toEqual(
    await value(client, 'search_events', range),
  )
  const change = { domainId: domain.id, source: 'ci', ref: '1', title: 'Release', occurredAt: iso(now - 60_000) }
  await value(client, 'post_change', change)
  expect((await value(client, 'list_changes', { domainId: domain.id })).changes).toMatchObject([
    { occurredAt: now - 60_000 },
  ])
  const { refusal } = await callTool(client, 'search_events', { from: 'yesterday', limit: 0, colour: 'red' })
  expect(refusal?.split('\n').map((line) => line.split(': ', 1)[0])).toEqual(['from', 'colour', 'limit'])
})

describe('a dry run of an alert', () => {
  const rule = {
    name: 'No value',
    alertType: 'data_validation',
    vendors: ['Trial'],
    conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
    period: '1h',
    channels: [{ type: 'email', target: 'ops@example.com' }],
  }

  test('returns its backtest, for new and for updated alerts', async () => {
    const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Trial' } })
    await world.collect(domain.token, {
      batchId: 'trial-batch',
      page: { url: 'https://trial.example/' },
      events: [{ vendor: 'Trial', event: 'purchase', params: { value: '' } }],
    })
    await world.at(world.clock.now() + 2 * 3_600_000)
    await using client = await assistant()
    await client.listTools()
    const made = await value(client, 'create_alert', rule)
    const backtest = await value(client, 'backtest_alert', { rule })
    expect(backtest.buckets.length).toBeGreaterThan(10)
    const before = everyRow(world.app.db)
    for (const [name, args] of [
      ['create_alert', rule],
      ['replace_alert', { ...rule, id: made.id }],
    ] as const) {
      const { value: tried, texts } = await callTool(client, name, { ...args, dryRun: true })
      expect(tried).toMatchObject({ name: rule.name, backtest })
      expect(JSON.parse(texts[0] ?? '')).toEqual(tried)
      const fired = backtest.buckets.filter(({ wouldFire }: { wouldFire: boolean }) => wouldFire).length
      expect(fired).toBe(1)
      expect(texts[1]).toStartWith(
        `The rule would have fired in ${fired} of ${backtest.buckets.length} buckets since 20`,
      )
      expect(texts[2]).toBe('This was a dry run. Nothing was changed.')
    }
    expect(everyRow(world.app.db)).toEqual(before)
    expect(made).not.toHaveProperty('backtest')
    expect(await value(client, 'replace_alert', { ...rule, id: made.id })).not.toHaveProperty('backtest')
    await value(client, 'delete_alert', { id: made.id })
  })

  test('explains why the backtest is missing', async () => {
    await using client = await assistant()
    const values = Array.from({ length: 100 }, (_, at) => `${at}`.padEnd(1000, 'x'))
    const items = Array(3).fill({ parameter: 'value', op: 'equals', values })
    const costly = { ...rule, conditions: { logic: 'any', items } }
    const { refusal, value: tried, texts } = await callTool(client, 'create_alert', { ...costly, dryRun: true })
    expect([refusal, tried.name, tried.backtest]).toEqual([null, rule.name, null])
    expect(texts[1]).toMatch(/^There is no backtest: rule\.conditions\.items\[2\].*cost/)
  })
})

test('long responses are paged and explain how to continue', async () => {
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Long' } })
  for (let batch = 0; batch < 4; batch++) {
    const events = Array.from({ length: 30 }, (_, at) => ({
      vendor: `Vendor ${batch} ${at}`,
      event: 'purchase',
      params: {
        text: `${batch}-${at}`.padEnd(1000, 'x'),
        ...Object.fromEntries(Array.from({ length: 10 }, (_, key) => [`key${key}`, 'x'])),
      },
    }))
    await world.collect(domain.token, {
      batchId: `long-batch-${batch}`,
      page: { url: 'https://long.example/' },
      events,
    })
  }
  await world.at(world.clock.now() + 2000)
  await using client = await assistant()
  await client.listTools()
  const whole = (path: string) => world.call('GET', `${path}${path.includes('?') ? '&' : '?'}domainId=${domain.id}`)

  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields it expects
  const pagesOf = async (name: string, args: object): Promise<any[]> => {
    const pages: unknown[] = []
    let cursor: string | null = null
    do {
      const more: object = cursor === null ? {} : { cursor }
      const { refusal, value: page, texts } = await callTool(client, name, { domainId: domain.id, ...args, ...more })
      expect([name, refusal]).toEqual([name, null])
      expect(JSON.stringify(page).length).toBeLessThan(41_000)
      cursor = page.nextCursor ?? null
      expect(texts.some((text) => text.includes(`"cursor": "${cursor}"`))).toBe(cursor !== null)
      pages.push(page)
    } while (cursor !== null && pages.length < 50)
    return pages
  }

  // A route with paging.
  const events = await pagesOf('search_events', { limit: 100 })
  expect(events.length).toBeGreaterThan(2)
  const all = [(await whole('/v1/events?limit=200')).body.events, events.flatMap((page) => page.events)]
  expect(all[1].map(({ vendor }: { vendor: string }) => vendor)).toEqual(
    all[0].map(({ vendor }: { vendor: string }) => vendor),
  )
  expect(all[1]).toHaveLength(120)

  // A route without paging.
  const dictionary = await pagesOf('get_event_dictionary', {})
  const found = dictionary.flatMap(({ vendors }) => vendors.map(({ vendor }: { vendor: string }) => vendor))
  const { body } = await whole('/v1/events/dictionary')
  expect(found).toEqual(body.vendors.map(({ vendor }: { vendor: string }) => vendor))
  expect(dictionary.length).toBeGreaterThan(1)
  const wrong = await callTool(client, 'get_event_dictionary', { cursor: 'nonsense' })
  expect(wrong.refusal).toBe('cursor: is not valid for this list')
})

test('a revoked key stops working immediately', async () => {
  const { id, secret } = await newKey(false)
  await using client = await connect(web.url, secret)
  await value(client, 'list_issues')
  expect((await world.call('DELETE', `/v1/keys/${id}`)).status).toBe(200)
  expect(await client.callTool({ name: 'list_issues' }).catch((error: unknown) => error)).toMatchObject({ code: 401 })
})

test('the MCP endpoint is not a route of the REST API', async () => {
  expect(world.app.routes.filter(({ path }) => path.startsWith('/mcp'))).toEqual([])
  const { status, headers, body } = await world.call('GET', '/mcp')
  expect([status, headers.get('allow'), typeof body.error]).toEqual([405, 'POST', 'string'])
})
