import { beforeEach, describe, expect, test } from 'bun:test'
import { cast, client, memoryDb, testBox, testClock } from '../../test/fixtures.ts'
import { until } from '../../test/run-program.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { createKey } from './api-key-store.ts'
import { auditor, listAuditEntries, type NewAuditEntry, writeAuditEntry } from './audit-log.ts'
import { authRoutes, resetRoutes } from './auth-routes.ts'
import { isInForce } from './authenticate.ts'
import { memberRoutes } from './member-routes.ts'
import { invite } from './member-store.ts'
import { organizationRoutes } from './org-routes.ts'
import { hashPassword } from './password-hash.ts'
import { newResetToken } from './password-reset.ts'
import { orgRoutes } from './routes.ts'
import type { SecurityNotice } from './security-mail.ts'
import { openSession } from './session.ts'
import { signInLimits } from './sign-in.ts'
import { addMember } from './store.ts'
import { STEP_MS, stepAt, totpCode } from './totp.ts'

const PASSWORD = 'correct horse'
const passwordHash = await hashPassword(PASSWORD)

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  db.prepare('UPDATE user SET passwordHash = ?').run(passwordHash)
  const notices: SecurityNotice[] = []
  const parts = {
    db,
    clock,
    box: testBox,
    limits: signInLimits(clock, 100_000),
    publicUrl: 'https://tags.example',
    mail: null,
    queueSecurityMail: (notice: SecurityNotice) => void notices.push(notice),
    setupToken: null,
    audit: (entry: NewAuditEntry) => writeAuditEntry(db, clock, entry),
    report: (error: unknown) => {
      throw error
    },
    oidc: () => null,
    browserOf: () => null,
    checkPiiPatterns() {},
    changed() {},
    deleted() {},
  }
  const routes = [
    ...authRoutes(parts),
    ...resetRoutes(parts),
    ...memberRoutes(parts),
    ...orgRoutes(parts),
    ...organizationRoutes(parts),
  ]
  const call = client({ db, clock, audit: auditor(db, clock) }, ...routes)
  const login = (code?: string, email = people.bob.email) =>
    call('POST', '/v1/auth/login', { body: { email, password: PASSWORD, ...(code === undefined ? {} : { code }) } })
  const sessionOf = (person: { userId: string }, via: 'password' | 'oidc' = 'password') =>
    openSession(db, clock, person.userId, via).token
  const codeOf = (secret: string, steps = 0) => totpCode(secret, stepAt(clock.now()) + steps)
  /** Enables a second factor and returns its secret, its recovery codes and the session that was used. */
  const enrol = async (person: { userId: string }) => {
    const as = sessionOf(person)
    const { secret, recoveryCodes } = (await call('POST', '/v1/auth/totp', { as })).body
    const { status } = await call('PUT', '/v1/auth/totp', { as, body: { code: codeOf(secret) } })
    expect(status).toBe(200)
    return { secret: String(secret), recoveryCodes: recoveryCodes as string[], as }
  }
  const acts = (orgId = people.orgId) =>
    listAuditEntries(db, orgId, { limit: 200 }).items.map(({ act, target }) => ({ act, target }))
  const requireIt = (as: string, required = true) =>
    call('PATCH', '/v1/org', { as, body: { requireSecondFactor: required } })
  return { db, clock, cast: people, notices, call, login, sessionOf, codeOf, enrol, acts, requireIt }
}

let all: ReturnType<typeof setUp>
beforeEach(() => {
  all = setUp()
})

