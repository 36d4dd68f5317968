import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CONNECTORS } from '../../src/connectors.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { PRODUCTS } from '../../src/integrations/providers/webhook/formats/products.fixture.ts'
import { callTool, connect } from '../../src/mcp/mcp-endpoint.fixture.ts'
import type { Outbound, Reply } from '../../src/transport/transport.ts'
import { type TestApp, testApp } from '../test-app.ts'

/*
 * Configures every secret of every provider against a server that echoes each request, then searches for the secrets in
 * every response, log line, message and file of the data folder.
 */

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
/** Access token returned by the token endpoint. */
const FRESH = 'planted-fresh-access-token-0f3a'

interface Planted {
  provider: string
  config: Record<string, unknown>
  /** Strings that must not appear anywhere. */
  secrets: readonly string[]
  /** Channel type; omitted for providers that are not channels. */
  channel?: string
}

const whsec = `whsec_${Buffer.alloc(32, 'planted').toString('base64')}`
const PLANTED: readonly Planted[] = [
  {
    provider: 'webhook',
    channel: 'webhook',
    config: { url: 'https://hooks.example.com/in', secret: whsec },
    secrets: [whsec, whsec.slice(6)],
  },
  ...PRODUCTS.map(({ format, path, secret }) => ({
    provider: 'webhook',
    channel: 'webhook',
    config: { url: `https://product.example.com${path}`, format: format.name, secret },
    // Admins can read the URL.
    secrets: secret === undefined ? [] : [secret],
  })),
  {
    provider: 'team_chat',
    channel: 'team_chat',
    config: { webhookUrl: 'https://chat.example.com/services/T0/B0/planted-hook-7c1d' },
    secrets: ['planted-hook-7c1d'],
  },
  {
    provider: 'team_chat',
    channel: 'team_chat',
    config: { botToken: 'xoxb-planted-bot-55aa', appToken: 'xapp-planted-app-66bb' },
    secrets: ['xoxb-planted-bot-55aa', 'xapp-planted-app-66bb'],
  },
  {
    provider: 'office_chat',
    channel: 'office_chat',
    config: { webhookUrl: 'https://flows.example.com/workflows/1?sig=planted-sig-77cc' },
    secrets: ['planted-sig-77cc'],
  },
  {
    provider: 'office_chat',
    channel: 'office_chat',
    config: {
      appId: '6f1f5d2c-2f0c-4b4a-9d39-0a1b2c3d4e5f',
      appPassword: 'planted~password.88dd',
      tenantId: 'contoso',
    },
    secrets: ['planted~password.88dd'],
  },
  {
    provider: 'issue_tracker',
    channel: 'issue_tracker',
    config: {
      url: 'https://acme.example.com',
      email: 'bot@acme.example',
      apiToken: 'planted-api-99ee',
      project: 'WEB',
    },
    secrets: ['planted-api-99ee', Buffer.from('bot@acme.example:planted-api-99ee').toString('base64')],
  },
  {
    provider: 'issue_tracker',
    channel: 'issue_tracker',
    config: { url: 'https://jira.example.com', apiToken: 'planted-pat-12ff', project: 'WEB' },
    secrets: ['planted-pat-12ff'],
  },
  {
    provider: 'tag_manager',
    config: {
      serviceAccount: {
        type: 'service_account',
        project_id: 'p',
        private_key_id: 'planted-key-id',
        private_key: PEM,
        client_email: 'tags@p.example.com',
        token_uri: 'https://evil.example/token',
      },
    },
    secrets: [PEM.split('\n')[3] ?? '', PEM.split('\n')[9] ?? ''],
  },
  {
    provider: 'tag_manager',
    config: { clientId: 'c', clientSecret: 'planted-client-34ab', refreshToken: 'planted-refresh-56cd' },
    secrets: ['planted-client-34ab', 'planted-refresh-56cd'],
  },
]
const SECRETS = [...PLANTED.flatMap(({ secrets }) => secrets), FRESH]

/** Returns the possible encodings of a secret: plain, URL-encoded, JSON and base64. */
const formsOf = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
]
const FORMS = SECRETS.flatMap((secret) => formsOf(secret).map((form) => [secret, form] as const))

/** Returns the secrets found in a string, with their context. */
function shownIn(text: string): string[] {
  return FORMS.flatMap(([secret, form]) => {
    const at = text.indexOf(form)
    return at < 0 ? [] : [`${secret}: …${text.slice(Math.max(0, at - 80), at + form.length + 20)}…`]
  })
}

/** Echoes the request in the body and in a header, both as received and base64-decoded. */
function quoting(status: number) {
  return async (outbound: Outbound): Promise<Reply> => {
    if (outbound.kind === 'mail') return { kind: 'status', status: 250, headers: {}, body: '' }
    const credential = outbound.headers.authorization ?? ''
    const read = Buffer.from(credential.replace(/^Basic /, ''), 'base64').toString()
    const said = `${outbound.url} was sent ${credential} ${read} ${JSON.stringify(outbound)}`
    const isToken = /token/.test(new URL(outbound.url).pathname)
    const body = isToken
      ? { access_token: FRESH, expires_in: 3600, token_type: 'Bearer' }
      : { ok: false, error: said, errorMessages: [said], error_description: said, message: said }
    return {
      kind: 'status',
      status: isToken ? 200 : status,
      headers: { 'content-type': 'application/json', 'x-quoted': credential },
      body: JSON.stringify(body),
    }
  }
}

