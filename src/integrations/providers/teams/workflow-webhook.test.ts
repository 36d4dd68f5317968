import { describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { SECOND_MS } from '../../../core/clock.ts'
import { addressGuard } from '../../../transport/address-guard.ts'
import { teamsFixture, teamsServer } from './teams.fixture.ts'
import { checkWorkflowUrl, prepareTeams } from './teams-config.ts'
import { BOT } from './teams-server.fixture.ts'

/** A server that returns 202 and records the exact request line. */
async function wire() {
  const lines: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (chunk) => {
      lines.push(chunk.toString('latin1').split('\r\n')[0] ?? '')
      socket.end('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    lines,
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

describe('the URL of a workflow', () => {
  test.each([
    '/workflows/0a1b/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=aB-c_D9',
    '/powerautomate/automations/direct/workflows/1/triggers/manual/paths/invoke?api-version=1&sp=%2ftriggers%2fmanual%2frun&sig=x%2By%2fz%3D',
    "/a/b?sig=it's+'quoted'~!*()",
    '/a//b/./c/%2e%2e/d?x=%zz&y=a|b^c&z={1}&&',
    '/a?',
    '/a?sig=%C3%A9%e2%82%ac',
  ])('is requested unchanged: %s', async (path) => {
    await using server = await wire()
    const fixture = teamsFixture({
      operator: { OFFICE_CHAT_LOGIN_URL: 'x', OFFICE_CHAT_OPENID_URL: 'x', OFFICE_CHAT_ISSUER: 'x' },
    })
    const { body } = await fixture.make({ webhookUrl: server.url + path })
    await fixture.tell(server.url + path)
    await fixture.tell(body.id, 'opened', 'iss_2')
    expect(fixture.summary()).toEqual(['opened delivered', 'opened delivered'])
    expect(server.lines).toEqual([`POST ${path} HTTP/1.1`, `POST ${path} HTTP/1.1`])
  })

  test.each([
    ['http://prod-12.westeurope.logic.azure.com/workflows/a', 'must be an https URL'],
    ['https://user:password@prod-12.westeurope.logic.azure.com/workflows/a', 'must not contain a user name'],
    ['https://127.0.0.1/workflows/a', 'a loopback address'],
    ['https://2130706433/workflows/a', 'a loopback address'],
    ['https://0x7f.1/workflows/a', 'a loopback address'],
    ['https://[::ffff:127.0.0.1]/workflows/a', 'a loopback address'],
    ['https://[::ffff:a9fe:a9fe]/latest/meta-data', 'address'],
    ['https://169.254.169.254/latest/meta-data', 'address'],
    ['https://metadata.google.internal/x', 'metadata.google.internal'],
    ['https://LOCALHOST./x', 'localhost'],
    ['https://10.0.0.1/x', 'a private address'],
    ['https://prod.example:22/x', 'port 22'],
    ['https://prod.example/x y', 'without spaces'],
    ['https://prod.example/x\n', 'without spaces'],
    ['https://prod.example/x#y', 'fragment'],
    ['ftp://prod.example/x', 'must be an https URL'],
    ['file:///etc/passwd', 'must be an https URL'],
    ['', ''],
  ])('is rejected: %s', (url, reason) => {
    const guard = addressGuard([])
    for (const refusal of [() => prepareTeams({ webhookUrl: url }, guard), () => checkWorkflowUrl(url, guard)]) {
      expect(refusal).toThrow(expect.objectContaining({ code: 'invalid', message: expect.stringContaining(reason) }))
    }
  })

  test('is never shown again', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const webhookUrl = `${server.url}/workflows/a?sig=s1gnature`
    const { status, body } = await fixture.make({ webhookUrl })
    expect([status, body]).toEqual([201, expect.objectContaining({ status: 'connected', config: {} })])
    expect(JSON.stringify(await fixture.get(body.id))).not.toContain('s1gnature')
  })
})

describe('the settings', () => {
  const guard = addressGuard([])
  const webhookUrl = 'https://prod-12.westeurope.logic.azure.com:443/workflows/a?sig=x'
  test.each<[object, string]>([
    [{}, 'config.webhookUrl: is required'],
    [{ appId: 'a' }, 'config.appPassword: is missing'],
    [{ appId: 'a', appPassword: null }, 'config.appPassword: is missing'],
    [{ appPassword: 'x' }, 'config.webhookUrl: is required'],
    [{ webhookUrl, ...BOT }, "config.webhookUrl: can't be combined with appId"],
    [{ webhookUrl, appPassword: 'x' }, "config.webhookUrl: can't be combined"],
    [{ appId: '../..', appPassword: 'x' }, 'config.appId: must have a format such as 00001111-'],
    [{ ...BOT, tenantId: 'common/../x' }, 'config.tenantId: must have a format such as 00001111-'],
    [{ ...BOT, tenantId: 'a?b' }, 'config.tenantId: '],
    [{ ...BOT, botToken: 'x' }, 'config.botToken: '],
    [{ appId: 5, appPassword: 'x' }, 'config.appId: '],
  ])('are rejected: %j', (config, reason) => {
    expect(() => prepareTeams(config, guard)).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringContaining(reason) }),
    )
  })

  test("normalize a bot's ids to the spelling in tokens", () => {
    expect(
      prepareTeams({ ...BOT, appId: BOT.appId.toUpperCase(), tenantId: 'contoso.onmicrosoft.com' }, guard),
    ).toEqual({
      ...BOT,
      tenantId: 'contoso.onmicrosoft.com',
    })
    expect(prepareTeams({ webhookUrl }, guard)).toEqual({ webhookUrl })
  })
})