describe('enrolment', () => {
  test('takes effect with the first code, ends the other sessions, and shows nothing again', async () => {
    const { call, cast, login, sessionOf, codeOf, acts } = all
    const [as, other] = [sessionOf(cast.bob), sessionOf(cast.bob)]
    const state = async () => (await call('GET', '/v1/auth/totp', { as })).body
    const { secret, uri, recoveryCodes } = (await call('POST', '/v1/auth/totp', { as })).body
    expect(uri).toContain(`secret=${secret}&`)
    expect(recoveryCodes).toHaveLength(10)
    expect(await state()).toEqual({ enabled: false, enabledAt: null, recoveryCodesLeft: 0 })
    expect((await login()).status).toBe(200)

    const wrong = await call('PUT', '/v1/auth/totp', { as, body: { code: codeOf(secret, 5) } })
    expect([wrong.status, wrong.body.error]).toEqual([403, 'code: is not the current code of the authenticator app'])
    const right = await call('PUT', '/v1/auth/totp', { as, body: { code: codeOf(secret) } })
    // The session opened by `login` and `other`.
    expect([right.status, right.body]).toEqual([200, { ok: true, endedSessions: 2 }])
    expect((await call('GET', '/v1/whoami', { as: other })).status).toBe(401)
    expect(await state()).toEqual({ enabled: true, enabledAt: all.clock.now(), recoveryCodesLeft: 10 })
    expect((await call('POST', '/v1/auth/totp', { as })).status).toBe(409)
    expect((await call('PUT', '/v1/auth/totp', { as, body: { code: codeOf(secret) } })).status).toBe(409)
    expect(acts().map(({ act }) => act)).toEqual(['confirmSecondFactor', 'signIn', 'beginSecondFactor'])
    expect(JSON.stringify(all.db.prepare('SELECT * FROM auditEntry').all())).not.toContain(secret)
  })

  test('stores neither the secret nor the recovery codes in clear text', async () => {
    const { secret, recoveryCodes } = await all.enrol(all.cast.bob)
    const bytes = all.db.serialize()
    for (const text of [secret, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll('-', ''))]) {
      expect(bytes.includes(text)).toBe(false)
    }
  })

  test('requires a session and a password', async () => {
    const { call, cast, db, sessionOf } = all
    for (const [method, body] of [['GET'], ['POST'], ['PUT', { code: '123456' }], ['DELETE']] as const) {
      expect((await call(method, '/v1/auth/totp', { as: cast.bob.key, body })).status).toBe(409)
    }
    db.prepare('UPDATE user SET passwordHash = NULL WHERE id = ?').run(cast.bob.userId)
    expect((await call('POST', '/v1/auth/totp', { as: sessionOf(cast.bob, 'oidc') })).status).toBe(409)
    const unbegun = await call('PUT', '/v1/auth/totp', { as: sessionOf(cast.ada), body: { code: '123456' } })
    expect(unbegun.status).toBe(409)
  })

  test('can be repeated until it is confirmed; only the last secret counts', async () => {
    const { call, cast, sessionOf, codeOf } = all
    const as = sessionOf(cast.bob)
    const first = (await call('POST', '/v1/auth/totp', { as })).body
    const second = (await call('POST', '/v1/auth/totp', { as })).body
    expect((await call('PUT', '/v1/auth/totp', { as, body: { code: codeOf(first.secret) } })).status).toBe(403)
    expect((await call('PUT', '/v1/auth/totp', { as, body: { code: codeOf(second.secret) } })).status).toBe(200)
    expect((await all.login(first.recoveryCodes[0])).status).toBe(401)
    expect((await all.login(second.recoveryCodes[0])).status).toBe(200)
  })

  test('limits wrong codes', async () => {
    const { call, cast, sessionOf, codeOf } = all
    const as = sessionOf(cast.bob)
    const { secret } = (await call('POST', '/v1/auth/totp', { as })).body
    const put = async (steps: number) =>
      (await call('PUT', '/v1/auth/totp', { as, body: { code: codeOf(secret, steps) } })).status
    const statuses = []
    for (let n = 0; n < 11; n++) statuses.push(await put(9))
    expect(statuses).toEqual([...Array<number>(10).fill(403), 429])
    expect(await put(0)).toBe(429)
  })
})

