import { describe, expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { type Received, receiver } from '../../../transport/receiver.fixture.ts'
import { type Server, teamsFixture, teamsServer } from './teams.fixture.ts'
import { BOT, CHANNEL, TEAM, TENANT } from './teams-server.fixture.ts'

/** The texts of a card, in order. */
// biome-ignore lint/suspicious/noExplicitAny: tests access the fields they expect
function textsOf(content: any): string[] {
  const card = content?.attachments?.[0]?.content
  return (card?.body ?? []).flatMap((block: { text?: string; facts?: { title: string; value: string }[] }) =>
    block.facts ? block.facts.map(({ title, value }) => `${title}: ${value}`) : [block.text ?? ''],
  )
}
const latest = ({ cloud }: Server, index: number) => textsOf(cloud.posts[index]?.contents.at(-1))
const tokensAsked = (server: Server) => server.asked().filter((one) => one.endsWith('/oauth2/v2.0/token'))

describe('the channel', () => {
  test('is chosen with a test message, and becomes the default label', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const { body } = await fixture.make()
    await fixture.sendActivity(server, server.added())
    expect(await fixture.choose(body.id)).toMatchObject({ status: 200, body: { ok: true, label: 'Tag alerts' } })
    expect(await fixture.get(body.id)).toMatchObject({ status: 'connected', label: 'Tag alerts' })
    expect(latest(server, 0).join()).toContain('Notifications will be posted to Tag alerts')
    expect((await fixture.choose(body.id, TEAM, 'General')).body).toEqual({ ok: true, label: 'Tag alerts' })
    expect(tokensAsked(server)).toEqual(['POST /botframework.com/oauth2/v2.0/token'])
  })

  test('can be given as a link copied from Teams', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const { body } = await fixture.make(BOT, 'Web team')
    await fixture.sendActivity(server, server.added())
    const link = `https://teams.microsoft.com/l/channel/${encodeURIComponent(CHANNEL)}/Tag%20alerts?groupId=x&tenantId=y`
    expect((await fixture.choose(body.id, link)).body).toEqual({ ok: true, label: 'Web team' })
    expect(server.cloud.posts[0]?.channelId).toBe(CHANNEL)
  })

  const only = (status: number, where: string) => (request: Received) =>
    request.path.includes(where) ? new Response('', { status }) : null
  test.each<[string, (cloud: Server['cloud']) => object, string]>([
    ['a missing channel', () => ({ channels: [] }), 'HTTP 404 ConversationNotFound: Conversation not found.'],
    ['a removed bot', () => ({ hasBot: false }), 'HTTP 403 BotNotInConversationRoster'],
    ['a changed client secret', () => ({ secret: 'changed' }), 'invalid_client'],
    ['a server error', () => ({ instead: only(503, '/v3/') }), 'HTTP 503'],
    ['a login error', () => ({ instead: only(500, '/token') }), 'HTTP 500'],
    ['a rejected token', () => ({ instead: only(401, '/v3/') }), 'HTTP 401'],
  ])('is not changed in case of %s', async (_name, spoil, reason) => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const { body } = await fixture.make()
    await fixture.sendActivity(server, server.added())
    const before = { ...(await fixture.get(body.id)), state: fixture.stateOf(body.id) }
    Object.assign(server.cloud, spoil(server.cloud))
    const answer = await fixture.choose(body.id)
    expect([answer.status, answer.body.error]).toEqual([502, expect.stringContaining('the test post failed: ')])
    expect(answer.body.error).toContain(reason)
    expect(answer.body.error).not.toContain(BOT.appPassword)
    expect({ ...(await fixture.get(body.id)), state: fixture.stateOf(body.id) }).toEqual(before)
  })

  test("requires an installed bot and an integration of the caller's organization", async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const { body } = await fixture.make()
    expect((await fixture.choose(body.id)).body.error).toContain('the bot is not installed in any team')
    const workflow = await fixture.make({ webhookUrl: `${server.url}/workflows/a` })
    expect((await fixture.choose(workflow.body.id)).status).toBe(409)
    expect((await fixture.choose('int_nobody')).status).toBe(404)
    const theirs = await fixture.make({ ...BOT, appId: 'their-bot' }, undefined, fixture.people.mallory.key)
    expect((await fixture.choose(theirs.body.id)).status).toBe(404)
    const asVera = { as: fixture.people.vera.key, body: { channelId: CHANNEL, channelName: 'x' } }
    expect((await fixture.call('POST', `/v1/integrations/office_chat/${body.id}/channel`, asVera)).status).toBe(403)
    expect(server.asked().filter((one) => one.startsWith('POST'))).toEqual([])
  })

  test('can be chosen for an integration created after the bot was installed', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    await fixture.connected(server)
    const second = await fixture.make(BOT, 'General')
    expect((await fixture.choose(second.body.id, TEAM, 'General')).status).toBe(200)
    await fixture.tell(second.body.id)
    expect(server.cloud.posts.map(({ channelId }) => channelId)).toEqual([CHANNEL, TEAM, TEAM])
    const theirs = (await fixture.make({ ...BOT, appId: 'their-bot' }, undefined, fixture.people.mallory.key)).body.id
    const body = { channelId: TEAM, channelName: 'General' }
    const path = `/v1/integrations/office_chat/${theirs}/channel`
    expect((await fixture.call('POST', path, { as: fixture.people.mallory.key, body })).status).toBe(409)
  })

  test('requires a name with visible characters', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const { body } = await fixture.make()
    await fixture.sendActivity(server, server.added())
    const { status, body: refusal } = await fixture.choose(body.id, CHANNEL, ' \u202e ')
    expect([status, refusal]).toEqual([400, { error: 'channelName: must contain a visible character' }])
    expect(server.cloud.posts).toEqual([])
  })

  test('requires a bot that no other organization has registered', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    const as = fixture.people.mallory.key
    const body = { provider: 'office_chat', config: BOT }
    const refusal = { status: 409, body: { error: 'config.appId: is already registered by another organization' } }
    expect(await fixture.call('POST', '/v1/integrations', { as, body })).toMatchObject(refusal)
    const other = { provider: 'office_chat', config: { ...BOT, appId: 'another-bot' } }
    const made = await fixture.call('POST', '/v1/integrations', { as, body: other })
    expect(made.status).toBe(201)
    expect(await fixture.call('PUT', `/v1/integrations/${made.body.id}`, { as, body })).toMatchObject(refusal)
    expect((await fixture.call('DELETE', `/v1/integrations/${id}`, { as: fixture.ada.key })).status).toBe(200)
    expect((await fixture.call('PUT', `/v1/integrations/${made.body.id}`, { as, body })).status).toBe(200)
  })

  test('must be chosen again for another bot', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    const put = (config: object) =>
      fixture.call('PUT', `/v1/integrations/${id}`, { as: fixture.ada.key, body: { provider: 'office_chat', config } })
    expect((await put({ appId: BOT.appId })).body.status).toBe('connected')
    expect((await put({ appId: 'another-bot' })).body.status).toBe('incomplete')
    expect((await put({ webhookUrl: `${server.url}/workflows/a`, appPassword: null })).body).toMatchObject({
      status: 'connected',
      config: {},
    })
    expect((await put({ ...BOT, webhookUrl: null })).body).toMatchObject({ status: 'connected' })
    expect((await put({ ...BOT, appId: 'another-bot' })).body.status).toBe('incomplete')
  })

  test('is retained when the integration changes from a bot to a workflow and back', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    const put = async (config: object) => {
      const body = { provider: 'office_chat', config }
      const { status, body: answer } = await fixture.call('PUT', `/v1/integrations/${id}`, {
        as: fixture.ada.key,
        body,
      })
      return [status, answer]
    }
    const workflow = [200, expect.objectContaining({ status: 'connected', config: {} })]
    expect(await put({ webhookUrl: `${server.url}/workflows/a` })).toEqual(workflow)
    expect(await put({})).toEqual(workflow)
    const { appId } = BOT
    expect(await put({ appId })).toEqual([400, { error: 'config.appPassword: is missing' }])
    expect(await put(BOT)).toEqual([200, expect.objectContaining({ status: 'connected', config: { appId } })])
  })
})

