import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { CLIENT_ID, CLIENT_SECRET, openIdProvider } from '../../src/org/oidc.fixture.ts'
import { freePort, initialize, startServer, temporaryFolder, until } from '../run-program.ts'
import { openScreen } from './screen.ts'

const LOGOUT = '/logout'

test('a user signs in and out through an OpenID Connect provider, and a cancelled sign-in is reported', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  await initialize(data)
  await using provider = await openIdProvider({ clock: systemClock })
  const { behaviour, requests, issuer } = provider
  behaviour.metadata = { end_session_endpoint: issuer + LOGOUT }
  const listen = `127.0.0.1:${await freePort()}`
  await using server = await startServer(data, {
    // The redirect URL is derived from the listen address, so the port must be known.
    listen,
    env: {
      TAGWARDEN_OIDC_ISSUER: issuer,
      TAGWARDEN_OIDC_CLIENT_ID: CLIENT_ID,
      TAGWARDEN_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      TAGWARDEN_OIDC_NAME: 'Acme ID',
      TAGWARDEN_OIDC_ROLES: 'staff=viewer',
    },
  })
  await using screen = await openScreen(server.url)
  const signIn = () => screen.press('Sign in with Acme ID', 'link')
  await screen.open('/issues')

  behaviour.refusal = { error: 'access_denied', error_description: 'Call us' }
  await signIn()
  await screen.reads('The sign-in was cancelled, or Acme ID does not allow you to use this application')
  expect(await screen.page.evaluate(() => document.body.textContent)).not.toContain('Call us')

  behaviour.refusal = null
  behaviour.claims = { sub: 'zoe', email: 'zoe@example.com', name: 'Zoe', groups: ['staff'] }
  behaviour.instead = (path) => {
    if (path !== LOGOUT) return null
    const back = requests.at(-1)?.query.get('post_logout_redirect_uri') ?? ''
    return new Response(null, { status: 302, headers: { location: back } })
  }
  await signIn()
  await screen.sees('navigation', 'Main')
  await screen.press('Account')
  await screen.press('Sign out', 'menuitem')
  const logouts = await until('the sign-out at the provider', () => {
    const found = requests.filter(({ path }) => path === LOGOUT)
    return found.length > 0 && found
  })
  await until('the redirect back', () => new URL(screen.page.url()).pathname === '/')
  await screen.sees('heading', 'Sign in')
  expect(logouts.map(({ query }) => [...query.keys()].sort())).toEqual([
    ['client_id', 'id_token_hint', 'post_logout_redirect_uri'],
  ])
  expect(new URL(screen.page.url()).hash).toBe('')
  expect(await screen.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).not.toContain(
    'st_',
  )
})
