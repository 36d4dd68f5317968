import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { type Caller, credentialsOf, ownerOf } from '../../test/fixtures.ts'
import { DAY_MS } from '../core/clock.ts'
import { revokeKey } from '../org/api-key-store.ts'
import { openSession } from '../org/session.ts'
import { addMember } from '../org/store.ts'
import {
  type Connected,
  callTool,
  connect,
  everyRow,
  type McpServer,
  oddRoutes,
  startMcp,
  VERSION,
} from './mcp-endpoint.fixture.ts'
import { mcpMethods } from './rpc-methods.ts'

let server: McpServer
beforeEach(() => {
  server = startMcp()
})
afterEach(() => {
  server[Symbol.dispose]()
  expect(server.bugs).toEqual([])
})

/** Connects with these tool groups; null selects the default groups. */
const as = (caller: Caller, groups: string | null = 'all'): Promise<Connected> =>
  connect(`${server.url}${groups === null ? '' : `?groups=${groups}`}`, credentialsOf(server.people)[caller] ?? '')
const namesOf = async (client: Connected) => (await client.listTools()).tools.map(({ name }) => name)
const takeBug = () => server.bugs.splice(0).map(([error, where]) => [error instanceof SyntaxError, where])

const READING = ['ask_slowly', 'break_thing', 'fill_disk', 'get_alert', 'get_issue', 'list_alerts', 'list_issues']
const EDITING = ['change_issue', 'change_issues', 'create_alert', 'delete_alert', 'delete_thing']
const MORE_EDITING = ['replace_alert', 'set_alert_enabled']
const ODD = ['ask_slowly', 'break_thing', 'delete_thing', 'fill_disk', 'rename_thing']

const alert = {
  name: 'Nothing arrives',
  alertType: 'volume_threshold',
  volume: { op: 'lte', count: 0 },
  period: '1h',
  channels: [{ type: 'email', target: 'ops@example.com' }],
}

test('the server returns its name and instructions', async () => {
  await using client = await as('viewer')
  expect(client.getServerVersion()).toMatchObject({ name: 'tagwarden', version: VERSION })
  expect(client.getInstructions()).toContain('list_issues')
  expect(client.getServerCapabilities()).toEqual({ tools: {}, resources: {} })
  await client.ping()
})