describe('signing in with a second factor', () => {
  test('asks for the code only after the right password', async () => {
    const { call, cast, login } = all
    await all.enrol(cast.bob)
    const without = await login()
    expect([without.status, without.headers.get('x-second-factor')]).toEqual([401, 'totp'])
    expect(without.body.error).toStartWith('code: enter the code')
    const body = { email: cast.bob.email, password: 'wrong password', code: '123456' }
    const wrong = await call('POST', '/v1/auth/login', { body })
    const unknown = await call('POST', '/v1/auth/login', { body: { ...body, email: 'nobody@example.com' } })
    for (const { status, headers } of [wrong, unknown])
      expect([status, headers.get('x-second-factor')]).toEqual([401, null])
    expect(wrong.body).toEqual(unknown.body)
  })

  test('accepts each code once, in any order of the steps that are accepted', async () => {
    const { cast, clock, login, codeOf } = all
    const { secret } = await all.enrol(cast.bob)
    const status = async (code: string) => (await login(code)).status
    expect(await status(codeOf(secret))).toBe(200)
    const replay = await login(codeOf(secret))
    expect([replay.status, replay.headers.get('x-second-factor')]).toEqual([401, 'totp'])
    expect(replay.body.error).toBe('code: is wrong, expired or already used')
    // The code of the step before must not work after a later one.
    expect(await status(codeOf(secret, -1))).toBe(401)
    expect(await status(codeOf(secret, 1))).toBe(200)
    expect(await status(codeOf(secret, 1))).toBe(401)
    clock.advance(2 * STEP_MS)
    expect(await status(codeOf(secret, -1))).toBe(401)
    expect(await status(` ${codeOf(secret).slice(0, 3)} ${codeOf(secret).slice(3)} `)).toBe(200)
  })

  test('does not lock users out when the clock is set back', async () => {
    const { cast, clock, login, codeOf } = all
    const { secret } = await all.enrol(cast.bob)
    expect((await login(codeOf(secret))).status).toBe(200)
    clock.advance(-HOUR_MS)
    expect((await login(codeOf(secret))).status).toBe(200)
    expect((await login(codeOf(secret))).status).toBe(401)
  })

  test('accepts each recovery code once, and records failures', async () => {
    const { cast, login, acts } = all
    const { recoveryCodes, as } = await all.enrol(cast.bob)
    const [code = ''] = recoveryCodes
    expect((await login(code.toUpperCase().replaceAll('-', ' '))).status).toBe(200)
    expect((await login(code)).status).toBe(401)
    expect((await login('0000-0000-0000-0000')).status).toBe(401)
    expect((await all.call('GET', '/v1/auth/totp', { as })).body.recoveryCodesLeft).toBe(9)
    await until(
      'failed sign-ins in the audit log',
      () => acts().filter(({ act }) => act === 'signInFailed').length === 2,
    )
    expect(acts().filter(({ act }) => act === 'signInFailed')).toEqual(
      Array(2).fill({ act: 'signInFailed', target: cast.bob.userId }),
    )
  })

  test('limits wrong codes by user, but not recovery codes', async () => {
    const { cast, clock, login, codeOf } = all
    const { secret, recoveryCodes } = await all.enrol(cast.bob)
    const statuses = []
    for (let n = 0; n < 12; n++) {
      clock.advance(10_000)
      statuses.push((await login(codeOf(secret, 100 + n))).status)
    }
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429])
    const limited = await login(codeOf(secret))
    expect([limited.status, Number(limited.headers.get('retry-after')) > 60]).toEqual([429, true])
    expect((await login(recoveryCodes[0])).status).toBe(200)
    const ada = await all.enrol(cast.ada)
    expect((await login(codeOf(ada.secret), cast.ada.email)).status).toBe(200)
    clock.advance(10 * MINUTE_MS)
    expect((await login(codeOf(secret))).status).toBe(200)
  })

  test('is also required to reset a password; the link stays valid without a code', async () => {
    const { call, cast, db, clock, codeOf } = all
    const { secret, as } = await all.enrol(cast.bob)
    const token = newResetToken(db, clock, cast.bob.userId)
    const reset = (code?: string) =>
      call('POST', '/v1/auth/reset', { body: { token, password: 'another horse', ...(code ? { code } : {}) } })
    const asked = await reset()
    expect([asked.status, asked.headers.get('x-second-factor')]).toEqual([401, 'totp'])
    expect((await call('GET', '/v1/whoami', { as })).status).toBe(200)
    const answer = await reset(codeOf(secret))
    expect([answer.status, answer.body.revokedKeys, answer.body.endedSessions]).toEqual([200, 1, 1])
    expect((await reset(codeOf(secret, 1))).status).toBe(401)
  })

  test('is also required to accept an invitation with a password', async () => {
    const { call, cast, db, clock, codeOf } = all
    const { secret } = await all.enrol(cast.bob)
    const { token } = invite(db, clock, { orgId: cast.mallory.orgId, email: cast.bob.email, role: 'viewer' })
    const accept = (code?: string) =>
      call('POST', '/v1/auth/invite', { body: { token, password: PASSWORD, ...(code ? { code } : {}) } })
    const asked = await accept()
    expect([asked.status, asked.headers.get('x-second-factor')]).toEqual([401, 'totp'])
    expect((await accept(codeOf(secret, 50))).status).toBe(401)
    expect((await accept(codeOf(secret))).status).toBe(201)
  })

  test('is no longer required after its removal, which is recorded in all organizations', async () => {
    const { call, cast, db, clock, login, acts } = all
    addMember(db, clock, { orgId: cast.mallory.orgId, userId: cast.bob.userId, role: 'viewer' })
    const { as } = await all.enrol(cast.bob)
    expect((await call('DELETE', '/v1/auth/totp', { as })).status).toBe(200)
    expect((await login()).status).toBe(200)
    for (const orgId of [cast.orgId, cast.mallory.orgId]) {
      expect(acts(orgId).map(({ act }) => act)).toEqual([
        'signIn',
        'removeSecondFactor',
        'confirmSecondFactor',
        'beginSecondFactor',
      ])
    }
    expect(db.prepare('SELECT (SELECT count(*) FROM totp) + (SELECT count(*) FROM recoveryCode)').pluck().get()).toBe(0)
  })
})

