import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AlertChannel } from '../../src/alerts/alert.ts'
import { unsealTarget } from '../../src/alerts/encrypt-channel-target.ts'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { folderPaths } from '../../src/data-folder/folder-paths.ts'
import { callTool, connect } from '../../src/mcp/mcp-endpoint.fixture.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { addMember, createUser } from '../../src/org/store.ts'
import { openDatabase } from '../../src/store/database.ts'
import type { Outbound, Reply } from '../../src/transport/transport.ts'
import { testApp } from '../test-app.ts'

/*
 * A URL used as a channel target is a credential: it is encrypted in the data folder and masked for viewers and
 * read-only keys. Sending back the masked value leaves the target unchanged.
 */

const SECRETS = [
  'planted-slack-1a2b',
  'planted-slack-other-3c4d',
  'planted-sig-5e6f',
  'planted-hook-7a8b',
  'planted-url-9c0d',
]
const [SLACK, OTHER_SLACK, WORKFLOW, HOOK] = [
  `https://hooks.example.com/services/T0/B0/${SECRETS[0]}`,
  `https://hooks.example.com/services/T0/B1/${SECRETS[1]}`,
  `https://flows.example.com:8443/workflows/1?api-version=1&sig=${SECRETS[2]}`,
  `https://calls.example.com/in?token=${SECRETS[3]}`,
] as const
const INTEGRATED = `https://hooks.example.com/catch/${SECRETS[4]}`
const CHANNELS: AlertChannel[] = [
  { type: 'team_chat', target: SLACK },
  { type: 'team_chat', target: OTHER_SLACK },
  { type: 'office_chat', target: WORKFLOW },
  { type: 'webhook', target: HOOK },
  { type: 'email', target: 'ann@people.example, ben@people.example' },
  { type: 'email', target: 'owners' },
]
const MASKED = [
  { type: 'team_chat', target: expect.stringMatching(/^https:\/\/hooks\.example\.com\/\*{3}[\w-]{8}$/) },
  { type: 'team_chat', target: expect.stringMatching(/^https:\/\/hooks\.example\.com\/\*{3}[\w-]{8}$/) },
  { type: 'office_chat', target: expect.stringMatching(/^https:\/\/flows\.example\.com:8443\/\*{3}[\w-]{8}$/) },
  { type: 'webhook', target: expect.stringMatching(/^https:\/\/calls\.example\.com\/\*{3}[\w-]{8}$/) },
  { type: 'email', target: 'a***@p***.example, b***@p***.example' },
  { type: 'email', target: 'owners' },
]

/** Returns the secrets and channel targets found in a string. */
const shownIn = (text: string) => [...SECRETS, 'ann@people', 'ben@people'].filter((secret) => text.includes(secret))

function* filesIn(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) yield* filesIn(path)
    else yield path
  }
}

/** Returns the files in a data folder that contain the secret part of a URL. */
const leaks = (folder: string) =>
  [...filesIn(folder)].filter((path) => {
    const text = readFileSync(path, 'latin1')
    return SECRETS.some((secret) => text.includes(secret))
  })

const alert = {
  name: 'Value',
  alertType: 'data_validation',
  period: '1h',
  conditions: { logic: 'all', items: [{ parameter: 'value', op: 'is_blank' }] },
  channels: CHANNELS,
}
const steps = [{ type: 'navigate', url: 'https://shop.example/' }]
const flowTest = { name: 'Buy', recording: { title: 'Buy', steps }, channels: CHANNELS }

/**
 * Starts a server with an alert, a flow test and an issue that use these channels. `sent` contains the requested URLs.
 */
