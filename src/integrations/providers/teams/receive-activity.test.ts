import { describe, expect, test } from 'bun:test'
import { HOUR_MS } from '../../../core/clock.ts'
import { teamsFixture, teamsServer } from './teams.fixture.ts'
import { BOT, CHANNEL, TEAM, TENANT } from './teams-server.fixture.ts'

describe('the messaging endpoint', () => {
  test('returns 409 without a bot, and 401 without a token', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    expect((await fixture.sendActivity(server, server.added(), null)).status).toBe(401)
    expect(await fixture.sendActivity(server, server.added())).toMatchObject({
      status: 409,
      body: { error: 'no bot is configured' },
    })
    await fixture.make({ webhookUrl: `${server.url}/workflows/a?sig=x` })
    expect((await fixture.sendActivity(server, server.added())).status).toBe(409)
    expect(server.asked()).toEqual([])
  })

  test('stores service URL, conversation, tenant, team and channels', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const { body } = await fixture.make()
    expect(body).toMatchObject({ status: 'incomplete', config: { appId: BOT.appId } })
    expect((await fixture.sendActivity(server, server.added())).body).toEqual({ handled: true })
    const channel = { id: CHANNEL, name: 'Tag alerts' }
    const data = { team: { id: TEAM }, tenant: { id: TENANT }, channel, eventType: 'channelCreated' }
    await fixture.sendActivity(server, server.added({ membersAdded: undefined, channelData: data }))
    expect(fixture.stateOf(body.id)).toEqual({
      appId: BOT.appId,
      teams: [
        {
          id: TEAM,
          name: 'Web',
          tenantId: TENANT,
          serviceUrl: server.serviceUrl,
          conversationId: TEAM,
          channels: [channel],
        },
      ],
      channel: null,
    })
  })

  test.each<[string, object]>([
    ['a message to the bot', { type: 'message', text: 'hi' }],
    ['a personal conversation', { conversation: { id: 'a:1', conversationType: 'personal' }, channelData: {} }],
    ['a team without an id', { channelData: { team: {} }, conversation: {} }],
  ])('ignores %s', async (_name, more) => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const { body } = await fixture.make()
    expect((await fixture.sendActivity(server, server.added(more))).body).toEqual({ handled: false })
    expect(fixture.stateOf(body.id)).toBeNull()
  })

  test('updates all integrations with the bot, and no other integrations', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const other = { ...BOT, appId: 'another-bot' }
    const made = await Promise.all([BOT, BOT, other].map((config) => fixture.make(config)))
    await fixture.sendActivity(server, server.added())
    expect(made.map(({ body }) => fixture.stateOf(body.id) !== null)).toEqual([true, true, false])
  })

  test('updates integrations even if the secrets of another integration are missing', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const [lost, whole] = [(await fixture.make()).body.id, (await fixture.make()).body.id]
    fixture.db.prepare(`UPDATE integration SET secrets = x'' WHERE id = ?`).run(lost)
    expect((await fixture.sendActivity(server, server.added())).body).toEqual({ handled: true })
    expect(fixture.stateOf(whole)?.teams).toHaveLength(1)
    expect((await fixture.sendActivity(server, server.added(), 'a.b.c')).status).toBe(401)
  })

  test.each([
    'http://169.254.169.254/latest/',
    'https://metadata.google.internal/',
    'https://localhost/',
    'https://[::1]/',
    'https://10.0.0.7/amer/',
    'https://smba.example:22/',
    'https://smba.example@169.254.169.254/',
    'https://smba.example/?a=',
    'https://smba.example/#',
    'file:///etc/passwd',
    'smba.example',
    'https://smba.example/a b/',
  ])('sends no token to the service URL %s', async (serviceUrl) => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const { body } = await fixture.make()
    const token = await server.sign(JSON.stringify(server.claims(fixture.clock.now(), { serviceurl: serviceUrl })))
    expect((await fixture.sendActivity(server, server.added({ serviceUrl }), token)).status).toBe(200)
    expect([409, 502]).toContain((await fixture.choose(body.id)).status)
    expect(server.asked().filter((one) => one.includes('/v3/'))).toEqual([])
    expect(await fixture.statusOf(body.id)).toBe('incomplete')
  })

  test('fetches the signing keys once a day, and for unknown ids at most once an hour', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    await fixture.make()
    const fetched = () => server.asked().filter((one) => one === 'GET /keys').length
    const unknown = async () => {
      const token = await server.sign(JSON.stringify(server.claims(fixture.clock.now())), { kid: 'new-key' })
      return (await fixture.sendActivity(server, server.added(), token)).status
    }
    await Promise.all([1, 2, 3].map(() => fixture.sendActivity(server, server.added())))
    for (let index = 0; index < 5; index++) expect(await unknown()).toBe(401)
    expect(fetched()).toBe(1)
    fixture.clock.advance(HOUR_MS)
    for (let index = 0; index < 5; index++) expect(await unknown()).toBe(401)
    expect(fetched()).toBe(2)
    fixture.clock.advance(HOUR_MS)
    server.cloud.keys = [{ ...server.keys['teams-key'].jwk, kid: 'new-key', endorsements: ['msteams'] }]
    expect(await unknown()).toBe(200)
    expect(fetched()).toBe(3)
    expect((await fixture.sendActivity(server, server.added())).status).toBe(401)
    fixture.clock.advance(24 * HOUR_MS)
    expect(await unknown()).toBe(200)
    expect(fetched()).toBe(4)
  })

  test('uses cached keys if a refresh fails, and returns 502 if there are none', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    await fixture.make()
    server.cloud.instead = ({ path }) => (path === '/keys' ? new Response('later', { status: 503 }) : null)
    expect((await fixture.sendActivity(server, server.added())).status).toBe(502)
    server.cloud.instead = () => null
    expect((await fixture.sendActivity(server, server.added())).status).toBe(200)
    for (const answer of [
      '<html>',
      '{"keys": []}',
      '{"keys": [{"kid": "teams-key", "kty": "oct", "k": "AAAA"}]}',
      'null',
    ]) {
      server.cloud.instead = ({ path }) => (path === '/keys' ? new Response(answer) : null)
      fixture.clock.advance(25 * HOUR_MS)
      expect((await fixture.sendActivity(server, server.added())).status).toBe(200)
    }
  })
})
