import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { ask, call, initialize, startServer, temporaryFolder, until } from '../run-program.ts'
import { openScreen } from './screen.ts'

test('signing in with an API key opens the page, which sends requests only to its server', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const apiKey = await initialize(data)
  await using server = await startServer(data)
  await using screen = await openScreen(server.url)
  await screen.open('/issues')
  await screen.sees('heading', 'Sign in')
  await screen.press('Sign in with an API key')
  await screen.type('API key', 'ak_nobody-made-this-key')
  await screen.press('Sign in')
  await screen.sees('alert', '')
  await screen.type('API key', apiKey)
  await screen.press('Sign in')
  await screen.sees('heading', 'Issues')
  expect(await screen.page.title()).toBe('Issues · Tagwarden')
  // The browser logs an error for the rejected key.
  expect(screen.errors.filter((line) => !line.includes('401'))).toEqual([])
  expect(screen.origins).toEqual(new Set([server.url]))
  // A key is stored for one tab only.
  expect(await screen.page.evaluate(() => JSON.stringify(localStorage))).not.toContain(apiKey)
})

test('the set-up link creates the owner, an invitation creates a member, and both can sign in and out', async () => {
  using folder = temporaryFolder()
  await using server = await startServer(join(folder.path, 'data'))
  const link = (await until('the link', () => /\/(?:setup)?#setup=[\w-]+/.exec(server.log())))[0]
  await using screen = await openScreen(server.url)
  const { page } = screen
  const credential = () =>
    page.evaluate(() => JSON.parse(localStorage.getItem('tagwarden-session') ?? '{}').credential ?? '')

  await screen.open('/')
  await screen.reads('This server is not set up yet. Open the set-up link in its log.')
  await screen.open('/#setup=su_of-an-earlier-start')
  await screen.sees('heading', 'Set up Tagwarden')
  await screen.type('Organization', 'Acme')
  await screen.type('E-mail address', 'ann@example.com')
  await screen.type('Password', 'correct horse battery')
  await screen.press('Set up')
  await screen.sees('alert', '')

  await screen.open(link)
  await screen.type('Organization', 'Acme')
  await screen.type('Your name', 'Ann')
  await screen.type('E-mail address', 'ann@example.com')
  await screen.type('Password', 'correct horse battery')
  await screen.press('Set up')
  await screen.sees('navigation', 'Main')
  // The link does not remain in the address bar.
  expect(page.url()).not.toContain('setup=')

  // A forged link does not end the session.
  await screen.open('/#reset=rs_made-up')
  await screen.type('Password', 'correct horse battery')
  await screen.press('Set password')
  await screen.sees('alert', '')
  await screen.open('/')
  await screen.sees('navigation', 'Main')

  const token = await credential()
  const invite = { email: 'ben@example.com', role: 'viewer' }
  const { inviteUrl } = await ask('POST', `${server.url}/v1/org/members`, token, invite)
  await screen.press('Account')
  await screen.press('Sign out', 'menuitem')
  await screen.sees('heading', 'Sign in')
  await screen.reads('Signed out.')
  expect((await call('GET', `${server.url}/v1/whoami`, { as: token })).status).toBe(401)
  await screen.type('E-mail address', 'ann@example.com')
  await screen.type('Password', 'something else')
  await screen.press('Sign in')
  await screen.reads('e-mail address or password is wrong')
  await screen.type('Password', 'correct horse battery')
  await screen.press('Sign in')
  await screen.sees('navigation', 'Main')

  await screen.open(link)
  await screen.reads('This server is already set up, and the set-up link has been used. Sign in instead.')
  expect(await screen.has('heading', 'Set up Tagwarden')).toBe(false)

  const { hash } = new URL(inviteUrl)
  await screen.open(`/${hash}`)
  await screen.sees('heading', 'Accept the invitation')
  await screen.type('Your name', 'Ben')
  await screen.type('Password', 'battery staple horse')
  await screen.press('Accept')
  await screen.sees('heading', 'Overview')
  expect(await ask('GET', `${server.url}/v1/whoami`, await credential())).toMatchObject({
    name: 'Ben',
    role: 'viewer',
  })
})

test.each([
  ['does not sign anyone in', (key: string) => `/#key=${key}&demo`],
  ['shows no text from the URL', () => '/#signin-error=Call%20us%20at%20555'],
])('a forged sign-in link %s', async (_what, pathOf) => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const apiKey = await initialize(data)
  await using server = await startServer(data)
  await using screen = await openScreen(server.url)
  await screen.open(pathOf(apiKey))
  await screen.sees('heading', 'Sign in')
  await screen.page.waitForNetworkIdle()
  const shown = await screen.page.$$eval('form, [role=alert], [role=status]', (parts) =>
    parts.map((part) => part.textContent),
  )
  expect(shown.join()).not.toContain('555')
  const stored = await screen.page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))
  expect(stored).not.toContain('tagwarden-session')
  expect(stored).not.toContain(apiKey)
})
