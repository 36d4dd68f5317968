import { describe, expect, test } from 'bun:test'
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { jiraFixture, requestsSince } from './jira.fixture.ts'
import { jiraServer, US } from './jira-server.fixture.ts'

async function linked(edition: 'cloud' | 'dataCenter' = 'cloud', more: object = {}) {
  const fixture = jiraFixture()
  const server = jiraServer(fixture.clock, edition)
  const { id, webhookUrl } = await fixture.connected(server, more)
  await fixture.opened(id)
  fixture.clock.advance(SECOND_MS)
  const status = () => fixture.issueRow()?.status
  return { fixture, server, id, webhookUrl, status, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

describe('a webhook call from Jira', () => {
  test.each(['cloud', 'dataCenter'] as const)(
    'sets the issue to the status of its ticket (%s), and the change is not sent back',
    async (edition) => {
      await using it = await linked(edition)
      const { fixture, server, webhookUrl, status } = it
      const from = server.requests.length
      const steps: [string, string][] = [
        ['3', 'acknowledged'],
        ['5', 'resolved'],
        ['1', 'open'],
        ['5', 'resolved'],
        ['3', 'acknowledged'],
      ]
      for (const [statusId, expected] of steps) {
        fixture.clock.advance(MINUTE_MS)
        const { status: code, body } = await fixture.callWebhook(webhookUrl, server.moved('OPS-1', statusId))
        expect([code, body, status()]).toEqual([200, { processed: true }, expected as 'open'])
        await fixture.follow()
      }
      expect(requestsSince(server, from)).toEqual([])
      expect(fixture.history()).toContainEqual({ kind: 'tracker_status', ticketKey: 'OPS-1', status: 'resolved' })
      expect(fixture.history()).toContainEqual({ kind: 'acknowledged', by: 'Jira', from: 'open' })
    },
  )

  test('triggers notifications to other channels, but not to its own ticket', async () => {
    await using it = await linked()
    const { fixture, server, id, webhookUrl } = it
    const tell = async (transition: 'resolved' | 'reopened') => {
      fixture.enqueueTransition(id, transition)
      fixture.clock.advance(30 * SECOND_MS)
      await fixture.deliver()
    }
    await fixture.callWebhook(webhookUrl, server.moved('OPS-1', '5'))
    await tell('resolved')
    await fixture.callWebhook(webhookUrl, server.moved('OPS-1', '1'))
    await tell('reopened')
    expect(fixture.summary()).toEqual(['opened delivered', 'resolved delivered', 'reopened delivered'])
    expect(server.tickets[0]?.comments).toEqual([])
    fixture.setStatusByUser('resolved')
    await fixture.follow()
    await tell('resolved')
    expect(server.tickets[0]?.comments).toHaveLength(1)
  })

  test('is processed once per id', async () => {
    await using it = await linked()
    const { fixture, server, webhookUrl, status } = it
    const headers = { 'x-atlassian-webhook-identifier': 'call-1' }
    const first = server.moved('OPS-1', '5')
    expect((await fixture.callWebhook(webhookUrl, first, headers)).body).toEqual({ processed: true })
    fixture.clock.advance(MINUTE_MS)
    expect((await fixture.callWebhook(webhookUrl, server.moved('OPS-1', '1'), headers)).body).toEqual({
      processed: false,
    })
    expect(status()).toBe('resolved')
  })

  test('changes nothing when it arrives late', async () => {
    await using it = await linked()
    const { fixture, server, webhookUrl, status } = it
    const late = server.moved('OPS-1', '3')
    fixture.clock.advance(MINUTE_MS)
    await fixture.callWebhook(webhookUrl, server.moved('OPS-1', '5'))
    expect((await fixture.callWebhook(webhookUrl, late)).body).toEqual({ processed: false })
    expect(status()).toBe('resolved')
  })

  test('changes nothing if it was caused by Tagwarden’s own account', async () => {
    await using it = await linked()
    const { fixture, server, webhookUrl, status } = it
    const early = await fixture.callWebhook(webhookUrl, server.moved('OPS-1', '5', US))
    expect([early.body, status()]).toEqual([{ processed: false }, 'open'])
    server.moved('OPS-1', '1', US)
    fixture.setStatusByUser('acknowledged')
    await fixture.follow()
    fixture.clock.advance(MINUTE_MS)
    fixture.setStatusByUser('resolved')
    await fixture.follow()
    const steps = [server.moved('OPS-1', '3', US), server.moved('OPS-1', '5', US)]
    for (const body of steps) expect((await fixture.callWebhook(webhookUrl, body)).body).toEqual({ processed: false })
    expect(status()).toBe('resolved')
  })

  test('about another change does not undo a status that is not yet synchronized to Jira', async () => {
    await using it = await linked()
    const { fixture, server, webhookUrl, status } = it
    fixture.setStatusByUser('resolved')
    expect((await fixture.callWebhook(webhookUrl, server.moved('OPS-1', '1'))).body).toEqual({ processed: false })
    expect(status()).toBe('resolved')
    await fixture.follow()
    expect(server.tickets[0]?.statusId).toBe('5')
  })

  test('can change a muted issue only to resolved', async () => {
    await using it = await linked()
    const { fixture, server, webhookUrl, status } = it
    fixture.setStatusByUser('muted')
    await fixture.callWebhook(webhookUrl, server.moved('OPS-1', '3'))
    expect(status()).toBe('muted')
    fixture.clock.advance(MINUTE_MS)
    await fixture.callWebhook(webhookUrl, server.moved('OPS-1', '5'))
    expect(status()).toBe('resolved')
  })

  test('finds the issue linked to a ticket that was moved to another project', async () => {
    await using it = await linked()
    const { fixture, server, webhookUrl, status } = it
    const [ticket] = server.tickets
    if (ticket) ticket.key = 'WEB-9'
    expect((await fixture.callWebhook(webhookUrl, server.moved('WEB-9', '5'))).body).toEqual({ processed: true })
    expect([status(), fixture.issueRow()?.trackerKey]).toEqual(['resolved', 'WEB-9'])
  })

  test('about a deleted ticket marks the ticket as deleted', async () => {
    await using it = await linked()
    const { fixture, server, webhookUrl, status } = it
    const body = { ...server.moved('OPS-1', '1'), webhookEvent: 'jira:issue_deleted' }
    expect((await fixture.callWebhook(webhookUrl, body)).body).toEqual({ processed: true })
    const from = server.requests.length
    fixture.setStatusByUser('resolved')
    await fixture.follow()
    expect([requestsSince(server, from), status()]).toEqual([[], 'resolved'])
  })

  test('records the member who made the change if Jira includes the e-mail address', async () => {
    await using it = await linked('dataCenter')
    const { fixture, server, webhookUrl } = it
    const { bob, vera } = fixture.people
    await fixture.callWebhook(
      webhookUrl,
      server.moved('OPS-1', '3', { name: 'bob', emailAddress: bob.email.toUpperCase() }),
    )
    expect(fixture.issueRow()?.statusBy).toBe(bob.userId)
    fixture.clock.advance(MINUTE_MS)
    await fixture.callWebhook(webhookUrl, server.moved('OPS-1', '5', { name: 'vera', emailAddress: vera.email }))
    expect(fixture.issueRow()?.statusBy).toBe('Jira')
  })

  const NO_TEXT = { toString: 1, valueOf: null }
  const strange: [string, object][] = [
    [
      'an unknown ticket',
      { issue: { id: '77', key: 'OPS-77', fields: { status: { statusCategory: { key: 'done' } } } } },
    ],
    ['an empty body', {}],
    ['no ticket', { webhookEvent: 'jira:version_released', version: {} }],
    ['a ticket without fields', { issue: { key: 'OPS-1' } }],
    ['a ticket in a list', { issue: [1, 2] }],
    ['an unknown category', { issue: { key: 'OPS-1', fields: { status: { statusCategory: { key: 'undefined' } } } } }],
    ['values of the wrong types', { issue: { key: 7, id: {}, fields: 'x' }, user: 'me', timestamp: 'now' }],
    [
      'values that cannot be converted to strings',
      { issue: { key: NO_TEXT, id: NO_TEXT, fields: { labels: [NO_TEXT] } } },
    ],
    [
      'a status that cannot be converted to a string',
      { issue: { key: 'OPS-1', fields: { status: { id: NO_TEXT, name: NO_TEXT, statusCategory: NO_TEXT } } } },
    ],
  ]
  test.each(strange)('with %s is ignored', async (_name, body) => {
    await using it = await linked()
    const { fixture, webhookUrl, status } = it
    const answer = await fixture.callWebhook(webhookUrl, body)
    expect([answer.status, answer.body, status()]).toEqual([200, { processed: false }, 'open'])
  })

  test('with a wrong or replaced token is rejected', async () => {
    await using it = await linked()
    const { fixture, server, id, webhookUrl, status } = it
    const body = server.moved('OPS-1', '5')
    expect((await fixture.callWebhook(webhookUrl.replace(/t=.*/, 't=guessed'), body)).status).toBe(401)
    const { body: rotated } = await fixture.call('POST', `/v1/integrations/${id}/rotate`, { as: fixture.ada.key })
    expect(Object.keys(rotated)).toEqual(['webhookUrl'])
    expect((await fixture.callWebhook(webhookUrl, body)).status).toBe(401)
    expect(status()).toBe('open')
    expect((await fixture.callWebhook(rotated.webhookUrl, body)).body).toEqual({ processed: true })
    expect(webhookUrl).toStartWith('https://watch.example/v1/integrations/issue_tracker/webhook?t=')
  })
})

describe('two tickets for one issue', () => {
  test('are tracked separately, and both get the status', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id, webhookUrl } = await fixture.connected(server)
    const channels = [id, `${id}:WEB`].map((target) => ({ type: 'issue_tracker' as const, target }))
    fixture.tell('opened', fixture.issue(), { channels })
    await fixture.deliver()
    expect(server.tickets.map(({ key }) => key).sort()).toEqual(['OPS-1', 'WEB-1'])
    fixture.clock.advance(MINUTE_MS)
    await fixture.callWebhook(webhookUrl, server.moved('WEB-1', '5'))
    await fixture.follow()
    expect(server.tickets.map(({ statusId }) => statusId)).toEqual(['5', '5'])
    fixture.clock.advance(MINUTE_MS)
    await fixture.callWebhook(webhookUrl, server.moved('OPS-1', '1'))
    await fixture.follow()
    expect(fixture.issueRow()?.status).toBe('open')
    expect(server.tickets.map(({ statusId }) => statusId)).toEqual(['1', '1'])
  })
})

