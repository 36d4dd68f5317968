import { expect, test } from 'bun:test'
import { ask, call, startServer, temporaryFolder, until } from '../../test/run-program.ts'
import { hintsOf } from './serve.ts'

test('the serve command logs its URL and the set-up link, and exits cleanly on SIGTERM', async () => {
  using folder = temporaryFolder()
  await using server = await startServer(folder.path)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  const link = await until('the link', () => /http:\S+\/setup#setup=(?<token>su_[\w-]+)/.exec(server.log()))
  const owner = { orgName: 'Acme', email: 'ann@example.com', password: 'correct horse battery' }
  const setUp = (token: string | undefined) =>
    call('POST', `${server.url}/v1/auth/setup`, { body: { ...owner, token } })
  expect((await setUp('su_guessed')).status).toBe(401)
  const made = await setUp(link.groups?.token)
  expect(made).toMatchObject({ status: 201, body: { orgs: [{ name: 'Acme', role: 'owner' }] } })
  expect((await setUp(link.groups?.token)).status).toBe(409)
  expect(await ask('GET', `${server.url}/v1/whoami`, made.body.token)).toMatchObject({ via: 'session', role: 'owner' })
  await server.stop('SIGTERM')
  expect(server.code()).toBe(0)
  const lines = server
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  const said = lines.map((line) => JSON.parse(line) as { level: string; msg: string })
  const started = said.find(({ msg }) => /^Tagwarden \d.* started with the data folder \//.test(msg))
  expect(started?.level).toBe('info')
  expect(said.slice(-2).map(({ msg }) => msg)).toEqual(['stopping, because the process received SIGTERM', 'stopped'])
})

test('the hint about a missing public URL names the URL of links, unless its port is not known', () => {
  const hintFor = (ownUrl: string) => hintsOf({ publicUrl: '', smtpUrl: '', chromium: '' }, ownUrl)[0]
  expect(hintFor('http://127.0.0.1:8787')).toContain('use http://127.0.0.1:8787, which works only on this machine')
  expect(hintFor('http://127.0.0.1:0')).toContain(
    'the port is chosen at startup: links and the browser script do not work',
  )
})
