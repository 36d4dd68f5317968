import { expect, test } from 'bun:test'
import { testApp } from '../../test/test-app.ts'
import { MINUTE_MS } from '../core/clock.ts'
import { renderMailText } from '../mail/render-mail-text.ts'
import type { Outbound, Reply } from '../transport/transport.ts'
import { type SecurityEvent, securityMail } from './security-mail.ts'
import { openSession } from './session.ts'
import { stepAt, totpCode } from './totp.ts'

const AT = Date.UTC(2026, 0, 5, 12, 7)
const OPTIONS = { publicUrl: 'https://tags.example', browserOf: () => 'Firefox 146, Windows' }
const ORIGIN = { address: '192.0.2.7', userAgent: 'Mozilla/5.0' }

const write = (event: SecurityEvent, origin: typeof ORIGIN | null = ORIGIN) =>
  renderMailText(securityMail({ to: 'ann@example.com', event, at: AT, origin }, OPTIONS))

test('an e-mail says what changed, when, from where, and what to do otherwise', () => {
  expect(
    write({ kind: 'secondFactorRemoved' }),
  ).toBe(`The second factor of your account was removed. Your password alone is now
enough to sign in.

Time: 2026-01-05 12:07 UTC

IP address: 192.0.2.7

Browser: Firefox 146, Windows

IF THIS WAS NOT YOU
===================

Change your password, which ends all other sessions, and set up a second
factor again.

https://tags.example/settings/preferences

------------------------------------------------------------------------------
You receive this e-mail because ann@example.com is the address of your account
in Tagwarden.
`)
})

test.each<[SecurityEvent, string]>([
  [{ kind: 'secondFactorEnabled' }, 'Signing in now requires a code'],
  [{ kind: 'recoveryCodesReplaced' }, 'The earlier ones no longer work.'],
  [{ kind: 'recoveryCodeUsed', codesLeft: 9 }, '9 recovery codes are left.'],
  [{ kind: 'recoveryCodeUsed', codesLeft: 1 }, '1 recovery code is left.'],
  [{ kind: 'recoveryCodeUsed', codesLeft: 0 }, 'No recovery code is left. Create new ones'],
])('the e-mail about %j says "%s"', (event, text) => expect(write(event).replaceAll('\n', ' ')).toContain(text))

test('a change by the operator names the operator instead of an address', () => {
  const text = write({ kind: 'secondFactorRemoved' }, null)
  expect(text).toContain('Changed by: the operator of this server, with a command')
  expect(text).not.toContain('IP address')
})

test('an unknown browser is shown as one line, and a missing one as unknown', () => {
  const options = { ...OPTIONS, browserOf: () => null }
  const notice = { to: 'ann@example.com', event: { kind: 'secondFactorEnabled' }, at: AT } as const
  const textOf = (userAgent: string | null) =>
    renderMailText(securityMail({ ...notice, origin: { address: null, userAgent } }, options))
  expect(textOf('a\nb\u202e')).toContain('Browser: a b\n')
  expect(textOf(null)).toContain('IP address: unknown\n\nBrowser: unknown\n')
})

const ACCEPTED: Reply = { kind: 'status', status: 250, headers: {}, body: '' }
const SETTINGS = { smtpUrl: 'smtp://127.0.0.1:1' }

/** Starts a server whose mail server gives these replies, and enables the owner's second factor. */
async function enrolled(settings: object, reply: () => Reply = () => ACCEPTED) {
  const sent: Outbound[] = []
  const transport = {
    async send(outbound: Outbound): Promise<Reply> {
      sent.push(outbound)
      return reply()
    },
  }
  const world = await testApp(settings, { transport })
  const { db } = world.app
  db.prepare(`UPDATE user SET passwordHash = 'x'`).run()
  const as = openSession(db, world.clock, world.owner.userId, 'password').token
  const { secret } = (await world.call('POST', '/v1/auth/totp', { as })).body
  const body = { code: totpCode(secret, stepAt(world.clock.now())) }
  expect((await world.call('PUT', '/v1/auth/totp', { as, body })).status).toBe(200)
  return { world, sent }
}

test('the e-mail is sent through the outbox, and again after a failure and a crash', async () => {
  let reply: Reply = { kind: 'error', permanent: false, message: '451 try again later' }
  const { world, sent } = await enrolled(SETTINGS, () => reply)
  await using _world = world
  const { email } = world.app.db.prepare('SELECT email FROM user').get() as { email: string }
  await world.run('deliver')
  expect(sent).toMatchObject([{ kind: 'mail', to: [email], subject: 'Tagwarden: second factor enabled' }])
  expect(world.warnings).toContain('a message to a user could not be sent: 451 try again later')
  reply = ACCEPTED
  await world.crash()
  world.clock.advance(10 * MINUTE_MS)
  await world.run('deliver')
  expect(sent).toHaveLength(2)
  world.clock.advance(10 * MINUTE_MS)
  await world.run('deliver')
  expect(sent).toHaveLength(2)
  // Members see neither the delivery nor the internal organization.
  expect((await world.call('GET', '/v1/notifications/deliveries')).body.deliveries).toEqual([])
})

test('nothing is queued without a mail server', async () => {
  const { world } = await enrolled({})
  await using _world = world
  expect(world.app.db.prepare('SELECT count(*) FROM delivery').pluck().get()).toBe(0)
})
