import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { addressGuard } from '../../../transport/address-guard.ts'
import { jiraFixture } from './jira.fixture.ts'
import { prepareJira } from './jira-config.ts'
import { jiraServer } from './jira-server.fixture.ts'

test.each<[string, object, string]>([
  ['an invalid URL', { url: 'ops' }, 'config.url'],
  ['a URL with a query', { url: 'http://127.0.0.1:9999/?a=b' }, 'config.url'],
  ['a cloud metadata address', { url: 'http://169.254.169.254/' }, 'config.url'],
  ['a private address', { url: 'https://10.0.0.1/jira' }, 'config.url'],
  ['a private address mapped to IPv6', { url: 'https://[::ffff:a00:1]/' }, 'config.url'],
  ['a private address as a number', { url: 'https://167772161/' }, 'config.url'],
  ['a local host name', { url: 'https://LOCALHOST.:8443/' }, 'config.url'],
  ['an http URL', { url: 'http://jira.example.com/' }, 'config.url'],
  ['credentials in the URL', { url: 'https://me:secret@jira.example.com/' }, 'config.url'],
  ['a file URL', { url: 'file:///etc/passwd' }, 'config.url'],
  ['an invalid project key', { project: 'OPS-1' }, 'config.project'],
  ['an invalid e-mail address', { email: 'tags' }, 'config.email'],
  ['a token with a space', { apiToken: 'to ken' }, 'config.apiToken'],
  ['a field that Tagwarden sets', { fields: { summary: 'mine' } }, 'config.fields.summary'],
  ['labels with spaces', { fields: { labels: ['a b'] } }, 'config.fields.labels'],
  ['a short polling interval', { pollSeconds: 29 }, 'config.pollSeconds'],
  ['a long polling interval', { pollSeconds: 3601 }, 'config.pollSeconds'],
  ['an unknown field', { site: 'x' }, 'config.site'],
])('rejects a configuration with %s', async (_name, more, field) => {
  const fixture = jiraFixture()
  await using server = jiraServer(fixture.clock)
  const { status, body } = await fixture.create(server, more)
  expect([status, String(body.error).split(': ')[0]]).toEqual([400, field])
})

test('the token is never returned, and must be entered again when the URL changes', async () => {
  const fixture = jiraFixture()
  await using server = jiraServer(fixture.clock)
  const { id } = await fixture.connected(server)
  const path = `/v1/integrations/${id}`
  const { body } = await fixture.call('GET', path, { as: fixture.ada.key })
  expect(body.config).toEqual({
    url: server.url,
    email: 'tags@example.com',
    project: 'OPS',
    issueType: 'Task',
    pollSeconds: 300,
  })
  const put = (config: object) =>
    fixture.call('PUT', path, { as: fixture.ada.key, body: { provider: 'issue_tracker', label: 'Jira', config } })
  const { apiToken: _, ...rest } = fixture.config(server) as { apiToken: string }
  expect((await put({ ...rest, project: 'WEB', pollSeconds: null })).body.config).toMatchObject({
    project: 'WEB',
    pollSeconds: null,
  })
  await fixture.opened(id)
  expect(server.tickets.map(({ key }) => key)).toEqual(['WEB-1'])
  const moved = await put({ ...rest, url: 'https://elsewhere.example' })
  expect([moved.status, moved.body.error]).toEqual([
    400,
    'config.apiToken: must be entered again because the URL now points to another server',
  ])
})

test('the examples in the documentation are valid', () => {
  const page = readFileSync(join(import.meta.dir, '../../../../docs/connect/jira.md'), 'utf8')
  const { config } = JSON.parse(/-d '(\{.*?\})'\n```/s.exec(page)?.[1] ?? '')
  const fields = JSON.parse(`{${/```json\n("fields": \{.*?\n\})\n```/s.exec(page)?.[1]}}`)
  const taken = prepareJira({ ...config, apiToken: 'ATATT3x', ...fields }, addressGuard([]))
  expect(taken).toMatchObject({ url: 'https://company.atlassian.net', project: 'OPS', pollSeconds: 300, ...fields })
})