/** Returns the responses of the MCP tools. */
async function askTools(
  world: TestApp,
  deliveries: readonly { id: string }[],
  say: (name: string, texts: string[]) => void,
) {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => world.app.fetch(request) })
  try {
    await using tools = await connect(`http://127.0.0.1:${server.port}/mcp`, world.owner.apiKey)
    for (const name of ['list_integrations', 'list_deliveries']) say(name, (await callTool(tools, name)).texts)
    for (const { id } of deliveries) say(`get_delivery ${id}`, (await callTool(tools, 'get_delivery', { id })).texts)
  } finally {
    await server.stop(true)
  }
}

function* filesIn(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) yield* filesIn(path)
    else yield path
  }
}

test('every secret of every provider is covered', () => {
  for (const { type, secrets } of CONNECTORS) {
    const planted = PLANTED.filter((one) => one.provider === type)
    const fields = new Set(planted.flatMap(({ config }) => Object.keys(config)))
    expect([type, secrets.fields.filter((field) => !fields.has(field))]).toEqual([type, []])
  }
})

describe.each([200, 400, 401, 403, 404, 410, 429, 500])('secrets that a provider echoes in a %d response', (status) => {
  let world: TestApp
  const answers: [string, string][] = []
  const sent: string[] = []

  beforeAll(async () => {
    const reply = quoting(status)
    world = await testApp({ smtpUrl: 'smtp://127.0.0.1:1' }, {
      transport: {
        send: async (outbound: Outbound) => {
          if (outbound.kind === 'mail') sent.push(JSON.stringify(outbound))
          return reply(outbound)
        },
      },
    } as never)
    const call = async (method: string, path: string, body?: object) => {
      const answer = await world.call(method, path, body ? { body } : {})
      answers.push([`${method} ${path} ${answer.status}`, JSON.stringify([answer.body, [...answer.headers]])])
      return answer
    }
    const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
    const channels: object[] = []
    for (const { provider, config, channel } of PLANTED) {
      const made = await call('POST', '/v1/integrations', { provider, label: provider, config })
      if (made.status === 409) continue
      expect([provider, made.status, made.body.error]).toEqual([provider, 201, undefined])
      const { id } = made.body
      if (channel) channels.push({ type: channel, target: id })
      await call('POST', `/v1/integrations/${id}/test`)
      await call('GET', `/v1/integrations/${id}`)
      if (/chat/.test(provider)) {
        await call('POST', `/v1/integrations/${provider}/${id}/channel`, { channelId: 'C1', channelName: 'ops' })
      }
    }
    await call('GET', '/v1/integrations')
    // The provider retries for a while before it fails.
    const passing = setInterval(() => world.clock.advance(SECOND_MS), 1)
    const containerPath = encodeURIComponent('accounts/1/containers/2')
    await call('GET', `/v1/integrations/tag_manager/tags?containerPath=${containerPath}`)
    await world.app.idle()
    clearInterval(passing)
    const conditions = { logic: 'all', items: [{ parameter: 'value', op: 'is_blank' }] }
    const alert = { name: 'Value', alertType: 'data_validation', period: '1h', conditions, channels }
    await call('POST', '/v1/alerts', alert)
    const events = [{ vendor: 'Shop', event: 'buy', params: {} }]
    await world.collect(domain.token, { events })
    for (let step = 0; step < 4; step++) await world.at(world.clock.now() + MINUTE_MS)
    const { body: issues } = await call('GET', '/v1/issues')
    for (const { id } of issues.issues) {
      await call('PATCH', `/v1/issues/${id}`, { status: 'resolved' })
      await call('GET', `/v1/issues/${id}`)
      await call('GET', `/v1/issues/${id}/evidence`)
    }
    await world.at(world.clock.now() + HOUR_MS)
    const { body: log } = await call('GET', '/v1/notifications/deliveries')
    expect(log.deliveries.length).toBeGreaterThanOrEqual(channels.length - 2)
    for (const { id } of log.deliveries) {
      await call('GET', `/v1/notifications/deliveries/${id}`)
      await call('POST', `/v1/notifications/deliveries/${id}/replay`)
    }
    await call('GET', '/v1/integrations')
    await askTools(world, log.deliveries, (name, texts) => answers.push([name, texts.join()]))
    await call('GET', '/v1/org/audit-log')
    await call('GET', '/v1/org')
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('do not appear in API responses', () => {
    const isQuoted = answers.some(([what, text]) => what.startsWith('get_delivery') && text.includes('was sent'))
    expect(isQuoted).toBe(true)
    expect(answers.flatMap(([what, text]) => shownIn(text).map((shown) => `${what} ${shown}`))).toEqual([])
  })

  test('do not appear in the log', () => expect(world.lines.flatMap(shownIn)).toEqual([]))

  test('do not appear in e-mails', () => expect(sent.flatMap(shownIn)).toEqual([]))

  test('do not appear in files of the data folder', () => {
    const files = [...filesIn(world.folder)]
    expect(files.some((path) => path.endsWith('tagwarden.db'))).toBe(true)
    const shown = files.flatMap((path) => shownIn(readFileSync(path, 'latin1')).map((text) => `${path} ${text}`))
    expect(shown).toEqual([])
  })
})