describe('an issue', () => {
  test('is posted as one message with the current status, and later messages appear in its thread', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    await fixture.tell(id)
    fixture.setStatusByUser('acknowledged')
    await fixture.follow()
    expect(latest(server, 1)).toContain('Acknowledged by Alice')
    const notified = fixture.issueRow()?.notificationsSent
    fixture.setStatusByUser('resolved')
    await fixture.follow()
    await fixture.tell(id, 'resolved')
    await fixture.later(11 * SECOND_MS)
    await fixture.tell(id, 'reopened')
    await fixture.tell(id, 'repeated')
    const [, opening, ...thread] = server.cloud.posts
    expect(opening?.contents).toHaveLength(3)
    expect(latest(server, 1)).toContain('Resolved by Alice')
    expect(thread.map(({ conversationId }) => conversationId)).toEqual(Array(3).fill(opening?.conversationId))
    expect(thread.map((_, index) => latest(server, index + 2)[0])).toEqual([
      expect.stringContaining('Resolved'),
      expect.stringContaining('Reopened'),
      expect.stringContaining('Still happening'),
    ])
    expect(fixture.summary()).toEqual([
      'opened delivered',
      'resolved delivered',
      'reopened delivered',
      'repeated delivered',
    ])
    expect(notified).toBe(1)
    expect(tokensAsked(server)).toHaveLength(1)
  })

  test('stays pending with a reason while no channel is chosen', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const { body } = await fixture.make()
    await fixture.tell(body.id)
    expect(fixture.deliveries()[0]).toMatchObject({
      status: 'failed',
      lastError: expect.stringContaining('incomplete'),
    })
    expect(server.asked()).toEqual([])
  })

  test('of a group is updated in the group message, or posted separately if that message was deleted', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    for (const issueId of ['iss_1', 'iss_2', 'iss_3', 'iss_4']) await fixture.tell(id, 'opened', issueId)
    await fixture.later(31 * SECOND_MS)
    const [, first, group] = server.cloud.posts
    expect(server.cloud.posts).toHaveLength(3)
    fixture.setStatusByUser('resolved', 'iss_3')
    await fixture.follow()
    await fixture.tell(id, 'resolved', 'iss_3')
    await fixture.later(11 * SECOND_MS)
    fixture.setStatusByUser('open', 'iss_3')
    await fixture.tell(id, 'reopened', 'iss_3')
    fixture.setStatusByUser('acknowledged', 'iss_3')
    await fixture.follow()
    expect(server.cloud.posts.slice(3).map(({ conversationId }) => conversationId)).toEqual(
      Array(2).fill(group?.conversationId),
    )
    const shown = JSON.stringify(group?.contents.at(-1))
    for (const issueId of ['iss_2', 'iss_3', 'iss_4']) expect(shown).toContain(`/issues/${issueId}`)
    expect(shown).toContain('**Acknowledged')
    server.cloud.posts.splice(0, 99, ...(first ? [first] : []))
    await fixture.tell(id, 'repeated', 'iss_4')
    fixture.setStatusByUser('acknowledged', 'iss_4')
    await fixture.follow()
    const alone = server.cloud.posts[1]
    expect(alone?.contents).toHaveLength(2)
    expect(JSON.stringify(alone?.contents.at(-1))).not.toContain('/issues/iss_2')
  })

  test('starts a new conversation if its previous conversation was deleted', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    await fixture.tell(id)
    server.cloud.posts.length = 0
    await fixture.tell(id, 'repeated')
    await fixture.tell(id, 'repeated')
    const [first, second] = server.cloud.posts
    expect(server.cloud.posts).toHaveLength(2)
    expect(second?.conversationId).toBe(String(first?.conversationId))
    server.cloud.posts.length = 0
    fixture.setStatusByUser('acknowledged')
    await fixture.follow()
    expect(server.asked().at(-1)).toMatch(/^PUT /)
    const asked = server.requests.length
    await fixture.follow()
    expect(server.requests).toHaveLength(asked)
  })

  test('is posted once and updated, regardless of which response is lost', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    let lost = 0
    fixture.network.losesResponse = ({ method }) => method === 'PUT' && lost++ === 0
    await fixture.tell(id)
    fixture.setStatusByUser('acknowledged')
    await fixture.follow()
    fixture.clock.advance(6 * SECOND_MS)
    await fixture.follow()
    expect(server.cloud.posts[1]?.contents).toHaveLength(3)
  })

  test('is posted to the most recently chosen channel, while existing threads are unchanged', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    await fixture.tell(id)
    await fixture.choose(id, TEAM, 'General')
    await fixture.tell(id, 'repeated')
    await fixture.tell(id, 'opened', 'iss_2')
    // The second issue waits until further issues can be grouped with it.
    await fixture.later(31 * SECOND_MS)
    expect(server.cloud.posts.map(({ channelId }) => channelId)).toEqual([CHANNEL, CHANNEL, TEAM, CHANNEL, TEAM])
  })
})