async function planted() {
  const sent: string[] = []
  const world = await testApp({ smtpUrl: 'smtp://127.0.0.1:1' }, {
    transport: {
      async send(outbound: Outbound): Promise<Reply> {
        if (outbound.kind === 'mail') return { kind: 'status', status: 250, headers: {}, body: '' }
        sent.push(outbound.url)
        // The receiver echoes the request.
        return { kind: 'status', status: 200, headers: {}, body: `ok ${outbound.url}` }
      },
    },
  } as never)
  const { db } = world.app
  const keyOf = (role: 'viewer' | 'member' | 'admin', readOnly: boolean) => {
    const { id: userId } = createUser(db, world.clock, {
      email: `${role}${readOnly}@people.example`,
      passwordHash: null,
    })
    addMember(db, world.clock, { orgId: world.owner.orgId, userId, role })
    return createKey(db, world.clock, {
      userId,
      orgId: world.owner.orgId,
      name: 'A key',
      readOnly,
      expiresInDays: null,
    }).secret
  }
  const keys = {
    viewer: keyOf('viewer', true),
    readOnly: keyOf('member', true),
    member: keyOf('member', false),
    adminReadOnly: keyOf('admin', true),
  }
  const make = async (path: string, body: object) => {
    const answer = await world.call('POST', path, { body })
    expect([path, answer.status, answer.body.error]).toEqual([path, 201, undefined])
    return answer.body
  }
  const domain = await make('/v1/domains', { name: 'Shop' })
  const { id: alertId } = await make('/v1/alerts', alert)
  const { id: testId } = await make('/v1/flows/tests', flowTest)
  const config = { url: INTEGRATED }
  const { id: integrationId } = await make('/v1/integrations', { provider: 'webhook', label: 'Catch', config })
  const violate = async () => {
    await world.collect(domain.token, { events: [{ vendor: 'Shop', event: 'buy', params: {} }] })
    await world.at(world.clock.now() + MINUTE_MS)
  }
  return { world, sent, keys, alertId, testId, integrationId, violate }
}