describe('tools', () => {
  test.each<[Caller, string[]]>([
    ['viewer', READING],
    ['readOnly', READING],
    ['member', [...READING, ...EDITING, ...MORE_EDITING]],
    ['admin', [...READING, ...EDITING, ...MORE_EDITING, 'rename_thing']],
    ['owner', [...READING, ...EDITING, ...MORE_EDITING, 'rename_thing']],
  ])('are listed for %s according to permissions', async (caller, names) => {
    await using client = await as(caller)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual([...names].sort())
    if (caller === 'viewer') expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
  })

  test('have schemas that a validator compiles', async () => {
    await using client = await as('owner')
    for (const { inputSchema, outputSchema } of (await client.listTools()).tools) {
      for (const schema of [inputSchema, outputSchema ?? {}]) new AjvJsonSchemaValidator().getValidator(schema)
    }
  })

  test.each<[Caller, string, string]>([
    ['viewer', 'create_alert', 'this key is read-only'],
    ['readOnly', 'delete_thing', 'this key is read-only'],
    ['readOnly', 'rename_thing', 'this key is read-only'],
    ['member', 'rename_thing', 'this requires the role admin; yours is member'],
  ])("can't be called without permission (caller %s, tool %s)", async (caller, name, sentence) => {
    await using client = await as(caller)
    const before = everyRow(server.db)
    expect((await callTool(client, name, { dryRun: true })).refusal).toBe(sentence)
    expect((await callTool(client, name, { ...alert, id: 'a' })).refusal).toBe(sentence)
    expect(everyRow(server.db)).toEqual(before)
  })

  test('return the response of the route as a value and as text', async () => {
    const id = server.addAlert('One')
    await using client = await as('member')
    await client.listTools()
    const { value, texts } = await callTool(client, 'get_alert', { id })
    expect(value).toMatchObject({ id, name: 'One' })
    expect(texts).toEqual([JSON.stringify(value)])
    const page = await callTool(client, 'list_alerts', { limit: 1 })
    expect(page.value).toMatchObject({ alerts: [{ id }], nextCursor: null })
    expect((await callTool(client, 'ask_slowly')).value).toEqual({ ok: true })
  })

  test("return only data from the caller's organization", async () => {
    const id = server.addAlert('One')
    await using client = await as('otherOrg')
    expect((await callTool(client, 'list_alerts')).value.alerts).toEqual([])
    expect((await callTool(client, 'get_alert', { id })).refusal).toContain('no such alert')
  })

  test('write data and record where the call came from', async () => {
    await using client = await as('admin')
    await client.listTools()
    const { value, texts } = await callTool(client, 'rename_thing', { id: 'a', name: 'ab', times: 2 })
    expect(value).toEqual({ id: 'a', name: 'abab', from: { address: '192.0.2.7', userAgent: expect.any(String) } })
    expect(texts).toHaveLength(1)
    const { thing, auditEntry } = everyRow(server.db)
    expect(thing).toEqual([{ id: 'a', name: 'abab' }])
    expect(auditEntry).toMatchObject([{ act: 'renameThing', address: '192.0.2.7' }])
    expect((await callTool(client, 'delete_thing', { id: 'a' })).value).toEqual({ ok: true })
    expect(everyRow(server.db).thing).toEqual([])
  })

  test.each<[string, Record<string, unknown>]>([
    ['rename_thing', { id: 'a', name: 'b' }],
    ['delete_thing', { id: 'kept' }],
    ['create_alert', alert],
  ])('change nothing in a dry run of %s', async (name, args) => {
    await using client = await as('owner')
    await client.listTools()
    await callTool(client, 'rename_thing', { id: 'kept', name: 'kept' })
    const before = everyRow(server.db)
    const tried = await callTool(client, name, { ...args, dryRun: true })
    expect(tried.texts[1]).toBe('This was a dry run. Nothing was changed.')
    expect(everyRow(server.db)).toEqual(before)
    const done = await callTool(client, name, { ...args, dryRun: false })
    expect(Object.keys(done.value)).toEqual(Object.keys(tried.value))
    expect(everyRow(server.db)).not.toEqual(before)
  })
})