describe('a delivery', () => {
  test('is not repeated after a crash, only on a requested replay', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    await fixture.tell(id)
    const again = `UPDATE delivery SET status = 'pending', dueAt = 0`
    // Restores the state after a crash between saving the memory and recording the outcome.
    fixture.db.prepare(`${again}, deliveredAt = NULL`).run()
    await fixture.deliver()
    expect(server.cloud.posts).toHaveLength(2)
    const [delivery] = fixture.deliveries()
    const path = `/v1/notifications/deliveries/${delivery?.id}/replay`
    expect((await fixture.call('POST', path, { as: fixture.ada.key })).status).toBe(200)
    await fixture.deliver()
    expect(server.cloud.posts).toHaveLength(3)
    expect(fixture.summary()).toEqual(['opened delivered'])
  })

  test('is sent to the chosen channel if the bot was removed from the channel of the thread', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    await fixture.tell(id)
    await fixture.choose(id, TEAM, 'General')
    server.cloud.instead = ({ path }) =>
      path.includes(encodeURIComponent(CHANNEL))
        ? Response.json({ error: { code: 'Forbidden' } }, { status: 403 })
        : null
    await fixture.tell(id, 'repeated')
    await fixture.tell(id, 'repeated')
    expect(server.cloud.posts.slice(3).map(({ channelId }) => channelId)).toEqual([TEAM, TEAM])
    expect(fixture.deliveries().every(({ status }) => status === 'delivered')).toBe(true)
  })

  test('lists every attempt without secrets', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const url = `${server.url}/workflows/a?sp=%2Ftriggers&sig=s1gnature-of-a-workflow`
    const { id } = (await fixture.make({ webhookUrl: url })).body
    server.cloud.instead = ({ path }) => new Response(`no run for ${path}`, { status: 503 })
    await fixture.tell(id)
    const [delivery] = fixture.deliveries()
    const { body } = await fixture.call('GET', `/v1/notifications/deliveries/${delivery?.id}`, { as: fixture.ada.key })
    expect(body.log).toMatchObject([
      { outcome: 'retry', reason: 'HTTP 503', answer: expect.stringContaining('no run for') },
    ])
    expect(JSON.stringify(body)).not.toContain('s1gnature')
  })
})