describe('new recovery codes', () => {
  const path = '/v1/auth/totp/recovery-codes'

  test('replace the earlier ones, and are recorded in all organizations', async () => {
    const { call, cast, clock, db, codeOf, login, acts } = all
    addMember(db, clock, { orgId: cast.mallory.orgId, userId: cast.bob.userId, role: 'viewer' })
    const { secret, recoveryCodes, as } = await all.enrol(cast.bob)
    expect((await login(recoveryCodes[0])).status).toBe(200)
    const { status, body } = await call('POST', path, { as, body: { code: codeOf(secret) } })
    expect([status, body.recoveryCodes.length, new Set([...recoveryCodes, ...body.recoveryCodes]).size]).toEqual([
      200, 10, 20,
    ])
    expect((await call('GET', '/v1/auth/totp', { as })).body.recoveryCodesLeft).toBe(10)
    expect((await login(recoveryCodes[1])).status).toBe(401)
    expect((await login(body.recoveryCodes[0])).status).toBe(200)
    for (const orgId of [cast.orgId, cast.mallory.orgId]) {
      expect(acts(orgId)).toContainEqual(expect.objectContaining({ act: 'replaceRecoveryCodes' }))
    }
    const stored = db.serialize()
    for (const code of body.recoveryCodes) expect(stored.includes(code)).toBe(false)
  })

  test('require a code of the app that has not been used, and leave the earlier ones otherwise', async () => {
    const { call, cast, codeOf, login } = all
    const { secret, recoveryCodes, as } = await all.enrol(cast.bob)
    expect((await login(codeOf(secret))).status).toBe(200)
    for (const code of [codeOf(secret), codeOf(secret, 9), recoveryCodes[0] ?? '']) {
      const { status, body } = await call('POST', path, { as, body: { code } })
      expect([status, body.error]).toEqual([
        403,
        'code: is not the current code of the authenticator app, or was already used',
      ])
    }
    expect((await login(recoveryCodes[0])).status).toBe(200)
    expect((await call('POST', path, { as, body: { code: codeOf(secret, 1) } })).status).toBe(200)
    // The code is used up.
    expect((await login(codeOf(secret, 1))).status).toBe(401)
  })

  test('count wrong codes together with those of sign-ins', async () => {
    const { call, cast, codeOf, login } = all
    const { secret, as } = await all.enrol(cast.bob)
    const replace = async (steps: number) =>
      (await call('POST', path, { as, body: { code: codeOf(secret, steps) } })).status
    const statuses = []
    for (let n = 0; n < 10; n++) statuses.push(n % 2 ? await replace(50 + n) : (await login(codeOf(secret, 50))).status)
    expect(statuses).toEqual(Array(5).fill([401, 403]).flat())
    expect([await replace(0), (await login(codeOf(secret))).status]).toEqual([429, 429])
  })

  test('require a session and an enabled second factor', async () => {
    const { call, cast, codeOf, sessionOf } = all
    const as = sessionOf(cast.bob)
    const { secret } = (await call('POST', '/v1/auth/totp', { as })).body
    const body = { code: codeOf(secret) }
    expect((await call('POST', path, { as: cast.bob.key, body })).status).toBe(409)
    const unconfirmed = await call('POST', path, { as, body })
    expect([unconfirmed.status, unconfirmed.body.error]).toEqual([409, 'you have no second factor; set one up first'])
  })
})