describe('tool groups', () => {
  const USUAL_READING = ['get_alert', 'get_issue', 'list_alerts', 'list_issues', 'list_tools', 'call_tool']
  const USUAL_EDITING = ['create_alert', 'set_alert_enabled', 'change_issue']

  test.each<[Caller, string | null, string[]]>([
    ['viewer', null, USUAL_READING],
    ['owner', null, [...USUAL_READING, ...USUAL_EDITING]],
    ['owner', 'core', [...USUAL_READING, ...USUAL_EDITING]],
    ['owner', 'issues', ['list_issues', 'get_issue', 'change_issue', 'change_issues']],
    ['owner', 'issues,%20odd', ['list_issues', 'get_issue', 'change_issue', 'change_issues', ...ODD]],
    ['viewer', 'core,odd', [...USUAL_READING, 'ask_slowly', 'break_thing', 'fill_disk']],
    ['owner', 'all,issues', [...READING, ...EDITING, ...MORE_EDITING, 'rename_thing']],
  ])('offer the caller %s the tools in the groups %p', async (caller, groups, names) => {
    await using client = await as(caller, groups)
    expect((await namesOf(client)).sort()).toEqual([...names].sort())
    expect(await namesOf(client)).toEqual(await namesOf(client))
  })

  test('list the default tools without response schemas, and all other tools with response schemas', async () => {
    await using usual = await as('owner', null)
    expect((await usual.listTools()).tools.filter(({ outputSchema }) => outputSchema)).toEqual([])
    await using issues = await as('owner', 'core,issues')
    const { tools } = await issues.listTools()
    expect(tools.filter(({ name }) => name.includes('issue')).every(({ outputSchema }) => outputSchema)).toBe(true)
  })

  test.each(['nothing', '', 'core,,issues', 'Issues'])(
    'are rejected if unknown (%p), with a list of the valid groups',
    async (groups) => {
      const error = await as('owner', groups).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 400, message: expect.stringContaining('use core, all, alerts, issues, odd') })
    },
  )

  const listed = async (client: Connected, args: Record<string, unknown>) => {
    const { refusal, texts } = await callTool(client, 'list_tools', args)
    expect(refusal).toBeNull()
    return JSON.parse(texts[0] ?? '')
  }

  test('list_tools lists every tool that the caller may use, by group', async () => {
    await using viewer = await as('viewer', null)
    const { groups } = await listed(viewer, {})
    expect(groups.map(({ group }: { group: string }) => group)).toEqual(['alerts', 'issues', 'odd'])
    const names = groups.flatMap(({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name))
    expect(names.sort()).toEqual(READING)
    const { tools } = await listed(viewer, { group: 'odd' })
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(['break_thing', 'ask_slowly', 'fill_disk'])
    await using owner = await as('owner', null)
    const [described] = (await listed(owner, { name: 'rename_thing' })).tools
    expect(described).toMatchObject({ inputSchema: { required: ['id', 'name'] }, outputSchema: { type: 'object' } })
    expect((await listed(owner, { name: 'renameThing' })).tools).toEqual([described])
  })

  test('call_tool calls the tools from list_tools, with the same responses, rejections and dry runs', async () => {
    await using client = await as('admin', null)
    const call = (name: string, args?: unknown) =>
      callTool(client, 'call_tool', { name, ...(args === undefined ? {} : { arguments: args }) })
    const before = everyRow(server.db)
    const tried = await call('rename_thing', { id: 'a', name: 'b', dryRun: true })
    expect([tried.value.name, tried.texts[1]]).toEqual(['b', 'This was a dry run. Nothing was changed.'])
    expect(everyRow(server.db)).toEqual(before)
    expect((await call('rename_thing', { id: 'a', name: 'b' })).value.name).toBe('b')
    expect(everyRow(server.db).thing).toEqual([{ id: 'a', name: 'b' }])
    expect((await call('list_alerts')).value).toEqual((await callTool(client, 'list_alerts')).value)
    expect((await call('get_alert', { id: 'alr_none' })).refusal).toBe('no such alert')
    expect((await call('break_thing')).refusal).toBe('internal error; see the server log')
    expect(takeBug()).toEqual([[true, 'tool break_thing']])
  })

  test("a read-only caller can't call a tool that writes", async () => {
    await using client = await as('readOnly', null)
    const { tools } = await client.listTools()
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
    const before = everyRow(server.db)
    const call = { name: 'delete_thing', arguments: { id: 'a' } }
    expect((await callTool(client, 'call_tool', call)).refusal).toBe('this key is read-only')
    expect((await callTool(client, 'list_tools', { name: 'delete_thing' })).refusal).toBe('unknown tool: delete_thing')
    expect(everyRow(server.db)).toEqual(before)
    await using editor = await as('member', null)
    const all = (await editor.listTools()).tools
    expect(all.find(({ name }) => name === 'call_tool')?.annotations).toMatchObject({ destructiveHint: true })
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['call_tool', {}, 'name: is missing'],
    ['call_tool', { name: 5 }, 'name: must be a string'],
    ['call_tool', { name: 'list_alerts', arguments: [] }, 'arguments: must be an object'],
    ['call_tool', { name: 'list_alerts', limit: 1 }, 'limit: there is no such field'],
    ['call_tool', { name: 'drop_all' }, 'unknown tool: drop_all'],
    ['call_tool', { name: 'call_tool', arguments: { name: 'list_alerts' } }, 'unknown tool: call_tool'],
    ['call_tool', { name: 'hide_thing' }, 'unknown tool: hide_thing'],
    ['list_tools', { group: 'nothing' }, 'group: unknown group nothing; use alerts, issues, odd'],
    ['list_tools', { name: 'nothing' }, 'unknown tool: nothing'],
    ['list_tools', { colour: 'red' }, 'colour: there is no such field'],
  ])('a call to %s with %j is rejected: %s', async (name, args, sentence) => {
    await using client = await as('owner', null)
    expect((await callTool(client, name, args)).refusal).toBe(sentence)
  })
})

