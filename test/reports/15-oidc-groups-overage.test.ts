import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fakeBrowser } from '../../src/org/oidc.fixture.ts'
import { ask, call, freePort, initialize, startServer, temporaryFolder, until } from '../run-program.ts'
import { describeReport, reportText } from './bug-report.ts'

const FIXED_PORT = '18999'
const GROUP = '11111111-aaaa'
const OVERAGE = {
  _claim_names: { groups: 'src1' },
  // Not a host of Microsoft Graph, so that no request leaves the machine.
  _claim_sources: { src1: { endpoint: 'https://graph.example/v1.0/users/z/getMemberObjects' } },
}

/** Starts the report's provider on a free port. */
async function startProvider(folder: string) {
  const port = await freePort()
  const script = join(folder, 'provider.mjs')
  writeFileSync(script, reportText('15-oidc-groups-overage.provider.mjs').replaceAll(FIXED_PORT, port))
  const child = Bun.spawn([process.execPath, script], { stdout: 'ignore', stderr: 'ignore' })
  const origin = `http://127.0.0.1:${port}`
  const set = (claims: object) => fetch(`${origin}/set`, { method: 'POST', body: JSON.stringify(claims) })
  await until('the provider', () =>
    set({}).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return {
    issuer: `${origin}/tenant/v2.0`,
    set,
    async [Symbol.asyncDispose]() {
      child.kill()
      await child.exited
    },
  }
}

describeReport('Entra ID groups overage', () => {
  test('leaves the membership unchanged, and explains what to configure', async () => {
    using folder = temporaryFolder()
    const data = join(folder.path, 'data')
    const key = await initialize(data)
    await using provider = await startProvider(folder.path)
    await using server = await startServer(data, {
      // The redirect URL is derived from the listening address.
      listen: `127.0.0.1:${await freePort()}`,
      env: {
        TAGWARDEN_OIDC_ISSUER: provider.issuer,
        TAGWARDEN_OIDC_CLIENT_ID: 'tw',
        TAGWARDEN_OIDC_CLIENT_SECRET: 's',
        TAGWARDEN_OIDC_NAME: 'Entra ID',
        TAGWARDEN_OIDC_ROLES: `${GROUP}=member`,
      },
    })
    const signIn = async (claims: object) => {
      await provider.set({
        id: { sub: 'zoe', email: 'zoe@example.com', email_verified: true, name: 'Zoe', ...claims },
      })
      const browser = fakeBrowser(server.url, (request) => fetch(request, { redirect: 'manual' }))
      const back = await browser.follow(await browser.follow(`${server.url}/v1/auth/oidc/start`))
      return new URLSearchParams(new URL(await browser.follow(back)).hash.slice(1))
    }
    const zoe = async () => {
      const { members } = await ask('GET', `${server.url}/v1/org/members`, key)
      return members.find(({ email }: { email: string }) => email === 'zoe@example.com')
    }

    const code = (await signIn({ groups: [GROUP] })).get('signin') ?? ''
    const { token } = await ask('POST', `${server.url}/v1/auth/oidc/session`, '', { code })
    expect(await zoe()).toMatchObject({ role: 'member', status: 'active' })

    for (const claims of [OVERAGE, { hasgroups: true }, { ...OVERAGE, groups: [] }]) {
      const sentence = (await signIn(claims)).get('signin-error') ?? ''
      expect(sentence).toContain('groups overage')
      expect(sentence).toContain('the groups that are assigned to the application')
      expect(await zoe()).toMatchObject({ role: 'member', status: 'active' })
      expect((await call('GET', `${server.url}/v1/whoami`, { as: token })).status).toBe(200)
    }

    expect((await signIn({})).get('signin-error')).toContain('you are not in a group')
    expect(await zoe()).toBeUndefined()
  })
})
