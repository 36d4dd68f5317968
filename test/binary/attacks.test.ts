import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask, BINARY, call, initialize, type Server, startServer, temporaryFolder } from '../run-program.ts'

const PASSWORD = 'correct horse battery'
/** Share of a request's duration. If `/healthz` takes longer than this, the server was blocked. */
const BLOCKED = 0.5
const STOLEN = 'a password that Mallory chose'

describe.skipIf(BINARY === null)('attacks on the executable', () => {
  const folder = temporaryFolder()
  let server: Server
  let owner: string
  let url: string

  beforeAll(async () => {
    await initialize(folder.path, PASSWORD)
    server = await startServer(folder.path)
    url = server.url
    owner = await signIn('a@example.com', PASSWORD)
  })
  afterAll(async () => {
    await server.stop()
    folder[Symbol.dispose]()
  })

  /** Polls `/healthz` during a request. Returns the longest response time as a share of the request's duration. */
  async function longestWait(request: Promise<unknown>): Promise<number> {
    let isPending = true
    const ended = request.finally(() => {
      isPending = false
    })
    const startedAt = performance.now()
    let longest = 0
    while (isPending) {
      const askedAt = performance.now()
      expect((await call('GET', `${url}/healthz`, { as: '' })).status).toBe(200)
      longest = Math.max(longest, performance.now() - askedAt)
    }
    await ended
    return longest / (performance.now() - startedAt)
  }

  const signIn = async (email: string, password: string): Promise<string> =>
    (await ask('POST', `${url}/v1/auth/login`, '', { email, password })).token

  /** Request options that select one of the user's organizations. */
  const as = (credential: string, orgId: string) => ({ as: credential, headers: { 'x-org-id': orgId } })

  async function accept(inviteToken: string, password: string): Promise<string> {
    return (await ask('POST', `${url}/v1/auth/invite`, '', { token: inviteToken, password })).token
  }

  test('a key from an earlier invitation grants no access to another organization, and a password change revokes it', async () => {
    const [{ id: home }] = (await ask('GET', `${url}/v1/orgs`, owner)).orgs
    const invite = async (orgId: string, email: string) => {
      const answer = await call('POST', `${url}/v1/org/members`, {
        ...as(owner, orgId),
        body: { email, role: 'admin' },
      })
      return String(answer.body.inviteToken)
    }
    const foreign = (await call('POST', `${url}/v1/orgs`, { ...as(owner, home), body: { name: 'Foreign' } })).body.id
    // Mallory, the owner of the other organization, invites another person's e-mail address and accepts the invitation.
    const victim = await accept(await invite(foreign, 'victim@example.com'), STOLEN)
    const { secret } = await ask('POST', `${url}/v1/keys`, victim, { name: 'kept', expiresInDays: null })
    // Later, the person with this e-mail address becomes an admin of the first organization.
    await accept(await invite(home, 'victim@example.com'), STOLEN)

    expect((await call('GET', `${url}/v1/org/members`, as(secret, home))).status).toBe(403)
    expect((await ask('GET', `${url}/v1/whoami`, secret)).orgId).toBe(foreign)
    expect((await ask('GET', `${url}/v1/orgs`, secret)).orgs).toMatchObject([{ id: foreign }])

    const present = await signIn('victim@example.com', STOLEN)
    const changed = await call('PUT', `${url}/v1/auth/password`, {
      as: present,
      body: { currentPassword: STOLEN, newPassword: 'what nobody else knows' },
    })
    expect(changed).toMatchObject({ status: 200, body: { ok: true, revokedKeys: 1, endedSessions: 2 } })
    expect((await call('GET', `${url}/v1/whoami`, { as: secret })).status).toBe(401)
    expect((await call('GET', `${url}/v1/whoami`, as(victim, foreign))).status).toBe(401)
  })

  test("a large HAR does not block the server, and viewers can't send it", async () => {
    const [{ id: home }] = (await ask('GET', `${url}/v1/orgs`, owner)).orgs
    const entries = Array.from({ length: 14_500 }, (_, n) => ({
      _resourceType: n === 0 ? 'document' : 'image',
      startedDateTime: '2026-01-05T12:00:00.000Z',
      request: { method: 'GET', url: `https://shop.example/${n}`, headers: [] },
      response: { status: 200, headers: [], content: { text: 'x'.repeat(1850) } },
    }))
    const body = { har: { log: { version: '1.2', entries } } }
    const draft = call('POST', `${url}/v1/flows/drafts`, { ...as(owner, home), body })
    expect(await longestWait(draft)).toBeLessThan(BLOCKED)
    expect((await draft).status).toBe(200)

    const invited = await call('POST', `${url}/v1/org/members`, {
      ...as(owner, home),
      body: { email: 'viewer@example.com', role: 'viewer' },
    })
    const viewer = await accept(String(invited.body.inviteToken), PASSWORD)
    expect(
      (await call('POST', `${url}/v1/flows/drafts`, { as: viewer, body: { har: { log: { entries: [] } } } })).status,
    ).toBe(403)
  })

  test('large bodies do not block the server, and sign-in rejects them', async () => {
    const [{ id: home }] = (await ask('GET', `${url}/v1/orgs`, owner)).orgs
    const lists = `[${Array(2_700_000).fill('[]').join()}]`
    for (const path of ['/v1/alerts', '/v1/domains']) {
      const headers = { authorization: `Bearer ${owner}`, 'x-org-id': home, 'content-type': 'application/json' }
      const sent = fetch(url + path, { method: 'POST', headers, body: lists })
      const isBlocked = (await longestWait(sent)) > BLOCKED
      expect([path, (await sent).status, isBlocked]).toEqual([path, 400, false])
    }
    for (const path of ['/v1/auth/login', '/v1/auth/forgot', '/v1/auth/reset', '/v1/auth/invite', '/v1/auth/setup']) {
      const headers = { 'content-type': 'application/json' }
      const { status } = await fetch(url + path, { method: 'POST', headers, body: lists })
      expect([path, status]).toEqual([path, 413])
    }
  })

  test('a user can have at most 50 keys and own at most 10 organizations', async () => {
    const [{ id: home }] = (await ask('GET', `${url}/v1/orgs`, owner)).orgs
    const statuses = async (times: number, path: string, body: object) => {
      const all: number[] = []
      for (let n = 0; n < times; n++) all.push((await call('POST', url + path, { ...as(owner, home), body })).status)
      return all
    }
    expect(await statuses(60, '/v1/keys', { name: 'more', expiresInDays: null })).toEqual(
      expect.arrayContaining([201, 409]),
    )
    const { keys } = (await call('GET', `${url}/v1/keys`, as(owner, home))).body
    expect(keys.length).toBe(50)
    expect((await statuses(12, '/v1/orgs', { name: 'more' })).at(-1)).toBe(409)
    expect((await ask('GET', `${url}/v1/orgs`, owner)).orgs.length).toBe(10)
  })
})