describe('the status poll', () => {
  test.each(['cloud', 'dataCenter'] as const)('applies changes without a webhook call (%s)', async (edition) => {
    await using it = await linked(edition)
    const { fixture, server, status } = it
    await fixture.poll()
    expect(status()).toBe('open')
    for (const [statusId, expected] of [
      ['3', 'acknowledged'],
      ['5', 'resolved'],
      ['1', 'open'],
    ] as const) {
      fixture.clock.advance(5 * MINUTE_MS)
      server.moved('OPS-1', statusId)
      await fixture.poll()
      expect(status()).toBe(expected)
      await fixture.follow()
    }
    const asks = server.requests.filter(({ body }) => body.includes('key in')).map(({ body }) => JSON.parse(body).jql)
    expect(asks[0]).toBe('key in ("OPS-1")')
    expect(new Set(asks.slice(1))).toEqual(new Set(['key in ("OPS-1") AND updated >= -20m']))
    expect(server.tickets[0]?.statusId).toBe('1')
  })

  test('does not undo a status not yet synchronized to Jira', async () => {
    await using it = await linked()
    const { fixture, server, status } = it
    fixture.setStatusByUser('acknowledged')
    await fixture.poll()
    expect(status()).toBe('acknowledged')
    await fixture.follow()
    expect(server.tickets[0]?.statusId).toBe('3')
  })

  test('reads all pages and handles deleted tickets', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock, 'dataCenter')
    server.behaviour.pageSize = 7
    const { id } = await fixture.connected(server)
    for (let index = 0; index < 30; index++) fixture.enqueueTransition(id, 'opened', fixture.issue(`iss_${index}`))
    await fixture.deliver()
    for (const ticket of server.tickets.slice(3, 5)) ticket.isDeleted = true
    fixture.clock.advance(MINUTE_MS)
    for (const { key } of server.tickets.filter(({ isDeleted }) => !isDeleted)) server.moved(key, '5')
    await fixture.poll()
    const all = Array.from({ length: 30 }, (_, index) => fixture.issueRow(`iss_${index}`)?.status)
    expect(all.filter((one) => one === 'resolved')).toHaveLength(28)
    const from = server.requests.length
    fixture.clock.advance(5 * MINUTE_MS)
    await fixture.poll()
    expect(requestsSince(server, from).filter((one) => one === 'POST /search').length).toBeLessThan(6)
    expect(await fixture.statusOf(id)).toBe('connected')
  })

  test('does not treat any ticket as deleted while the project is not visible', async () => {
    await using it = await linked()
    const { fixture, server, id } = it
    server.behaviour.projects = []
    for (const ticket of server.tickets) ticket.isDeleted = true
    await fixture.poll()
    expect(await fixture.statusOf(id)).toBe('failing')
    server.behaviour.projects = ['OPS']
    for (const ticket of server.tickets) ticket.isDeleted = false
    fixture.clock.advance(5 * MINUTE_MS)
    server.moved('OPS-1', '5')
    await fixture.poll()
    expect(fixture.issueRow()?.status).toBe('resolved')
  })

  test('does not change the status of an integration without tickets', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server, { apiToken: 'an0ther-token' })
    await fixture.check(id)
    await fixture.poll()
    expect(await fixture.statusOf(id)).toBe('failing')
  })

  test('finds a ticket that was moved to another project', async () => {
    await using it = await linked()
    const { fixture, server, webhookUrl, status } = it
    await fixture.poll()
    const [ticket] = server.tickets
    if (ticket) Object.assign(ticket, { key: 'WEB-9', formerKeys: ['OPS-1'] })
    fixture.clock.advance(5 * MINUTE_MS)
    server.moved('WEB-9', '3')
    await fixture.poll()
    expect([status(), fixture.issueRow()?.trackerKey]).toEqual(['acknowledged', 'WEB-9'])
    fixture.setStatusByUser('resolved')
    await fixture.follow()
    expect(server.tickets[0]?.statusId).toBe('5')
    expect((await fixture.callWebhook(webhookUrl, server.moved('WEB-9', '1'))).body).toEqual({ processed: true })
  })

  test('runs at the configured interval, or never if disabled', async () => {
    await using never = await linked('cloud', { pollSeconds: null })
    const from = never.server.requests.length
    await never.fixture.poll()
    expect(requestsSince(never.server, from)).toEqual([])
    await using often = await linked('cloud', { pollSeconds: 30 })
    const begin = often.server.requests.length
    for (let seconds = 0; seconds <= 60; seconds += 15) {
      await often.fixture.poll()
      often.fixture.clock.advance(15 * SECOND_MS)
    }
    expect(requestsSince(often.server, begin).filter((one) => one === 'POST /search/jql')).toHaveLength(3)
  })
})