describe('the token', () => {
  test('is requested from the configured tenant', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    await fixture.connected(server, { ...BOT, tenantId: TENANT.toUpperCase() })
    expect(tokensAsked(server)).toEqual([`POST /${TENANT}/oauth2/v2.0/token`])
  })

  test('is renewed before it expires, and once after it is rejected', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    fixture.clock.advance(58 * MINUTE_MS)
    await fixture.tell(id)
    expect(tokensAsked(server)).toHaveLength(1)
    fixture.clock.advance(2 * MINUTE_MS)
    await fixture.tell(id, 'repeated')
    expect(tokensAsked(server)).toHaveLength(2)
    server.cloud.tokens.push('another-t0ken')
    await fixture.tell(id, 'repeated')
    expect(tokensAsked(server)).toHaveLength(3)
    expect(fixture.summary()).toEqual(Array(3).fill(expect.stringContaining(' delivered')))
  })

  test('is renewed once for several concurrent rejections', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    const issues = ['iss_1', 'iss_2', 'iss_3', 'iss_4', 'iss_5', 'iss_6']
    for (const issueId of issues) fixture.enqueueTransition(id, 'opened', fixture.issue(issueId))
    await fixture.deliver()
    await fixture.later(31 * SECOND_MS)
    server.cloud.tokens.push('another-t0ken')
    for (const issueId of issues) fixture.enqueueTransition(id, 'repeated', issueId)
    await fixture.deliver()
    expect(fixture.deliveries().every(({ status }) => status === 'delivered')).toBe(true)
    expect(tokensAsked(server)).toHaveLength(2)
  })

  test('requires re-authentication after two rejections', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    server.cloud.instead = ({ path }) => (path.includes('/v3/') ? new Response('', { status: 401 }) : null)
    const from = server.requests.length
    await fixture.tell(id)
    expect(server.asked(from)).toEqual([
      'POST /amer/v3/conversations',
      'POST /botframework.com/oauth2/v2.0/token',
      'POST /amer/v3/conversations',
    ])
    expect(await fixture.statusOf(id)).toBe('reauth_required')
    server.cloud.instead = () => null
    const body = { provider: 'office_chat', config: { appId: BOT.appId } }
    await fixture.call('PUT', `/v1/integrations/${id}`, { as: fixture.ada.key, body })
    expect(await fixture.statusOf(id)).toBe('connected')
  })

  test.each(['changed', 'gone'])("can't be obtained with a secret that is %s", async (secret) => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    server.cloud.secret = secret
    fixture.clock.advance(2 * HOUR_MS)
    await fixture.tell(id)
    expect(await fixture.statusOf(id)).toBe('reauth_required')
    expect(fixture.deliveries()[0]?.lastError).toBe(
      'the other service no longer accepts the credentials (invalid_client)',
    )
  })

  test('is sent only to a service URL received with a verified token', async () => {
    await using server = await teamsServer()
    const seen: Received[] = []
    await using elsewhere = receiver((request) => {
      seen.push(request)
      return Response.json({ id: 'x' }, { status: 201 })
    })
    const fixture = teamsFixture(server)
    const id = await fixture.connected(server)
    await fixture.tell(id)
    await fixture.sendActivity(server, server.added({ serviceUrl: elsewhere.url }))
    const memory = { appId: BOT.appId, serviceUrl: elsewhere.url, conversationId: 'x', activityId: 'y' }
    fixture.db.prepare('UPDATE issueMemory SET memory = ?').run(JSON.stringify(memory))
    await fixture.tell(id, 'repeated')
    fixture.setStatusByUser('acknowledged')
    await fixture.follow()
    expect(seen).toEqual([])
    expect(
      server.requests.filter(({ headers }) => headers.authorization?.includes('connector-t0ken')).length,
    ).toBeGreaterThan(1)
    for (const { path, headers } of server.requests)
      if (headers.authorization) expect(path).toStartWith('/amer/v3/conversations')
  })
})

