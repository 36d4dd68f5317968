import { afterAll, describe, expect, test } from 'bun:test'
import { KEY_SCOPES, type KeyScope } from '../../src/contract/key-scopes.ts'
import { needsFullKey, PERMISSIONS } from '../../src/http/permission.ts'
import type { Route as AppRoute } from '../../src/http/route.ts'
import { toolName } from '../../src/mcp/tool.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { needsDomain, pathOf, type Route } from './openapi-routes.ts'
import { describedApi, type TestTenant } from './two-tenants.ts'
import { acceptedCall } from './valid-calls.ts'

/*
 * Calls every route that requires a credential with an owner's key of each scope. The table in this file is written
 * independently of the program's.
 */

const { world, routes, tenant } = await describedApi()
afterAll(() => world[Symbol.asyncDispose]())

/** Prefixes of the paths of routes that write, by scope. The longest prefix counts. All other routes require `all`. */
const WRITES: readonly (readonly [prefix: string, scope: KeyScope])[] = [
  ['/v1/alerts', 'alerts'],
  ['/v1/auto/signals', 'alerts'],
  ['/v1/orders/capture', 'alerts'],
  ['/v1/insights/labels', 'alerts'],
  ['/v1/maintenance', 'alerts'],
  ['/v1/calendars', 'alerts'],
  ['/v1/issues', 'issues'],
  ['/v1/org/ownership', 'issues'],
  ['/v1/org/escalation', 'issues'],
  ['/v1/compliance', 'issues'],
  ['/v1/domains', 'domains'],
  ['/v1/projects', 'domains'],
  ['/v1/gate-runs', 'runs'],
  ['/v1/integrations', 'integrations'],
  ['/v1/notifications/deliveries', 'integrations'],
  ['/v1/flows', 'runs'],
  ['/v1/audits', 'runs'],
  ['/v1/orders', 'collector'],
  ['/v1/changes', 'collector'],
]

const permissionOf = ({ permission }: Route) => PERMISSIONS[permission as keyof typeof PERMISSIONS]

function scopeFor(route: Route): KeyScope {
  if (!permissionOf(route).writes) return 'read'
  const longest = WRITES.toSorted(([a], [b]) => b.length - a.length).find(([prefix]) => route.path.startsWith(prefix))
  return longest?.[1] ?? 'all'
}

/** The key of an owner with these scopes. */
function keyWith(home: TestTenant, scopes: KeyScope[]): string {
  const { userId } = home.people.owner
  return createKey(world.app.db, world.clock, { userId, orgId: home.orgId, name: 'key', expiresInDays: null, scopes })
    .secret
}

const REFUSALS = /^this (key does not have the scope "\w+"|requires a key with the scope "all"|key is read-only)$/

const closed = routes.filter((route) => !route.isPublic)
const home = tenant()
const elsewhere = tenant()
const keys = new Map(KEY_SCOPES.map((scope) => [scope, keyWith(home, [scope])]))

describe('a key with one scope can call its own routes and no others', () => {
  test.each(closed.map((route) => [route.name, route] as const))('%s', async (_name, route) => {
    const { ids } = await acceptedCall(route, { world, tenant: home }, elsewhere)
    const query = new URLSearchParams(needsDomain(route) ? { domainId: ids.domains ?? 'dom_none' } : {})
    const path = `${pathOf(route, ids)}?${query}`
    const isSecret = needsFullKey(route.permission as keyof typeof PERMISSIONS) && !permissionOf(route).writes
    for (const [scope, as] of keys) {
      // The body is invalid, so that nothing changes and the same objects serve every key. Keys are checked first.
      const options = route.body ? { body: [] } : {}
      const isOwn = scope === 'all' || (scope === scopeFor(route) && !isSecret)
      // Calls without a body would change something when they are permitted.
      if (isOwn && !route.body && permissionOf(route).writes) continue
      if (isOwn && route.path === '/v1/stream') continue
      const { status, body } = await world.call(route.method, path, { as, ...options })
      const isRefused = status === 403 && REFUSALS.test(String(body?.error))
      expect([route.name, scope, isRefused]).toEqual([route.name, scope, !isOwn])
    }
  })
})

