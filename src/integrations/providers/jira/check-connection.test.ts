import { describe, expect, test } from 'bun:test'
import { type JiraServer, jiraFixture, requestsSince } from './jira.fixture.ts'
import { API_TOKEN, jiraServer } from './jira-server.fixture.ts'

const EDITIONS = ['cloud', 'dataCenter', 'before 8.4'] as const

describe('a connection test', () => {
  test.each(EDITIONS)('succeeds without creating a ticket (%s)', async (edition) => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock, edition)
    server.behaviour.pageSize = 3
    server.behaviour.fields = {
      customfield_1: { name: 'Team', required: true },
      customfield_2: { name: 'Risk', required: true, hasDefaultValue: true },
    }
    const { id } = await fixture.connected(server, { fields: { customfield_1: { value: 'Web' } } })
    const { status, body } = await fixture.check(id)
    expect([status, body.error]).toEqual([200, undefined])
    expect(body.ok).toBe(true)
    expect(requestsSince(server).every((one) => one.startsWith('GET '))).toBe(true)
    expect(server.tickets).toEqual([])
  })

  const wrong: [string, (server: JiraServer) => void, string][] = [
    [
      'project',
      ({ behaviour }) => (behaviour.projects = ['WEB']),
      'project OPS does not exist, or this account lacks the Browse Projects permission',
    ],
    [
      'permissions',
      ({ behaviour }) => (behaviour.lacks = ['CREATE_ISSUES', 'TRANSITION_ISSUES']),
      'this account lacks permissions in OPS: Create Issues, Transition Issues',
    ],
    [
      'issue type',
      ({ behaviour }) => (behaviour.types = ['Bug', 'Story']),
      "this account can't create issues of type Task in OPS; available: Bug, Story",
    ],
    [
      'labels',
      ({ behaviour }) => (behaviour.screen = behaviour.screen.filter((one) => one !== 'labels')),
      'the create screen of Task in OPS lacks these fields: labels',
    ],
    [
      'required fields',
      ({ behaviour }) => (behaviour.fields = { customfield_1: { name: 'Team', required: true } }),
      'config.fields: Task in OPS requires Team (customfield_1)',
    ],
  ]
  test.each(
    EDITIONS.flatMap((edition) => wrong.map(([name, spoil, message]) => [name, edition, spoil, message] as const)),
  )('reports a problem with the %s (%s)', async (_name, edition, spoil, message) => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock, edition)
    spoil(server)
    const { id } = await fixture.connected(server)
    const { status, body } = await fixture.check(id)
    expect([status, body.error]).toEqual([502, `the test failed: ${message}`])
    expect(await fixture.statusOf(id)).toBe('failing')
  })

  test.each(EDITIONS)('reports a rejected token (%s)', async (edition) => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock, edition)
    const { id } = await fixture.connected(server, { apiToken: 'an0ther-token' })
    const { status, body } = await fixture.check(id)
    expect([status, String(body.error).startsWith('the test failed: HTTP 401: Jira rejected the token')]).toEqual([
      502,
      true,
    ])
    expect(JSON.stringify(body)).not.toContain('an0ther-token')
  })

  test.each(EDITIONS)('checks the issue type even if Jira does not list the fields (%s)', async (edition) => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock, edition)
    server.behaviour.instead = ({ path }) =>
      /createmeta|mypermissions/.test(path) ? Response.json({ message: 'null for uri' }, { status: 404 }) : null
    const { id } = await fixture.connected(server)
    expect((await fixture.check(id)).status).toBe(200)
    server.behaviour.types = ['Bug']
    expect((await fixture.check(id)).body.error).toContain(
      "this account can't create issues of type Task in OPS; available: Bug",
    )
  })

  test('reports that Jira requires a CAPTCHA', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock, 'dataCenter')
    server.behaviour.captcha = true
    const { id } = await fixture.connected(server)
    expect((await fixture.check(id)).body.error).toContain('Jira requires a CAPTCHA')
  })

  test('reports a configured field that does not exist', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server, { fields: { customfield_9: 'x' } })
    expect((await fixture.check(id)).body.error).toContain(
      'config.fields: Task in OPS does not have customfield_9 on its create screen',
    )
  })
})

test('secrets echoed by Jira never reach a caller, a log or the database', async () => {
  const fixture = jiraFixture()
  await using server = jiraServer(fixture.clock)
  const { id, webhookUrl } = await fixture.connected(server)
  server.behaviour.instead = ({ headers }) =>
    Response.json({ errorMessages: [`no: ${headers.authorization} ${API_TOKEN}`], errors: {} }, { status: 400 })
  await fixture.opened(id)
  const { ada, vera, call } = fixture
  const answers = await Promise.all([
    call('GET', `/v1/integrations/${id}`, { as: ada.key }),
    call('GET', '/v1/notifications/deliveries', { as: ada.key }),
    call('GET', '/v1/notifications/deliveries', { as: vera.key }),
    fixture.check(id),
  ])
  const seen =
    JSON.stringify(answers.map(({ body }) => body)) + JSON.stringify(fixture.history()) + String(fixture.reported)
  expect(seen).toContain('no: ')
  const basic = server.requests[0]?.headers.authorization?.split(' ')[1] ?? ''
  const token = webhookUrl.split('?t=')[1] ?? ''
  const bytes = fixture.db.serialize()
  for (const secret of [API_TOKEN, basic, token]) {
    expect(seen).not.toContain(secret)
    expect(bytes.includes(secret)).toBe(false)
  }
})