describe('rejected calls', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['get_alert', { id: 'alr_none' }, 'no such alert'],
    ['get_alert', { id: 'alr_none', x: 1 }, 'x: unknown; known arguments: id'],
    ['get_alert', { id: 'alr_none', dryRun: true }, 'dryRun: unknown; known arguments: id'],
    ['list_alerts', { limit: 201 }, 'limit: must be at most 200'],
    ['list_alerts', { limit: '5' }, 'limit: must be a whole number'],
    ['list_alerts', { cursor: 'nonsense' }, 'cursor: is not valid for this list'],
    ['create_alert', { ...alert, period: '0m' }, 'period: '],
    ['rename_thing', { id: 'a', name: 'x'.repeat(21) }, 'name: must have at most 20 characters'],
    ['rename_thing', { id: 'taken', name: 'a' }, 'name: is taken'],
    ['rename_thing', { id: 'taken', name: 'a', dryRun: true }, 'name: is taken'],
    ['fill_disk', {}, 'the disk is full'],
  ])('to %s with %j return an error: %s', async (name, args, sentence) => {
    await using client = await as('owner')
    await client.listTools()
    const { refusal, value, texts } = await callTool(client, name, args)
    expect(refusal).toStartWith(sentence)
    expect([value, texts.length]).toEqual([undefined, 1])
  })

  test.each<[string, Record<string, unknown>, string[]]>([
    ['rename_thing', { name: 5, times: 9, nmae: 'a' }, ['nmae', 'id', 'times', 'name']],
    ['create_alert', {}, ['name', 'alertType', 'period', 'channels']],
    [
      'create_alert',
      {
        ...alert,
        name: ' ',
        period: '5x',
        timezone: 'Mars/Base',
        volume: {},
        severity: 'huge',
        titel: 'a',
        channels: [],
      },
      ['name', 'period', 'timezone', 'severity', 'titel', 'channels'],
    ],
    [
      'create_alert',
      {
        ...alert,
        alertType: 'data_validation',
        volume: undefined,
        conditions: {
          logic: 'any',
          items: [
            { parameter: '$nothing', op: 'is_blank' },
            { parameter: 'value', op: 'gt', values: ['many'] },
            { parameter: 'value', op: 'is_blank' },
            { parameter: 'value', op: 'equals' },
          ],
        },
        filters: [{ parameter: 'x', op: 'regex', values: ['('] }],
      },
      [
        'filters[0].values[0]',
        'conditions.items[0].parameter',
        'conditions.items[1].values[0]',
        'conditions.items[3].values',
      ],
    ],
  ])('to %s with %j list all invalid fields', async (name, args, fields) => {
    await using client = await as('owner')
    const { refusal } = await callTool(client, name, args)
    const lines = (refusal ?? '').split('\n')
    const named = lines.map((line) => line.split(': ', 1)[0] ?? '')
    expect(named).toEqual(expect.arrayContaining(fields))
    expect(new Set(named).size).toBe(lines.length)
  })

  test('to an unknown tool return an error with its name', async () => {
    await using client = await as('owner')
    for (const name of ['drop_everything', 'hide_thing', 'hideThing', 'constructor']) {
      const error = await client.callTool({ name }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: -32602, message: `MCP error -32602: unknown tool: ${name}` })
    }
  })

  test('an unexpected error is reported, and the response omits its details', async () => {
    await using client = await as('viewer')
    const { refusal } = await callTool(client, 'break_thing')
    expect(refusal).toBe('internal error; see the server log')
    expect(takeBug()).toEqual([[true, 'tool break_thing']])
  })

  test('a revoked key stops working between two calls', async () => {
    const { alice } = server.people
    await using client = await as('owner')
    await callTool(client, 'list_alerts')
    revokeKey(server.db, server.clock, ownerOf(alice), alice.keyId)
    const error = await client.callTool({ name: 'list_alerts' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 401 })
  })

  test('a session of a user with several organizations must specify one of them', async () => {
    const { alice, mallory } = server.people
    addMember(server.db, server.clock, { orgId: mallory.orgId, userId: alice.userId, role: 'viewer' })
    const { token } = openSession(server.db, server.clock, alice.userId, 'password')
    const error = await connect(server.url, token).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 400, message: expect.stringContaining(mallory.orgId) })
    await using client = await connect(`${server.url}?groups=all`, token, { 'x-org-id': mallory.orgId })
    expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual(READING)
  })

  test.each<Caller>(['nobody', 'stranger', 'revoked', 'expired'])('the caller %s has no access', async (caller) => {
    const error = await as(caller).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 401 })
  })
})

