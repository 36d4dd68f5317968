import { describe, expect, test } from 'bun:test'
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { jiraFixture, requestsSince } from './jira.fixture.ts'
import { type FakeStatus, type FakeWay, jiraServer, PLAIN } from './jira-server.fixture.ts'

const status = (id: string, category: FakeStatus['category']): FakeStatus => ({ id, name: id, category })
const ways = (text: string): FakeWay[] =>
  text.split(' ').map((way) => {
    const [from = '', to = ''] = way.split('>')
    return { from, to }
  })
const BACKLOG = [status('new', 'new'), status('chosen', 'new'), status('doing', 'indeterminate')]
const LONG = [...BACKLOG, status('review', 'indeterminate'), status('test', 'indeterminate'), status('done', 'done')]

const transitionsOf = (server: Parameters<typeof requestsSince>[0], from = 0) =>
  requestsSince(server, from).filter((one) => one === 'POST /issue/OPS-1/transitions').length

describe('a status set in Tagwarden', () => {
  const rows: [string, { statuses: FakeStatus[]; ways: FakeWay[] }, string, [string, string][]][] = [
    [
      'a plain workflow',
      PLAIN,
      'cloud',
      [
        ['acknowledged', '3'],
        ['resolved', '5'],
        ['open', '1'],
        ['resolved', '5'],
      ],
    ],
    [
      'a plain workflow',
      PLAIN,
      'dataCenter',
      [
        ['resolved', '5'],
        ['open', '1'],
        ['acknowledged', '3'],
        ['open', '3'],
        ['muted', '3'],
      ],
    ],
    [
      'a workflow without a direct transition',
      { statuses: LONG, ways: ways('new>chosen chosen>doing doing>review review>test test>done done>new') },
      'cloud',
      [
        ['acknowledged', 'doing'],
        ['resolved', 'done'],
        ['open', 'new'],
        ['resolved', 'done'],
      ],
    ],
    [
      'a workflow with a dead end',
      { statuses: LONG, ways: ways('new>chosen chosen>new new>doing doing>done') },
      'cloud',
      [['resolved', 'done']],
    ],
    [
      'a workflow with a shorter path through a done status',
      { statuses: LONG, ways: ways('new>done done>doing new>chosen chosen>doing') },
      'cloud',
      [['acknowledged', 'doing']],
    ],
    [
      'a workflow with a loop',
      { statuses: LONG, ways: ways('new>new new>chosen chosen>done') },
      'cloud',
      [['resolved', 'done']],
    ],
  ]
  test.each(rows)('is applied to the ticket through %s', async (_name, workflow, edition, steps) => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock, edition as 'cloud')
    server.behaviour.workflow = workflow
    const { id } = await fixture.connected(server)
    await fixture.opened(id)
    for (const [given, expected] of steps) {
      fixture.clock.advance(MINUTE_MS)
      fixture.setStatusByUser(given as 'open')
      await fixture.follow()
      expect([given, server.tickets[0]?.statusId]).toEqual([given, expected])
    }
    expect(server.tickets[0]?.comments).toEqual([])
    const from = server.requests.length
    await fixture.follow()
    expect(requestsSince(server, from)).toEqual([])
  })

  test("that the ticket can't reach is reported in one comment", async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    server.behaviour.workflow = { statuses: LONG, ways: ways('new>chosen chosen>doing doing>review review>test') }
    const { id } = await fixture.connected(server)
    await fixture.opened(id)
    fixture.setStatusByUser('resolved')
    await fixture.follow()
    await fixture.follow()
    const comments = JSON.stringify(server.tickets[0]?.comments)
    expect(comments).toContain('The issue is resolved, but this ticket could not be moved to a matching status')
    expect(server.tickets[0]?.comments).toHaveLength(1)
    expect(await fixture.statusOf(id)).toBe('connected')
  })

  test('is reached in at most five transitions', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const statuses = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => status(id, 'new'))
    server.behaviour.workflow = { statuses: [...statuses, status('z', 'done')], ways: ways('a>b b>c c>d d>e e>f f>z') }
    const { id } = await fixture.connected(server)
    await fixture.opened(id)
    fixture.setStatusByUser('resolved')
    await fixture.follow()
    expect(transitionsOf(server)).toBeLessThanOrEqual(5)
    expect(server.tickets[0]?.comments).toHaveLength(1)
  })

  test('fills required fields and avoids rejected transitions', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    server.behaviour.workflow = {
      statuses: LONG,
      ways: [
        { from: 'new', to: 'done', refusal: 'Somebody has to review it first.' },
        { from: 'new', to: 'done', fields: { customfield_1: { required: true, schema: { type: 'user' } } } },
        {
          from: 'new',
          to: 'done',
          fields: {
            resolution: {
              required: true,
              schema: { type: 'resolution' },
              allowedValues: [{ id: '10', name: 'Fixed' }, { id: '11' }],
            },
            versions: { required: true, schema: { type: 'array' }, allowedValues: [{ id: '7' }] },
            customfield_2: { required: true, hasDefaultValue: true, allowedValues: [{ id: '1' }] },
            customfield_3: { required: true, schema: { type: 'string' } },
            assignee: { required: false },
          },
        },
        { from: 'done', to: 'new', fields: { resolution: { required: false, allowedValues: [{ id: '10' }] } } },
      ],
    }
    const { id } = await fixture.connected(server)
    await fixture.opened(id)
    fixture.setStatusByUser('resolved')
    await fixture.follow()
    const [ticket] = server.tickets
    expect(ticket?.statusId).toBe('done')
    const { resolution, versions, customfield_3, customfield_2 } = { ...ticket?.fields } as Record<string, unknown>
    expect({ resolution, versions, customfield_3, customfield_2 }).toEqual({
      resolution: { id: '10' },
      versions: [{ id: '7' }],
      customfield_3: 'Tagwarden',
      customfield_2: undefined,
    })
    fixture.setStatusByUser('open')
    await fixture.follow()
    expect([ticket?.statusId, ticket?.fields.resolution]).toEqual(['new', null])
  })

  test('is applied even if it was set before the ticket was created', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    let lost = 0
    fixture.network.losesResponse = ({ url, method }) => method === 'POST' && url.endsWith('/issue') && lost++ === 0
    await fixture.opened(id)
    fixture.setStatusByUser('acknowledged')
    await fixture.follow()
    fixture.clock.advance(6 * SECOND_MS)
    await fixture.deliver()
    await fixture.follow()
    expect(server.tickets[0]?.statusId).toBe('3')
  })

  test('is retried after an outage, from the current status of the ticket', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    await fixture.opened(id)
    let transitions = 0
    server.behaviour.instead = ({ method, path }) =>
      method === 'POST' && path.endsWith('/transitions') && ++transitions === 2
        ? new Response('', { status: 503 })
        : null
    fixture.setStatusByUser('resolved')
    await fixture.follow()
    expect(server.tickets[0]?.statusId).toBe('3')
    fixture.clock.advance(6 * SECOND_MS)
    await fixture.follow()
    expect(server.tickets[0]?.statusId).toBe('5')
  })

  test('is ignored if the ticket was deleted', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    await fixture.opened(id)
    for (const ticket of server.tickets) ticket.isDeleted = true
    fixture.setStatusByUser('resolved')
    await fixture.follow()
    const from = server.requests.length
    fixture.setStatusByUser('open')
    await fixture.follow()
    expect(requestsSince(server, from)).toEqual([])
    expect(await fixture.statusOf(id)).toBe('connected')
  })
})
