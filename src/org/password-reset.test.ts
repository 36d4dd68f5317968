import { describe, expect, test } from 'bun:test'
import { cast, client, memoryDb, type Person, testBox, testClock } from '../../test/fixtures.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { renderMailText } from '../mail/render-mail-text.ts'
import type { SendMail } from '../transport/send-mail-directly.ts'
import { auditor, type NewAuditEntry, writeAuditEntry } from './audit-log.ts'
import { authRoutes, resetRoutes } from './auth-routes.ts'
import { invite } from './member-store.ts'
import { hashPassword } from './password-hash.ts'
import { orgRoutes } from './routes.ts'
import { openSession } from './session.ts'
import { signInLimits } from './sign-in.ts'
import { addMember, endAccess } from './store.ts'

const PASSWORD = 'correct horse'
const NEW = 'another horse'
const passwordHash = await hashPassword(PASSWORD)

interface Letter {
  to: string
  subject: string
  text: string
}

function setUp({ perMinute = 600, hasMail = true } = {}) {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const give = db.prepare('UPDATE user SET passwordHash = ? WHERE id = ?')
  for (const { userId } of [people.alice, people.bob, people.vera]) give.run(passwordHash, userId)
  const letters: Letter[] = []
  const send: SendMail = (to, document) =>
    void letters.push({ to, subject: document.subject, text: renderMailText(document) })
  const bugs: unknown[] = []
  const audit = (entry: NewAuditEntry) => writeAuditEntry(db, clock, entry)
  const parts = {
    db,
    clock,
    box: testBox,
    setupToken: null,
    audit,
    limits: signInLimits(clock, perMinute),
    queueSecurityMail: null,
    publicUrl: 'https://tags.example',
    report: (error: unknown) => void bugs.push(error),
    oidc: () => null,
    browserOf: () => null,
    mail: hasMail ? send : null,
  }
  const routes = [...resetRoutes(parts), ...authRoutes(parts), ...orgRoutes(parts)]
  const call = client({ db, clock, audit: auditor(db, clock) }, ...routes)
  const forgot = async (email: string, address = '192.0.2.1') => {
    const answer = await call('POST', '/v1/auth/forgot', { body: { email }, address })
    // Work scheduled for after the response runs in a timer that was set before this one.
    await new Promise((resolve) => setTimeout(resolve, 0))
    return answer
  }
  const tokens = () => letters.map(({ text }) => /#reset=(\S+)/.exec(text)?.[1] ?? '')
  return {
    db,
    clock,
    people,
    letters,
    bugs,
    call,
    forgot,
    tokens,
    reset: (token: string, password = NEW) => call('POST', '/v1/auth/reset', { body: { token, password } }),
    login: (email: string, password: string) => call('POST', '/v1/auth/login', { body: { email, password } }),
    session: ({ userId }: Person) => openSession(db, clock, userId, 'password').token,
    entries: () => db.prepare<[], { act: string }>('SELECT * FROM auditEntry ORDER BY seq').all(),
  }
}

describe('a forgotten password', () => {
  test('is reset with an e-mailed link, which ends all sessions and opens a new one', async () => {
    const world = setUp()
    const { people, call } = world
    const [old, hers] = [world.session(people.bob), world.session(people.alice)]
    expect(await world.forgot(' BOB@example.com ')).toMatchObject({ status: 200, body: { ok: true } })
    expect(world.letters).toMatchObject([{ to: 'bob@example.com', subject: 'Tagwarden: reset your password' }])
    expect(world.letters[0]?.text).toMatch(/^https:\/\/tags\.example\/reset#reset=rs_[\w-]{43}$/m)
    const [token = ''] = world.tokens()
    expect(JSON.stringify(world.db.prepare('SELECT * FROM passwordReset').all())).not.toContain(token)
    const { status, body } = await world.reset(token)
    expect({ status, body }).toMatchObject({ status: 200, body: { user: { email: 'bob@example.com' } } })
    const whoami = async (as: string) => (await call('GET', '/v1/whoami', { as })).status
    expect([await whoami(old), await whoami(body.token), await whoami(hers)]).toEqual([401, 200, 200])
    expect([await whoami(people.bob.key), body.revokedKeys, body.endedSessions]).toEqual([401, 1, 1])
    expect((await world.login('bob@example.com', PASSWORD)).status).toBe(401)
    expect((await world.login('bob@example.com', NEW)).status).toBe(200)
    expect(JSON.stringify(world.entries())).not.toContain(token)
    expect(world.entries().map(({ act }) => act)).toEqual(expect.arrayContaining(['forgotPassword', 'resetPassword']))
  })

  const refused = 'token: the link is unknown, used or expired; request a new one'
  test.each([
    ['used', async ({ reset }: World, token: string) => void (await reset(token))],
    ['expired', async ({ clock }: World) => clock.advance(HOUR_MS)],
    [
      'invalidated by the use of another link',
      async ({ forgot, tokens, reset }: World) => {
        await forgot('bob@example.com')
        await reset(tokens()[1] ?? '')
      },
    ],
    ['created before the clock was set back', async ({ clock }: World) => clock.advance(-MINUTE_MS)],
    [
      'outdated, because the password was changed',
      async ({ call, session, people }: World) => {
        const body = { currentPassword: PASSWORD, newPassword: 'third horse' }
        await call('PUT', '/v1/auth/password', { as: session(people.bob), body })
      },
    ],
  ])("can't be reset with a link that is %s", async (_, happen) => {
    const world = setUp()
    await world.forgot('bob@example.com')
    const [token = ''] = world.tokens()
    await happen(world, token)
    expect(await world.reset(token, 'fourth horse')).toMatchObject({ status: 401, body: { error: refused } })
    expect((await world.login('bob@example.com', 'fourth horse')).status).toBe(401)
  })

  test('earlier links remain valid, and at most three are e-mailed within an hour', async () => {
    const { forgot, tokens, reset, clock } = setUp()
    for (let n = 0; n < 5; n++) {
      await forgot('bob@example.com')
      clock.advance(MINUTE_MS)
    }
    const [first = ''] = tokens()
    expect(tokens()).toHaveLength(3)
    expect((await reset(first)).status).toBe(200)
    await forgot('bob@example.com')
    expect(tokens()).toHaveLength(3)
    clock.advance(HOUR_MS)
    await forgot('bob@example.com')
    expect(tokens()).toHaveLength(4)
  })

  test('a link is valid for an hour, even after an invalid password', async () => {
    const { forgot, tokens, reset, clock } = setUp()
    await forgot('bob@example.com')
    const [token = ''] = tokens()
    clock.advance(HOUR_MS - 1)
    expect(await reset(token, 'short')).toMatchObject({
      status: 400,
      body: { error: 'password: must have at least 10 characters' },
    })
    expect((await reset(token)).status).toBe(200)
  })

  test('a link used twice concurrently works only once', async () => {
    const { forgot, tokens, reset } = setUp()
    await forgot('bob@example.com')
    const [token = ''] = tokens()
    const answers = await Promise.all([reset(token, 'first horse'), reset(token, 'second horse')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  test.each([
    ['an unknown address', 'nobody@example.com', () => {}],
    ['an invalid address', 'x', () => {}],
    [
      'a user who was only invited',
      'guest@example.com',
      ({ db, clock, people: { orgId } }: World) =>
        void invite(db, clock, { orgId, email: 'guest@example.com', role: 'viewer' }),
    ],
    [
      'a user who signs in only through the company',
      'ada@example.com',
      ({ db, people }: World) =>
        void db
          .prepare('INSERT INTO identity (issuer, subject, userId, createdAt) VALUES (?, ?, ?, 0)')
          .run('https://id.example', 'ada', people.ada.userId),
    ],
    [
      'a removed user',
      'bob@example.com',
      ({ db, clock, people: { bob } }: World) => {
        db.prepare('DELETE FROM member WHERE userId = ?').run(bob.userId)
        endAccess(db, clock, [bob.userId])
      },
    ],
  ])('a request gets the same response for %s, and no e-mail is sent', async (_, email, happen) => {
    const world = setUp()
    happen(world)
    expect(await world.forgot(email)).toMatchObject({ status: 200, body: { ok: true } })
    expect([world.letters, world.bugs]).toEqual([[], []])
    expect(world.db.prepare('SELECT * FROM passwordReset').all()).toEqual([])
  })

  test('can also be set by a user who never had one', async () => {
    const { forgot, tokens, reset } = setUp()
    await forgot('ada@example.com')
    expect((await reset(tokens()[0] ?? '')).status).toBe(200)
  })

  test('without a mail server, no link is created, and the response is the same', async () => {
    const { forgot, db } = setUp({ hasMail: false })
    expect(await forgot('bob@example.com')).toMatchObject({ status: 200, body: { ok: true } })
    expect(db.prepare('SELECT * FROM passwordReset').all()).toEqual([])
  })

  test('a user who was removed in the meantime does not get access', async () => {
    const { forgot, tokens, reset, db, people, login } = setUp()
    await forgot('bob@example.com')
    db.prepare('DELETE FROM member WHERE userId = ?').run(people.bob.userId)
    expect((await reset(tokens()[0] ?? '')).status).toBe(403)
    addMember(db, testClock(), { orgId: people.orgId, userId: people.bob.userId, role: 'viewer' })
    expect((await login('bob@example.com', NEW)).status).toBe(401)
  })

  test('requests have the rate limits of sign-ins, by IP address and by account, known or not', async () => {
    for (const email of ['bob@example.com', 'nobody@example.com']) {
      const { forgot, login } = setUp()
      for (let n = 0; n < 10; n++) expect((await forgot(email)).status).toBe(200)
      const limited = await forgot(email)
      expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '6'])
      // Requests from other addresses do not lock the user out.
      expect((await forgot(email, '192.0.2.2')).status).toBe(200)
      expect((await login('alice@example.com', PASSWORD)).status).toBe(200)
    }
    const { forgot, reset } = setUp({ perMinute: 2 })
    expect([(await forgot('a@b.example')).status, (await forgot('b@b.example')).status]).toEqual([200, 200])
    expect((await forgot('c@b.example')).status).toBe(429)
    const guesses = [await reset('rs_guess'), await reset('rs_guess'), await reset('rs_guess')]
    expect(guesses.map(({ status }) => status)).toEqual([401, 401, 429])
  })
})

type World = ReturnType<typeof setUp>