describe('an issue posted through a workflow', () => {
  test('reports each status change once in a separate message', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const url = `${server.url}/workflows/a?sig=x`
    const titles = () => server.requests.map(({ body }) => JSON.parse(body).attachments[0].content.body[0].text)
    await fixture.tell(url)
    fixture.setStatusByUser('acknowledged')
    await fixture.follow()
    await fixture.follow()
    fixture.setStatusByUser('open')
    await fixture.follow()
    fixture.setStatusByUser('resolved')
    await fixture.follow()
    await fixture.tell(url, 'resolved')
    await fixture.later(11 * SECOND_MS)
    fixture.setStatusByUser('open')
    await fixture.follow()
    expect(titles()).toEqual([
      expect.stringContaining('New issue'),
      'Acknowledged by Alice',
      'Reopened by Alice',
      expect.stringContaining('Resolved'),
      'Reopened by Alice',
    ])
    expect(fixture.issueRow()?.notificationsSent).toBe(2)
  })

  test('reports only the current status if it changed before the first delivery', async () => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    const url = `${server.url}/workflows/a?sig=x`
    await fixture.tell(url)
    fixture.setStatusByUser('acknowledged')
    fixture.setStatusByUser('open')
    await fixture.follow()
    expect(server.requests).toHaveLength(1)
  })
})

test('200 simultaneous issues are sent in at most three messages that list or count each of them', async () => {
  await using server = await teamsServer()
  const fixture = teamsFixture(server)
  const id = await fixture.connected(server)
  const url = `${server.url}/workflows/a?sig=x`
  for (const [index, target] of [id, url].entries()) {
    for (let n = 0; n < 200; n++) {
      const issueId = `iss_${index}_${n}`
      fixture.issue(issueId)
      fixture.db.prepare('UPDATE issue SET title = ? WHERE id = ?').run(`Trouble ${n}`, issueId)
      fixture.enqueueTransition(target, 'opened', issueId)
    }
  }
  await fixture.deliver()
  await fixture.later(31 * SECOND_MS)
  const { posts } = server.cloud
  const workflow = server.requests.filter(({ path }) => path.startsWith('/workflows'))
  expect(posts.length - 1).toBeLessThanOrEqual(3)
  expect(workflow.length).toBeLessThanOrEqual(3)
  for (const bodies of [
    posts.slice(1).map(({ contents }) => JSON.stringify(contents[0])),
    workflow.map(({ body }) => body),
  ]) {
    const all = bodies.join()
    const named = new Set(all.match(/issues\/iss_\d_\d+/g))
    const counted = [...all.matchAll(/and (\d+) more/g)].reduce((sum, [, count]) => sum + Number(count), 0)
    expect(named.size + counted).toBe(200)
    for (const body of bodies) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(28_672)
  }
  // Acknowledging one issue updates the group message.
  fixture.setStatusByUser('acknowledged', 'iss_0_5')
  await fixture.follow()
  const group = posts[2]
  expect(group?.contents).toHaveLength(2)
  expect(JSON.stringify(group?.contents[1])).toContain('**Acknowledged')
  // A workflow's messages can't be updated, so a single message reports the status of all issues.
  const told = server.requests.length
  for (let n = 1; n < 200; n++) fixture.setStatusByUser(n % 2 ? 'acknowledged' : 'muted', `iss_1_${n}`)
  for (let round = 0; round < 3; round++) await fixture.follow()
  const [said, ...more] = server.requests.slice(told)
  expect(more).toEqual([])
  expect(said?.body).toContain('199 issues acknowledged or muted')
  expect(said?.body).toContain('and 179 more')
  fixture.setStatusByUser('open', 'iss_1_7')
  await fixture.follow()
  expect(server.requests.at(-1)?.body).toContain('Reopened by Alice')
  expect(server.requests).toHaveLength(told + 2)
  expect(fixture.deliveries().every(({ status }) => status === 'delivered')).toBe(true)
})
