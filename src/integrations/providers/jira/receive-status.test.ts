import { describe, expect, test } from 'bun:test'
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { asked, jiraFixture } from './jira.fixture.ts'
import { jiraServer, US } from './jira-server.fixture.ts'

async function linked(edition: 'cloud' | 'dataCenter' = 'cloud', more: object = {}) {
  const world = jiraFixture()
  const server = jiraServer(world.clock, edition)
  const { id, webhookUrl } = await world.connected(server, more)
  await world.opened(id)
  world.clock.advance(SECOND_MS)
  const status = () => world.issueRow()?.status
  return { world, server, id, webhookUrl, status, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

describe('a call from Jira', () => {
  test.each(['cloud', 'dataCenter'] as const)(
    'gives the issue the status of its ticket (%s), and is not sent back',
    async (edition) => {
      await using it = await linked(edition)
      const { world, server, webhookUrl, status } = it
      const from = server.requests.length
      const steps: [string, string][] = [
        ['3', 'acknowledged'],
        ['5', 'resolved'],
        ['1', 'open'],
        ['5', 'resolved'],
        ['3', 'acknowledged'],
      ]
      for (const [statusId, expected] of steps) {
        world.clock.advance(MINUTE_MS)
        const { status: code, body } = await world.callIn(webhookUrl, server.moved('OPS-1', statusId))
        expect([code, body, status()]).toEqual([200, { processed: true }, expected as 'open'])
        await world.follow()
      }
      expect(asked(server, from)).toEqual([])
      expect(world.history()).toContainEqual({ kind: 'tracker_status', ticketKey: 'OPS-1', status: 'resolved' })
      expect(world.history()).toContainEqual({ kind: 'acknowledged', by: 'Jira', from: 'open' })
    },
  )

  test('is sent to other channels, but not back to its ticket', async () => {
    await using it = await linked()
    const { world, server, id, webhookUrl } = it
    const tell = async (transition: 'resolved' | 'reopened') => {
      world.told(id, transition)
      world.clock.advance(30 * SECOND_MS)
      await world.deliver()
    }
    await world.callIn(webhookUrl, server.moved('OPS-1', '5'))
    await tell('resolved')
    await world.callIn(webhookUrl, server.moved('OPS-1', '1'))
    await tell('reopened')
    expect(world.summary()).toEqual(['opened delivered', 'resolved delivered', 'reopened delivered'])
    expect(server.tickets[0]?.comments).toEqual([])
    world.byHand('resolved')
    await world.follow()
    await tell('resolved')
    expect(server.tickets[0]?.comments).toHaveLength(1)
  })

  test('is handled once per id', async () => {
    await using it = await linked()
    const { world, server, webhookUrl, status } = it
    const headers = { 'x-atlassian-webhook-identifier': 'call-1' }
    const first = server.moved('OPS-1', '5')
    expect((await world.callIn(webhookUrl, first, headers)).body).toEqual({ processed: true })
    world.clock.advance(MINUTE_MS)
    expect((await world.callIn(webhookUrl, server.moved('OPS-1', '1'), headers)).body).toEqual({ processed: false })
    expect(status()).toBe('resolved')
  })

  test('that arrives late changes nothing', async () => {
    await using it = await linked()
    const { world, server, webhookUrl, status } = it
    const late = server.moved('OPS-1', '3')
    world.clock.advance(MINUTE_MS)
    await world.callIn(webhookUrl, server.moved('OPS-1', '5'))
    expect((await world.callIn(webhookUrl, late)).body).toEqual({ processed: false })
    expect(status()).toBe('resolved')
  })

  test('about a change by the own account changes nothing', async () => {
    await using it = await linked()
    const { world, server, webhookUrl, status } = it
    const early = await world.callIn(webhookUrl, server.moved('OPS-1', '5', US))
    expect([early.body, status()]).toEqual([{ processed: false }, 'open'])
    server.moved('OPS-1', '1', US)
    world.byHand('acknowledged')
    await world.follow()
    world.clock.advance(MINUTE_MS)
    world.byHand('resolved')
    await world.follow()
    const steps = [server.moved('OPS-1', '3', US), server.moved('OPS-1', '5', US)]
    for (const body of steps) expect((await world.callIn(webhookUrl, body)).body).toEqual({ processed: false })
    expect(status()).toBe('resolved')
  })

  test('about something else does not undo a status not yet synchronized to Jira', async () => {
    await using it = await linked()
    const { world, server, webhookUrl, status } = it
    world.byHand('resolved')
    expect((await world.callIn(webhookUrl, server.moved('OPS-1', '1'))).body).toEqual({ processed: false })
    expect(status()).toBe('resolved')
    await world.follow()
    expect(server.tickets[0]?.statusId).toBe('5')
  })

  test('about a muted issue can only resolve it', async () => {
    await using it = await linked()
    const { world, server, webhookUrl, status } = it
    world.byHand('muted')
    await world.callIn(webhookUrl, server.moved('OPS-1', '3'))
    expect(status()).toBe('muted')
    world.clock.advance(MINUTE_MS)
    await world.callIn(webhookUrl, server.moved('OPS-1', '5'))
    expect(status()).toBe('resolved')
  })

  test('about a ticket that was moved to another project finds its issue', async () => {
    await using it = await linked()
    const { world, server, webhookUrl, status } = it
    const [ticket] = server.tickets
    if (ticket) ticket.key = 'WEB-9'
    expect((await world.callIn(webhookUrl, server.moved('WEB-9', '5'))).body).toEqual({ processed: true })
    expect([status(), world.issueRow()?.trackerKey]).toEqual(['resolved', 'WEB-9'])
  })

  test('about a deleted ticket marks it as deleted', async () => {
    await using it = await linked()
    const { world, server, webhookUrl, status } = it
    const body = { ...server.moved('OPS-1', '1'), webhookEvent: 'jira:issue_deleted' }
    expect((await world.callIn(webhookUrl, body)).body).toEqual({ processed: true })
    const from = server.requests.length
    world.byHand('resolved')
    await world.follow()
    expect([asked(server, from), status()]).toEqual([[], 'resolved'])
  })

  test('names the member who made the change if Jira includes the e-mail address', async () => {
    await using it = await linked('dataCenter')
    const { world, server, webhookUrl } = it
    const { bob, vera } = world.people
    await world.callIn(webhookUrl, server.moved('OPS-1', '3', { name: 'bob', emailAddress: bob.email.toUpperCase() }))
    expect(world.issueRow()?.statusBy).toBe(bob.userId)
    world.clock.advance(MINUTE_MS)
    await world.callIn(webhookUrl, server.moved('OPS-1', '5', { name: 'vera', emailAddress: vera.email }))
    expect(world.issueRow()?.statusBy).toBe('Jira')
  })

  const NO_TEXT = { toString: 1, valueOf: null }
  const strange: [string, object][] = [
    [
      'a ticket that is not ours',
      { issue: { id: '77', key: 'OPS-77', fields: { status: { statusCategory: { key: 'done' } } } } },
    ],
    ['nothing', {}],
    ['no ticket', { webhookEvent: 'jira:version_released', version: {} }],
    ['a ticket without fields', { issue: { key: 'OPS-1' } }],
    ['a ticket in a list', { issue: [1, 2] }],
    ['a category of nobody', { issue: { key: 'OPS-1', fields: { status: { statusCategory: { key: 'undefined' } } } } }],
    ['texts for everything', { issue: { key: 7, id: {}, fields: 'x' }, user: 'me', timestamp: 'now' }],
    ['things that no text can be made of', { issue: { key: NO_TEXT, id: NO_TEXT, fields: { labels: [NO_TEXT] } } }],
    [
      'a status that no text can be made of',
      { issue: { key: 'OPS-1', fields: { status: { id: NO_TEXT, name: NO_TEXT, statusCategory: NO_TEXT } } } },
    ],
  ]
  test.each(strange)('about %s is ignored', async (_name, body) => {
    await using it = await linked()
    const { world, webhookUrl, status } = it
    const answer = await world.callIn(webhookUrl, body)
    expect([answer.status, answer.body, status()]).toEqual([200, { processed: false }, 'open'])
  })

  test('with a wrong token or one from before a rotation is refused', async () => {
    await using it = await linked()
    const { world, server, id, webhookUrl, status } = it
    const body = server.moved('OPS-1', '5')
    expect((await world.callIn(webhookUrl.replace(/t=.*/, 't=guessed'), body)).status).toBe(401)
    const { body: rotated } = await world.call('POST', `/v1/integrations/${id}/rotate`, { as: world.ada.key })
    expect(Object.keys(rotated)).toEqual(['webhookUrl'])
    expect((await world.callIn(webhookUrl, body)).status).toBe(401)
    expect(status()).toBe('open')
    expect((await world.callIn(rotated.webhookUrl, body)).body).toEqual({ processed: true })
    expect(webhookUrl).toStartWith('https://watch.example/v1/integrations/issue_tracker/webhook?t=')
  })
})

describe('two tickets of one issue', () => {
  test('have separate memories, and both get the status', async () => {
    const world = jiraFixture()
    await using server = jiraServer(world.clock)
    const { id, webhookUrl } = await world.connected(server)
    const channels = [id, `${id}:WEB`].map((target) => ({ type: 'issue_tracker' as const, target }))
    world.tell('opened', world.issue(), { channels })
    await world.deliver()
    expect(server.tickets.map(({ key }) => key).sort()).toEqual(['OPS-1', 'WEB-1'])
    world.clock.advance(MINUTE_MS)
    await world.callIn(webhookUrl, server.moved('WEB-1', '5'))
    await world.follow()
    expect(server.tickets.map(({ statusId }) => statusId)).toEqual(['5', '5'])
    world.clock.advance(MINUTE_MS)
    await world.callIn(webhookUrl, server.moved('OPS-1', '1'))
    await world.follow()
    expect(world.issueRow()?.status).toBe('open')
    expect(server.tickets.map(({ statusId }) => statusId)).toEqual(['1', '1'])
  })
})

describe('the poll', () => {
  test.each(['cloud', 'dataCenter'] as const)('applies changes without a webhook call (%s)', async (edition) => {
    await using it = await linked(edition)
    const { world, server, status } = it
    await world.poll()
    expect(status()).toBe('open')
    for (const [statusId, expected] of [
      ['3', 'acknowledged'],
      ['5', 'resolved'],
      ['1', 'open'],
    ] as const) {
      world.clock.advance(5 * MINUTE_MS)
      server.moved('OPS-1', statusId)
      await world.poll()
      expect(status()).toBe(expected)
      await world.follow()
    }
    const asks = server.requests.filter(({ body }) => body.includes('key in')).map(({ body }) => JSON.parse(body).jql)
    expect(asks[0]).toBe('key in ("OPS-1")')
    expect(new Set(asks.slice(1))).toEqual(new Set(['key in ("OPS-1") AND updated >= -20m']))
    expect(server.tickets[0]?.statusId).toBe('1')
  })

  test('does not undo a status not yet synchronized to Jira', async () => {
    await using it = await linked()
    const { world, server, status } = it
    world.byHand('acknowledged')
    await world.poll()
    expect(status()).toBe('acknowledged')
    await world.follow()
    expect(server.tickets[0]?.statusId).toBe('3')
  })

  test('reads all pages and copes with deleted tickets', async () => {
    const world = jiraFixture()
    await using server = jiraServer(world.clock, 'dataCenter')
    server.behaviour.pageSize = 7
    const { id } = await world.connected(server)
    for (let index = 0; index < 30; index++) world.told(id, 'opened', world.issue(`iss_${index}`))
    await world.deliver()
    for (const ticket of server.tickets.slice(3, 5)) ticket.isDeleted = true
    world.clock.advance(MINUTE_MS)
    for (const { key } of server.tickets.filter(({ isDeleted }) => !isDeleted)) server.moved(key, '5')
    await world.poll()
    const all = Array.from({ length: 30 }, (_, index) => world.issueRow(`iss_${index}`)?.status)
    expect(all.filter((one) => one === 'resolved')).toHaveLength(28)
    const from = server.requests.length
    world.clock.advance(5 * MINUTE_MS)
    await world.poll()
    expect(asked(server, from).filter((one) => one === 'POST /search').length).toBeLessThan(6)
    expect(await world.statusOf(id)).toBe('connected')
  })

  test('treats no ticket as deleted while the project is not visible', async () => {
    await using it = await linked()
    const { world, server, id } = it
    server.behaviour.projects = []
    for (const ticket of server.tickets) ticket.isDeleted = true
    await world.poll()
    expect(await world.statusOf(id)).toBe('failing')
    server.behaviour.projects = ['OPS']
    for (const ticket of server.tickets) ticket.isDeleted = false
    world.clock.advance(5 * MINUTE_MS)
    server.moved('OPS-1', '5')
    await world.poll()
    expect(world.issueRow()?.status).toBe('resolved')
  })

  test('does not change the status of an integration without tickets', async () => {
    const world = jiraFixture()
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server, { apiToken: 'an0ther-token' })
    await world.check(id)
    await world.poll()
    expect(await world.statusOf(id)).toBe('failing')
  })

  test('follows a ticket into another project', async () => {
    await using it = await linked()
    const { world, server, webhookUrl, status } = it
    await world.poll()
    const [ticket] = server.tickets
    if (ticket) Object.assign(ticket, { key: 'WEB-9', formerKeys: ['OPS-1'] })
    world.clock.advance(5 * MINUTE_MS)
    server.moved('WEB-9', '3')
    await world.poll()
    expect([status(), world.issueRow()?.trackerKey]).toEqual(['acknowledged', 'WEB-9'])
    world.byHand('resolved')
    await world.follow()
    expect(server.tickets[0]?.statusId).toBe('5')
    expect((await world.callIn(webhookUrl, server.moved('WEB-9', '1'))).body).toEqual({ processed: true })
  })

  test('runs at the configured interval, or never', async () => {
    await using never = await linked('cloud', { pollSeconds: null })
    const from = never.server.requests.length
    await never.world.poll()
    expect(asked(never.server, from)).toEqual([])
    await using often = await linked('cloud', { pollSeconds: 30 })
    const begin = often.server.requests.length
    for (let seconds = 0; seconds <= 60; seconds += 15) {
      await often.world.poll()
      often.world.clock.advance(15 * SECOND_MS)
    }
    expect(asked(often.server, begin).filter((one) => one === 'POST /search/jql')).toHaveLength(3)
  })
})
