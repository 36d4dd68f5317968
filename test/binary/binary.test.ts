import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { migrations } from '../../migrations/index.ts'
import { version } from '../../package.json'
import { thirdPartyLicenses } from '../../src/build/third-party.ts'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import {
  ask,
  BINARY,
  call,
  runProgram,
  type Server,
  type Surroundings,
  startServer,
  temporaryFolder,
  until,
  WEBHOOK_SECRET,
  watch,
} from '../run-program.ts'

const RECORDING = readFileSync(resolve(import.meta.dir, '../recordings/ga4_minimal.har'), 'utf8')

/**
 * Returns a Standard Webhooks 1.0.0 signature: `v1,` and the HMAC-SHA256 of id, timestamp and body, keyed with the
 * secret's bytes.
 */
function signatureOf({ headers, body }: { headers: Record<string, string>; body: string }): string {
  const key = Buffer.from(WEBHOOK_SECRET.slice('whsec_'.length), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

/** Checks that all pages and their assets are embedded in the executable in compressed form. */
async function loadsPages(url: string): Promise<void> {
  for (const path of ['/', '/docs']) {
    const page = await (await fetch(url + path)).text()
    const named = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, asset = '']) => asset)
    expect(named.length).toBeGreaterThanOrEqual(2)
    for (const asset of named) {
      const file = await fetch(url + asset, { headers: { 'accept-encoding': 'br' } })
      // Compression saves nothing for the smallest files.
      const isPacked = file.headers.get('content-encoding') === 'br' || (await file.bytes()).length < 300
      expect([asset, file.status, isPacked]).toEqual([asset, 200, true])
      expect(file.headers.get('cache-control')).toContain('immutable')
    }
  }
}

