import { describe, expect, test } from 'bun:test'
import { jiraFixture } from './jira.fixture.ts'
import type { JiraContext } from './jira-client.ts'
import { jiraServer } from './jira-server.fixture.ts'
import { searchTickets } from './search-tickets.ts'

/** A server that returns this body in response to every request. */
const answering = (body: string) =>
  ({
    settings: { url: 'https://jira.example', email: 'ann@example.com', apiToken: 'token', project: 'OPS' },
    now: () => 0,
    call: async () => ({ status: 200, headers: {}, body }),
  }) as unknown as JiraContext

describe('a malformed search response', () => {
  test('yields at most the requested number of tickets', async () => {
    const many = `{"issues":[${'0,'.repeat(50_000)}0]}`
    expect(await searchTickets(answering(many), 'key = OPS-1')).toHaveLength(100)
  })

  test.each(['{"issues":{"length":9}}', '{"issues":"all of them"}', '{"issues":null}'])(
    'yields no tickets: %s',
    async (body) => {
      expect(await searchTickets(answering(body), 'key = OPS-1')).toEqual([])
    },
  )

  test('yields empty strings for names that are not strings', async () => {
    const strange = { toString: 1, valueOf: 2 }
    const issues = [
      { id: strange, key: strange, fields: { status: { id: strange, name: [[]] }, labels: [strange, 'a'] } },
    ]
    expect(await searchTickets(answering(JSON.stringify({ issues })), 'key = OPS-1')).toEqual([
      { id: '', key: '', status: { id: '', name: '', category: null }, labels: ['', 'a'] },
    ])
  })
})

test.each([
  [{ issue: { key: { toString: 1 }, id: { valueOf: 1, toString: 1 } } }],
  [{ issue: 'x'.repeat(10_000) }],
  [{ issue: { key: 'OPS-1', fields: { status: { name: { toString: 1 } }, labels: [{ toString: 1 }] } }, user: 'ann' }],
])('a webhook call about an unknown ticket changes nothing', async (body) => {
  const fixture = jiraFixture()
  await using server = jiraServer(fixture.clock)
  const { webhookUrl } = await fixture.connected(server)
  expect(await fixture.callWebhook(webhookUrl, body)).toMatchObject({ status: 200, body: { processed: false } })
  expect(fixture.reported).toEqual([])
})

test('a database error during a poll is reported, and polling continues', async () => {
  const fixture = jiraFixture()
  await using server = jiraServer(fixture.clock)
  const { id } = await fixture.connected(server)
  await fixture.opened(id)
  server.behaviour.instead = () => new Response('', { status: 500 })
  fixture.db.exec(`CREATE TRIGGER full BEFORE UPDATE ON integration BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
  await fixture.poll()
  expect(fixture.reported.map(String)).toEqual([expect.stringContaining('the disk is full')])
  fixture.db.exec('DROP TRIGGER full')
  fixture.clock.advance(600_000)
  await fixture.poll()
  expect(await fixture.statusOf(id)).toBe('failing')
})
