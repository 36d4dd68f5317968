import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { stepAt, totpCode } from '../../src/org/totp.ts'
import { ask, call, runProgram, startServer, temporaryFolder, until } from '../run-program.ts'
import { openScreen } from './screen.ts'

const EMAIL = 'ann@example.com'
const PASSWORD = 'correct horse battery'

async function setUp() {
  const folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const words = ['init', '--data', data, '--org', 'Acme', '--email', EMAIL, '--password-stdin', '--json']
  const { stdout } = await runProgram(words, {}, PASSWORD)
  return { folder, data, apiKey: JSON.parse(stdout).apiKey as string }
}

const codeNow = (secret: string, steps = 0) => totpCode(secret, stepAt(Date.now()) + steps)

test('a user sets up a second factor, signs in with it, and removes it', async () => {
  const { folder, data } = await setUp()
  using _folder = folder
  await using server = await startServer(data)
  await using screen = await openScreen(server.url)
  const { page } = screen
  const signIn = async () => {
    await screen.type('E-mail address', EMAIL)
    await screen.type('Password', PASSWORD)
    await screen.press('Sign in')
  }
  const signOut = async () => {
    await screen.press('Account')
    await screen.press('Sign out', 'menuitem')
    await screen.sees('heading', 'Sign in')
  }
  await screen.open('/settings/preferences')
  await signIn()
  await screen.press('Set up second factor')
  await screen.sees('image', 'QR code for the authenticator app')
  const { secret, codes } = await page.evaluate(() => ({
    secret: [...document.querySelectorAll('input')].find(({ value }) => /^[A-Z2-7]{32}$/.test(value))?.value ?? '',
    codes: [...document.querySelectorAll('ul[aria-labelledby=recovery-codes] li')].map(
      ({ textContent }) => textContent ?? '',
    ),
  }))
  expect(codes).toHaveLength(10)
  await screen.type('Code', codeNow(secret, 40))
  await screen.press('Enable second factor')
  await screen.reads('is not the current code of the authenticator app')
  await screen.type('Code', codeNow(secret))
  await screen.press('Enable second factor')
  await screen.reads('Second factor enabled. Your other sessions were signed out.')
  await screen.reads('10 recovery codes left.')

  await signOut()
  await signIn()
  await screen.sees('textbox', 'Code')
  expect(await screen.has('alert', '')).toBe(false)
  await screen.type('Code', codeNow(secret, 40))
  await screen.press('Sign in')
  await screen.reads('is wrong, expired or already used')
  await screen.type('Code', codes[0] ?? '')
  await screen.press('Sign in')
  await screen.reads('9 recovery codes left.')

  await screen.press('New recovery codes')
  await screen.type('Code', codeNow(secret))
  await screen.press('Create recovery codes')
  await screen.sees('button', 'I have stored them')
  const replaced = await page.evaluate(() =>
    [...document.querySelectorAll('ul[aria-labelledby=recovery-codes] li')].map(({ textContent }) => textContent ?? ''),
  )
  expect(new Set([...codes, ...replaced]).size).toBe(20)
  await screen.press('I have stored them')
  await screen.reads('10 recovery codes left.')

  await screen.press('Remove second factor')
  await screen.sees('dialog', 'Remove second factor')
  await screen.press('Remove')
  await screen.sees('button', 'Set up second factor')
  // The browser logs an error for each rejected request.
  expect(screen.errors.filter((line) => !/40[13]/.test(line))).toEqual([])
  expect(screen.origins).toEqual(new Set([server.url]))
})

test('a member of an organization that requires a second factor sets it up before anything else', async () => {
  const { folder, data, apiKey } = await setUp()
  using _folder = folder
  await using server = await startServer(data)
  const api = (path: string) => `${server.url}/v1${path}`
  const { inviteToken } = await ask('POST', api('/org/members'), apiKey, { email: 'ben@example.com', role: 'member' })
  await ask('POST', api('/auth/invite'), '', { token: inviteToken, password: 'battery staple horse' })
  const { token } = await ask('POST', api('/auth/login'), '', { email: EMAIL, password: PASSWORD })
  const { secret } = await ask('POST', api('/auth/totp'), token)
  await ask('PUT', api('/auth/totp'), token, { code: codeNow(secret) })
  await ask('PATCH', api('/org'), token, { requireSecondFactor: true })

  await using screen = await openScreen(server.url)
  await screen.open('/issues')
  await screen.type('E-mail address', 'ben@example.com')
  await screen.type('Password', 'battery staple horse')
  await screen.press('Sign in')
  await screen.sees('heading', 'Set up a second factor')
  await screen.reads('requires a second factor. Set it up to continue.')
  const own = await until('the secret', () =>
    screen.page.evaluate(
      () => [...document.querySelectorAll('input')].find(({ value }) => /^[A-Z2-7]{32}$/.test(value))?.value ?? null,
    ),
  )
  await screen.type('Code', codeNow(own))
  await screen.press('Enable second factor')
  await screen.sees('heading', 'Issues')
  expect((await call('GET', api('/org'), { as: token })).body.requireSecondFactor).toBe(true)
})