describe.skipIf(BINARY === null)('the executable in an otherwise empty folder', () => {
  const folder = temporaryFolder()
  // No Bun or Node in the path, no settings and no cache.
  const around: Surroundings = {
    program: [join(folder.path, 'tagwarden')],
    cwd: folder.path,
    env: { PATH: '/nowhere', HOME: join(folder.path, 'home'), TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1' },
  }
  const run = (args: string[], stdin = '', env: Record<string, string> = {}) =>
    runProgram(args, { ...around, env: { ...around.env, ...env } }, stdin)

  beforeAll(() => {
    mkdirSync(join(folder.path, 'home'))
    cpSync(BINARY ?? '', join(folder.path, 'tagwarden'))
    writeFileSync(join(folder.path, 'ga4.har'), RECORDING)
  })
  afterAll(() => folder[Symbol.dispose]())

  test('prints its version', async () => {
    const { code, stdout } = await run(['--version', '--json'])
    const build = JSON.parse(stdout)
    expect([code, build]).toEqual([0, { version, commit: build.commit, date: build.date, schema: migrations.length }])
    const text = await run(['--version'])
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toMatch(
      /^[\d.]+ \((?:from source|commit [0-9a-f]{12}(?:-modified)?, \d{4}-\d\d-\d\d)\), database schema \d+\n$/,
    )
  })

  test('prints the licences of the packages that it contains', async () => {
    const { code, stdout } = await run(['licenses'])
    expect([code, stdout.trimEnd()]).toEqual([0, thirdPartyLicenses().trimEnd()])
  })

  test('prints help, including for each command', async () => {
    const { code, stdout } = await run(['--help'])
    expect(code).toBe(0)
    for (const name of ['serve', 'demo', 'init', 'import har', 'decode', 'config']) {
      expect(stdout).toContain(`  ${name} `)
      const help = await run([...name.split(' '), '--help'])
      expect(help).toMatchObject({ code: 0, stderr: '' })
      expect(help.stdout).toStartWith(`usage: tagwarden ${name}`)
    }
  })

  test('reports a usage error on one line of stderr and exits with 2', async () => {
    for (const args of [['nonsense'], ['serve', '--nonsense'], ['import', 'har', 'ga4.har']]) {
      const { code, stdout, stderr } = await run(args)
      expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 2, stdout: '', lines: 2 })
    }
  })

  test('prints its settings with masked secrets', async () => {
    const { code, stdout } = await run(['config', '--json'], '', {
      TAGWARDEN_SMTP_URL: 'smtp://me:hidden@mail.example:25',
    })
    expect(code).toBe(0)
    const settings = JSON.parse(stdout) as { name: string; value: string }[]
    expect(settings).toContainEqual(expect.objectContaining({ name: 'TAGWARDEN_OUTBOUND_ALLOW', value: '127.0.0.1' }))
    expect(stdout).not.toContain('hidden')
  })

  test('reports an unknown setting and aborts startup', async () => {
    const { code, stderr } = await run(['serve'], '', { TAGWARDEN_LISTENN: '127.0.0.1:1' })
    expect(code).toBe(2)
    expect(stderr).toContain('TAGWARDEN_LISTENN')
  })

  test('reads no files from its working directory', async () => {
    writeFileSync(join(folder.path, '.env'), 'TAGWARDEN_LOG_LEVEL=debug\n')
    writeFileSync(join(folder.path, 'bunfig.toml'), 'preload = ["./missing.ts"]\n')
    const { code, stdout } = await run(['config', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ name: 'TAGWARDEN_LOG_LEVEL', value: 'info' }))
  })

  test('decodes requests from standard input, line by line', async () => {
    const url = 'https://www.google-analytics.com/g/collect?v=2&tid=G-1&cid=1.2&en=purchase&ep.currency=EUR'
    const { code, stdout } = await run(
      ['decode'],
      `${JSON.stringify({ url })}\nnot JSON\n{"url":"https://a.example/"}\n`,
    )
    expect(code).toBe(0)
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      { vendor: 'Google Analytics 4', account: 'G-1', events: [{ event: 'purchase' }], error: null },
      { vendor: null, events: [], error: 'the line is not valid JSON' },
      { vendor: null, events: [], error: null },
    ])
  })

  test('runs from init to a signed webhook, and resumes after a restart', async () => {
    await using hooks = receiver()
    const data = join(folder.path, 'data')
    const start = async () => {
      const server = await startServer(data, around)
      console.log(`ready after ${server.readyMs.toFixed(0)} ms`)
      return server
    }

    const init = ['init', '--data', data, '--org', 'Acme', '--email', 'alice@example.com', '--json']
    const made = await run(init)
    expect(made.code).toBe(0)
    const { orgId, apiKey } = JSON.parse(made.stdout)
    const again = await run(init)
    expect(again.code).not.toBe(0)
    expect(again.stderr).toContain('an owner already exists')

    let server: Server = await start()
    try {
      // An error message that quotes the input would show that Elysia was loaded before `NODE_ENV` was set.
      const refused = await call('POST', `${server.url}/v1/alerts`, {
        as: apiKey,
        body: { name: 7, secret: 'canary' },
      })
      expect(refused.status).toBe(400)
      expect(JSON.stringify(refused.body)).not.toContain('canary')

      await loadsPages(server.url)
      const property = { name: 'shop.example', hookUrl: `${hooks.url}/hook`, secret: WEBHOOK_SECRET }
      const { token, domainId } = await watch(server.url, apiKey, property)
      const imported = await run(['import', 'har', 'ga4.har', '--url', server.url, '--token', token, '--json'])
      expect(imported).toMatchObject({
        code: 0,
        stdout: '{"accepted":3,"rejected":0,"withoutPage":3,"withoutBody":[]}\n',
      })

      const [hook] = await until('a webhook', () => hooks.requests.length > 0 && hooks.requests)
      expect(hook?.headers['webhook-signature']).toBe(hook ? signatureOf(hook) : 'no delivery was received')
      expect(JSON.parse(hook?.body ?? '')).toMatchObject({ type: 'issue.opened', data: { domain: { id: domainId } } })
      expect(hook?.body).not.toContain('jane.doe')

      const state = async () => ({
        who: await ask('GET', `${server.url}/v1/whoami`, apiKey),
        events: await ask('GET', `${server.url}/v1/events`, apiKey),
        issues: await ask('GET', `${server.url}/v1/issues`, apiKey),
        deliveries: await ask('GET', `${server.url}/v1/notifications/deliveries`, apiKey),
      })
      const before = await until('the delivery in the log', async () => {
        const now = await state()
        return now.deliveries.deliveries[0]?.status === 'delivered' && now
      })
      expect(before.who).toMatchObject({ orgId, role: 'owner' })
      expect(before.events.events).toHaveLength(3)
      expect(before.issues).toMatchObject({
        openCounts: { high: 1 },
        issues: [{ status: 'open', notificationsSent: 1 }],
      })
      expect(before.deliveries.deliveries).toHaveLength(1)

      await server.stop()
      expect(server.code()).toBe(0)
      server = await start()
      expect(await state()).toEqual(before)
    } finally {
      await server.stop('SIGKILL')
    }
  })
})