describe('the user is notified', () => {
  const kinds = () => all.notices.map(({ event }) => event.kind)

  test('of an enabled and a removed second factor, with the request that changed it', async () => {
    const { call, cast, clock, codeOf, sessionOf, notices } = all
    const as = sessionOf(cast.bob)
    const headers = { 'user-agent': 'curl/8.0' }
    const from = { as, headers, address: '192.0.2.7' }
    await call('POST', '/v1/auth/totp', from)
    // An unfinished enrolment protects nothing.
    await call('DELETE', '/v1/auth/totp', from)
    const { secret } = (await call('POST', '/v1/auth/totp', from)).body
    await call('PUT', '/v1/auth/totp', { ...from, body: { code: codeOf(secret, 9) } })
    expect(notices).toEqual([])
    await call('PUT', '/v1/auth/totp', { ...from, body: { code: codeOf(secret) } })
    await call('DELETE', '/v1/auth/totp', from)
    const origin = { address: '192.0.2.7', userAgent: 'curl/8.0' }
    const common = { to: cast.bob.email, at: clock.now(), origin }
    expect(notices).toEqual([
      { ...common, event: { kind: 'secondFactorEnabled' } },
      { ...common, event: { kind: 'secondFactorRemoved' } },
    ])
  })

  test('of new recovery codes, and of used ones with the number that is left', async () => {
    const { call, cast, db, clock, codeOf, login, notices } = all
    const { secret, recoveryCodes, as } = await all.enrol(cast.bob)
    notices.length = 0
    expect((await login(recoveryCodes[0])).status).toBe(200)
    const token = newResetToken(db, clock, cast.bob.userId)
    const body = { token, password: 'another horse', code: recoveryCodes[1] }
    expect((await call('POST', '/v1/auth/reset', { body })).status).toBe(200)
    expect(notices.map(({ event }) => event)).toEqual([
      { kind: 'recoveryCodeUsed', codesLeft: 9 },
      { kind: 'recoveryCodeUsed', codesLeft: 8 },
    ])
    const again = await all.call('POST', '/v1/auth/totp/recovery-codes', { as, body: { code: codeOf(secret) } })
    // The reset ended the session.
    expect(again.status).toBe(401)
    const as2 = all.sessionOf(cast.bob)
    await call('POST', '/v1/auth/totp/recovery-codes', { as: as2, body: { code: codeOf(secret) } })
    expect(kinds()).toEqual(['recoveryCodeUsed', 'recoveryCodeUsed', 'recoveryCodesReplaced'])
  })

  test('of nothing when a sign-in uses the app or fails', async () => {
    const { cast, codeOf, login, notices } = all
    const { secret } = await all.enrol(cast.bob)
    notices.length = 0
    await login(codeOf(secret))
    await login('0000-0000-0000-0000')
    expect(notices).toEqual([])
  })
})