describe('resources', () => {
  test('are listed newest first, limited to the most recent of each kind', async () => {
    for (let index = 0; index < 60; index++) server.addIssue(`Issue ${index}`)
    const alerts = Array.from({ length: 205 }, (_, index) => server.addAlert(`Alert ${index}`))
    await using client = await as('viewer')
    const { resources } = await client.listResources()
    const ofKind = (kind: string) => resources.filter(({ uri }) => uri.startsWith(`tagwarden://${kind}/`))
    expect(ofKind('alerts').map(({ name }) => name)).toEqual(alerts.slice(-50).reverse())
    expect(ofKind('alerts')[0]).toMatchObject({ title: 'Alert 204', mimeType: 'application/json' })
    expect(ofKind('issues')).toHaveLength(50)
    expect(ofKind('issues')[0]).toMatchObject({ title: expect.stringContaining('Issue 59 ') })
    expect(ofKind('issues')[49]).toMatchObject({ title: expect.stringContaining('Issue 10 ') })
  })

  test('have URI templates', async () => {
    await using client = await as('viewer')
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'tagwarden://issues/{id}',
      'tagwarden://alerts/{id}',
    ])
  })

  test("contain the responses of the routes, for the caller's organization only", async () => {
    server.addIssue('x')
    const id = server.addAlert('One')
    await using client = await as('member')
    const read = async (uri: string) => {
      const { contents } = await client.readResource({ uri })
      const [content] = contents as { uri: string; mimeType: string; text: string }[]
      expect([content?.uri, content?.mimeType, contents.length]).toEqual([uri, 'application/json', 1])
      return JSON.parse(content?.text ?? '')
    }
    expect(await read(`tagwarden://alerts/${id}`)).toEqual((await callTool(client, 'get_alert', { id })).value)
    const [issue] = (await callTool(client, 'list_issues')).value.issues
    expect(await read(`tagwarden://issues/${issue.id}`)).toMatchObject({ ...issue, history: expect.any(Array) })

    await using stranger = await as('otherOrg')
    expect((await stranger.listResources()).resources).toEqual([])
    for (const uri of [`tagwarden://alerts/${id}`, `tagwarden://issues/${issue.id}`]) {
      const error = await stranger.readResource({ uri }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: -32002, message: expect.stringMatching(/no such alert|does not exist/) })
    }
  })

  test.each(['tagwarden://alerts/', 'tagwarden://keys/key_1', 'file:///etc/passwd', '', 'tagwarden://alerts/a/../b'])(
    'do not exist at the URI %p',
    async (uri) => {
      await using client = await as('owner')
      const error = await client.readResource({ uri }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: -32002, message: 'MCP error -32002: no such resource' })
    },
  )

  test('return no details of an unexpected error', async () => {
    const id = server.addAlert('One')
    server.db.prepare('UPDATE alert SET updatedAt = createdAt - ?').run(DAY_MS)
    server.db.exec('DROP TABLE alert')
    await using client = await as('owner')
    for (const work of [client.readResource({ uri: `tagwarden://alerts/${id}` }), client.listResources()]) {
      const error = await work.catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ message: 'MCP error -32603: internal error; see the server log' })
    }
    expect(server.bugs.splice(0).map(([, where]) => where)).toEqual(['resources/read', 'resources/list'])
  })
})

describe('startup fails', () => {
  const parts = { perform: () => null, report() {} }
  test('if resource routes are missing', () => {
    expect(() => mcpMethods({ ...parts, routes: [] })).toThrow('there is no route listIssues')
  })

  test('if two tools share a name', () => {
    const routes = oddRoutes(server.db).filter(({ id }) => id === 'deleteThing')
    expect(() => mcpMethods({ ...parts, routes: [...routes, ...routes] })).toThrow('two tools share a name')
  })
})