describe('the target URL of a channel', () => {
  let made: Awaited<ReturnType<typeof planted>>
  let issueId = ''
  const get = async (path: string, as?: string) => {
    const { status, body } = await made.world.call('GET', path, as === undefined ? {} : { as })
    expect([path, status]).toEqual([path, 200])
    return body
  }

  beforeAll(async () => {
    made = await planted()
    await made.violate()
    issueId = (await get('/v1/issues')).issues[0].id
  })
  afterAll(() => made.world[Symbol.asyncDispose]())

  test('is requested exactly as entered', () => {
    expect(made.sent.toSorted()).toEqual([SLACK, OTHER_SLACK, WORKFLOW, HOOK].toSorted())
  })

  test('never appears in the data folder or the log, even if the receiver echoes it', () => {
    expect(leaks(made.world.folder)).toEqual([])
    expect(made.world.lines.flatMap(shownIn)).toEqual([])
  })

  test('is shown to users with permission to edit channels', async () => {
    const { alertId, testId, keys } = made
    for (const path of [`/v1/alerts/${alertId}`, `/v1/flows/tests/${testId}`])
      expect((await get(path, keys.member)).channels).toEqual(CHANNELS)
    const { history } = await get(`/v1/issues/${issueId}`, keys.member)
    const told = history.flatMap(({ kind, payload }: { kind: string; payload: { channel: AlertChannel } }) =>
      kind === 'notified' ? payload.channel.target : [],
    )
    expect(told.toSorted()).toEqual(CHANNELS.map(({ target }) => target).toSorted())
    const { deliveries } = await get('/v1/notifications/deliveries', keys.member)
    expect(deliveries.map(({ channel }: { channel: AlertChannel }) => channel.target).toSorted()).toEqual(
      told.toSorted(),
    )
    const evidence = await get(`/v1/issues/${issueId}/evidence`, keys.member)
    expect(evidence.alert.channels).toEqual(CHANNELS)
  })

  test.each(['viewer', 'readOnly', 'adminReadOnly'] as const)('is masked for a %s key', async (who) => {
    const { world, alertId, testId, integrationId } = made
    const as = made.keys[who]
    expect((await get(`/v1/alerts/${alertId}`, as)).channels).toEqual(MASKED)
    expect((await get('/v1/alerts', as)).alerts[0].channels).toEqual(MASKED)
    expect((await get(`/v1/flows/tests/${testId}`, as)).channels).toEqual(MASKED)
    expect((await get('/v1/flows/tests', as)).tests[0].channels).toEqual(MASKED)
    const [{ id: deliveryId }] = (await get('/v1/notifications/deliveries', as)).deliveries
    for (const { method, path } of world.app.routes) {
      if (method !== 'GET') continue
      const nouns: Record<string, string> = {
        alerts: alertId,
        tests: testId,
        issues: issueId,
        deliveries: deliveryId,
        integrations: integrationId,
      }
      const at = path.replace(/(\w+)\/\{id\}/, (whole, noun) => (nouns[noun] ? `${noun}/${nouns[noun]}` : whole))
      const { body } = await world.call('GET', at, { as })
      expect([at, shownIn(JSON.stringify(body))]).toEqual([at, []])
    }
  })

  test('is masked for an assistant with a read-only key', async () => {
    const { world, keys, alertId } = made
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => world.app.fetch(request) })
    try {
      await using tools = await connect(`http://127.0.0.1:${server.port}/mcp`, keys.readOnly)
      const calls: [string, object?][] = [
        ['list_alerts'],
        ['get_alert', { id: alertId }],
        ['get_issue', { id: issueId }],
        ['investigate_issue', { id: issueId }],
        ['list_deliveries'],
        ['list_flow_tests'],
      ]
      for (const [name, args] of calls) {
        const { texts } = await callTool(tools, name, args as never)
        expect([name, shownIn(texts.join())]).toEqual([name, []])
      }
    } finally {
      await server.stop(true)
    }
  })

  test('is unchanged when masked values are sent back in any order, even with a new channel', async () => {
    const { world, keys, alertId, testId, sent } = made
    const fresh: AlertChannel = { type: 'webhook', target: 'https://new.example.com/planted-new' }
    for (const [path, body] of [
      [`/v1/alerts/${alertId}`, alert],
      [`/v1/flows/tests/${testId}`, flowTest],
    ] as const) {
      const { channels } = await get(path, keys.readOnly)
      const answer = await world.call('PUT', path, {
        as: keys.member,
        body: { ...body, channels: [fresh, ...channels.toReversed()] },
      })
      expect([answer.status, answer.body.channels]).toEqual([200, [fresh, ...CHANNELS.toReversed()]])
    }
    sent.length = 0
    const [{ id }] = (await get('/v1/issues')).issues
    await world.call('PATCH', `/v1/issues/${id}`, { body: { status: 'resolved' } })
    world.clock.advance(MINUTE_MS)
    await made.violate()
    expect(new Set(sent)).toEqual(new Set([SLACK, OTHER_SLACK, WORKFLOW, HOOK, fresh.target]))
    expect(leaks(world.folder)).toEqual([])
  })

  test('is unchanged in an integration when its masked value is sent back', async () => {
    const { world, keys, integrationId, sent } = made
    const path = `/v1/integrations/${integrationId}`
    expect((await get(path)).config).toEqual({ url: INTEGRATED })
    const { config } = await get(path, keys.adminReadOnly)
    expect(config.url).toMatch(/^https:\/\/hooks\.example\.com\/\*{3}[\w-]{8}$/)
    const put = (url: string) =>
      world.call('PUT', path, { body: { provider: 'webhook', label: 'Catch', config: { url } } })
    expect((await put(config.url)).body).toMatchObject({ config: { url: INTEGRATED } })
    sent.length = 0
    expect((await world.call('POST', `${path}/test`)).status).toBe(200)
    expect(sent).toEqual([INTEGRATED])
    const other = await put('https://hooks.example.com/***AAAAAAAA')
    expect([other.status, other.body.error]).toEqual([400, expect.stringMatching(/^config\.url: the URL is masked/)])
    expect((await get(path)).config).toEqual({ url: INTEGRATED })
  })

  test.each([
    ['a masked URL that is not in the alert', { type: 'team_chat', target: 'https://hooks.example.com/***AAAAAAAA' }],
    ['a masked URL of a channel of another type', null],
    ['a masked e-mail address that is not in the alert', { type: 'email', target: 'x***@y***.example' }],
    ['its encrypted form', { type: 'webhook', target: 'sealed:https://hooks.example.com/AAAA' }],
  ])('is not replaced by %s', async (_what, given) => {
    const { world, keys, alertId } = made
    const path = `/v1/alerts/${alertId}`
    const before = await get(path, keys.member)
    const masked = (await get(path, keys.readOnly)).channels
    const slack = masked.find(({ type }: AlertChannel) => type === 'team_chat')
    const channel = given ?? { ...slack, type: 'webhook' }
    const { status, body } = await world.call('PUT', path, { as: keys.member, body: { ...alert, channels: [channel] } })
    expect([status, body.error]).toEqual([400, expect.stringMatching(/^channels\[0\]\.target: /)])
    expect(await get(path, keys.member)).toEqual(before)
  })

  test('is rejected in masked form for a new alert, without affecting other alerts', async () => {
    const { world, keys, alertId } = made
    const { channels } = await get(`/v1/alerts/${alertId}`, keys.readOnly)
    const copy = { ...alert, channels }
    const { status, body } = await world.call('POST', '/v1/alerts', { as: keys.member, body: copy })
    expect([status, body.error]).toEqual([400, expect.stringMatching(/^channels\[0\]\.target: is masked/)])
    const plain = { ...alert, channels: [{ type: 'email', target: 'owners' }] }
    const bulk = await world.call('POST', '/v1/alerts/bulk', { as: keys.member, body: { alerts: [copy, plain] } })
    expect(bulk.body).toMatchObject({
      created: 1,
      failed: 1,
      errors: [{ index: 0, error: expect.stringMatching(/^alerts\[0\]\.channels\[0\]\.target: is masked/) }],
    })
  })
})