describe('an organization that requires a second factor', () => {
  test('can be set up only by an admin who has one', async () => {
    const { cast, requireIt, sessionOf } = all
    for (const as of [cast.alice.key, sessionOf(cast.alice)]) {
      const { status, body } = await requireIt(as)
      expect([status, body.error]).toEqual([409, 'requireSecondFactor: set up your own second factor first'])
    }
    const { as } = await all.enrol(cast.ada)
    expect((await requireIt(as)).body.requireSecondFactor).toBe(true)
    expect((await requireIt(cast.ada.key)).status).toBe(200)
    expect((await requireIt(all.cast.bob.key)).status).toBe(403)
  })

  test('lets members without one do nothing but set it up', async () => {
    const { call, cast, db, clock, sessionOf, codeOf } = all
    const owner = await all.enrol(cast.alice)
    const as = sessionOf(cast.bob)
    await all.requireIt(owner.as)
    const status = async (method: string, path: string, credential = as, body?: object) =>
      (await call(method, path, { as: credential, body })).status
    expect((await call('GET', '/v1/whoami', { as })).body).toMatchObject({ secondFactorDue: true, role: 'member' })
    for (const credential of [as, cast.bob.key]) {
      expect(await status('GET', '/v1/org', credential)).toBe(403)
      expect(await status('GET', '/v1/org/members', credential)).toBe(403)
      expect(await status('PATCH', '/v1/whoami', credential, { name: 'Bob' })).toBe(403)
      expect(await status('POST', '/v1/keys', credential, { name: 'k', expiresInDays: null })).toBe(403)
    }
    // Long responses, such as the change stream, end as well.
    const principal = { userId: cast.bob.userId, orgId: cast.orgId, role: 'member', readOnly: false } as const
    const byKey = { ...principal, via: 'key', keyId: cast.bob.keyId, sessionId: null } as const
    expect(isInForce({ db, clock }, byKey)).toBe(false)
    expect(await status('GET', '/v1/auth/sessions')).toBe(200)

    const { secret } = (await call('POST', '/v1/auth/totp', { as })).body
    expect(await status('GET', '/v1/org')).toBe(403)
    expect(await status('PUT', '/v1/auth/totp', as, { code: codeOf(secret) })).toBe(200)
    expect((await call('GET', '/v1/whoami', { as })).body.secondFactorDue).toBe(false)
    expect([await status('GET', '/v1/org'), await status('GET', '/v1/org', cast.bob.key)]).toEqual([200, 200])
    expect(isInForce({ db, clock }, byKey)).toBe(true)
    expect(await status('DELETE', '/v1/auth/totp')).toBe(200)
    expect([await status('GET', '/v1/org'), await status('GET', '/v1/org', cast.bob.key)]).toEqual([403, 403])
  })

  test('does not affect other organizations, and can be changed back', async () => {
    const { call, cast, db, clock, sessionOf, requireIt } = all
    addMember(db, clock, { orgId: cast.mallory.orgId, userId: cast.bob.userId, role: 'viewer' })
    const owner = await all.enrol(cast.alice)
    const as = sessionOf(cast.bob)
    await requireIt(owner.as)
    const get = async (orgId: string) => (await call('GET', '/v1/org', { as, headers: { 'x-org-id': orgId } })).status
    expect([await get(cast.orgId), await get(cast.mallory.orgId)]).toEqual([403, 200])
    await requireIt(owner.as, false)
    expect(await get(cast.orgId)).toBe(200)
  })

  test('accepts sessions of single sign-on, and keys of its users', async () => {
    const { call, cast, db, clock, sessionOf } = all
    const owner = await all.enrol(cast.alice)
    await all.requireIt(owner.as)
    db.prepare('INSERT INTO identity (issuer, subject, userId, createdAt) VALUES (?, ?, ?, 1)').run(
      'https://id.example',
      'bob',
      cast.bob.userId,
    )
    const get = async (as: string) => (await call('GET', '/v1/org', { as })).status
    expect(await get(sessionOf(cast.bob, 'oidc'))).toBe(200)
    expect(await get(createKey(db, clock, { ...cast.bob, name: 'k', expiresInDays: null }).secret)).toBe(200)
    // The same user signed in with a password has not shown a second factor.
    expect(await get(sessionOf(cast.bob))).toBe(403)
  })

  test('shows admins who has one', async () => {
    const { call, cast } = all
    await all.enrol(cast.bob)
    const listed = async (as: string) =>
      (await call('GET', '/v1/org/members', { as })).body.members.map(
        ({ id, secondFactor }: { id: string; secondFactor: boolean | null }) => [id === cast.bob.userId, secondFactor],
      )
    expect(new Set((await listed(cast.ada.key)).map(String))).toEqual(new Set(['true,true', 'false,false']))
    expect(new Set((await listed(cast.bob.key)).map(String))).toEqual(new Set(['true,', 'false,']))
  })
})