test('secrets echoed by Teams never reach a caller, a log or the database', async () => {
  await using server = await teamsServer()
  const fixture = teamsFixture(server)
  const id = await fixture.connected(server)
  const signature = 'sig=s1gnature-of-a-workflow'
  const workflow = (await fixture.make({ webhookUrl: `${server.url}/workflows/a?${signature}` })).body.id
  server.cloud.instead = ({ headers, path }) => {
    if (path.includes('token')) return null
    const repeated = path.includes('workflows') ? path : `${headers.authorization} ${BOT.appPassword}`
    return Response.json({ error: { code: 'X', message: repeated } }, { status: 400 })
  }
  await fixture.tell(id)
  await fixture.tell(workflow, 'opened', 'iss_2')
  const { ada, call } = fixture
  const answers = [await fixture.choose(id), await call('GET', '/v1/notifications/deliveries', { as: ada.key })]
  for (const one of [id, workflow]) {
    answers.push(await call('GET', `/v1/integrations/${one}`, { as: ada.key }))
    answers.push(await call('POST', `/v1/integrations/${one}/test`, { as: ada.key }))
  }
  const seen =
    JSON.stringify(answers.map(({ body }) => body)) + JSON.stringify(fixture.history()) + String(fixture.reported)
  expect(seen).toContain('Bearer … …')
  const bytes = fixture.db.serialize()
  for (const secret of [...server.cloud.tokens, BOT.appPassword, 's1gnature-of-a-workflow']) {
    expect(seen).not.toContain(secret)
    expect(bytes.includes(secret)).toBe(false)
  }
})