test('URLs stored by an earlier version are encrypted at startup, and waiting deliveries are sent', async () => {
  const { world, sent, violate, alertId, testId, integrationId } = await planted()
  await using _ = world
  await violate()
  sent.length = 0
  /** Rewrites the database to the format of the earlier version. */
  const unseal = (folder: string) => {
    const { box } = world.app
    const db = openDatabase(folderPaths(folder).database)
    const plain = (text: string) =>
      text.replaceAll(/sealed:https:\/\/[^"]+?\/[\w-]+/g, (sealed) => unsealTarget(box, sealed))
    db.function('plain', (text) => plain(String(text)))
    for (const [table, columns] of Object.entries({
      alert: ['input'],
      flowTest: ['settings'],
      issue: ['channels'],
      issueHistory: ['payload'],
      issueMemory: ['channelTarget'],
      integration: ['config'],
      delivery: ['channelTarget', 'transitionKey', 'noticeKey'],
    }))
      for (const column of columns)
        db.exec(`UPDATE ${table} SET ${column} = plain(${column}) WHERE ${column} LIKE '%sealed:%'`)
    // Sent chat messages are recorded by target. Without the record, the chat is notified again.
    db.exec(`UPDATE delivery SET status = 'pending', dueAt = 0, expiresAt = NULL, deliveredAt = NULL;
      DELETE FROM issueMemory WHERE channelType = 'team_chat';
      INSERT INTO startTask VALUES ('sealTargets')`)
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
    expect(leaks(folder)).toEqual([folderPaths(folder).database])
  }
  await world.restart(unseal)
  expect(leaks(world.folder)).toEqual([])
  world.clock.advance(MINUTE_MS)
  await world.run('deliver')
  expect(sent.toSorted()).toEqual([SLACK, OTHER_SLACK, HOOK].toSorted())
  for (const path of [`/v1/alerts/${alertId}`, `/v1/flows/tests/${testId}`])
    expect((await world.call('GET', path)).body.channels).toEqual(CHANNELS)
  expect((await world.call('GET', `/v1/integrations/${integrationId}`)).body.config).toEqual({ url: INTEGRATED })
  expect(world.app.db.prepare('SELECT * FROM startTask').all()).toEqual([])
  await world.restart()
  expect((await world.call('GET', `/v1/alerts/${alertId}`)).body.channels).toEqual(CHANNELS)
})