test('an own scope suffices for the routes without a body', async () => {
  for (const route of closed.filter(({ body, permission }) => !body && PERMISSIONS[permission as 'edit'].writes)) {
    const scope = scopeFor(route)
    const own = tenant()
    const { ids } = await acceptedCall(route, { world, tenant: own }, elsewhere)
    const path = `${pathOf(route, ids)}${route.id === 'deleteOrganization' ? `?name=${encodeURIComponent(own.name)}` : ''}`
    const { body } = await world.call(route.method, path, { as: keyWith(own, [scope]) })
    expect([route.name, REFUSALS.test(String(body?.error))]).toEqual([route.name, false])
  }
})

test('several scopes add up, and the role still limits them', async () => {
  const status = async (as: string, path: string, body: object) => (await world.call('POST', path, { as, body })).status
  const both = keyWith(home, ['domains', 'runs'])
  expect(await status(both, '/v1/domains', { name: 'Shop of a key' })).toBe(201)
  expect(await status(both, '/v1/alerts', {})).toBe(403)
  const { userId } = home.people.member
  const member = createKey(world.app.db, world.clock, {
    userId,
    orgId: home.orgId,
    name: 'key',
    expiresInDays: null,
    scopes: ['domains'],
  })
  expect(await status(member.secret, '/v1/domains', { name: 'Another shop' })).toBe(403)
})

test('a key with the scopes of alerts sees masked targets, and keeps them when it sends an alert back', async () => {
  const { key } = home.people.owner
  const target = 'https://hooks.example.com/services/T0/B0/of-the-alert'
  const alert = {
    name: 'With a target',
    alertType: 'data_validation',
    conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
    period: '1h',
    channels: [{ type: 'team_chat', target }],
  }
  const { id } = (await world.call('POST', '/v1/alerts', { as: key, body: alert })).body
  const as = keyWith(home, ['read', 'alerts'])
  const { channels, name } = (await world.call('GET', `/v1/alerts/${id}`, { as })).body
  expect(JSON.stringify(channels)).not.toContain('of-the-alert')
  expect((await world.call('PUT', `/v1/alerts/${id}`, { as, body: { ...alert, name, channels } })).status).toBe(200)
  const kept = (await world.call('GET', `/v1/alerts/${id}`, { as: key })).body
  expect(kept.channels).toMatchObject([{ target }])
})

describe('assistants', () => {
  const rpc = async (as: string, method: string, params: object, query = '') =>
    (
      await world.call('POST', `/mcp${query}`, {
        as,
        headers: { accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method, params },
      })
    ).body
  const tools: readonly AppRoute[] = world.app.routes.filter(({ tool }) => tool)
  const writes = ({ access }: AppRoute) => PERMISSIONS[access].writes
  const described = (tool: AppRoute) => routes.find(({ id }) => id === tool.id) as Route

  test.each(KEY_SCOPES)('with the scope %s see and call the tools of that scope', async (scope) => {
    const as = keys.get(scope) ?? ''
    const mine = tools.filter((tool) => scope === 'all' || scopeFor(described(tool)) === scope)
    const { result } = await rpc(as, 'tools/list', {}, '?groups=all')
    expect(result.tools.map(({ name }: { name: string }) => name).sort()).toEqual(
      mine.map(({ id }) => toolName(id)).sort(),
    )
    expect(mine.length).toBeGreaterThan(0)
    for (const tool of tools.filter((one) => !mine.includes(one))) {
      const name = toolName(tool.id)
      for (const call of [
        { name, arguments: {} },
        { name: 'call_tool', arguments: { name, arguments: writes(tool) ? { dryRun: true } : {} } },
      ]) {
        const { result, error } = await rpc(as, 'tools/call', call)
        const text = String(result?.content[0].text ?? error?.message)
        expect([name, result?.isError, REFUSALS.test(text)]).toEqual([name, true, true])
      }
    }
  })

  test('cannot read resources, or the backtest of a dry run, without the scope read', async () => {
    const as = keys.get('alerts') ?? ''
    const read = await rpc(as, 'resources/list', {})
    expect(String(read.error?.message)).toMatch(REFUSALS)
    const alert = {
      name: 'Dry',
      alertType: 'data_validation',
      conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
      period: '1h',
      channels: [{ type: 'email', target: 'ann@example.com' }],
      dryRun: true,
    }
    const { result } = await rpc(as, 'tools/call', { name: 'create_alert', arguments: alert })
    expect(result.structuredContent.backtest).toBeNull()
    expect(JSON.stringify(result.content)).toContain('does not have the scope')
  })
})
