import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../test-app.ts'

/*
 * Tests every URL that a caller can configure with every spelling of a blocked address. The error names the field, and
 * no request is made.
 */

const ADDRESSES = [
  'http://hooks.example.com/',
  'ftp://hooks.example.com/',
  'file:///etc/passwd',
  'gopher://hooks.example.com/',
  'https://user:pass@hooks.example.com/',
  'https://hooks.example.com:22/',
  'https://hooks.example.com:25/',
  'https://localhost/',
  'https://LOCALHOST./',
  'https://a.localhost/',
  'https://metadata.google.internal/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://127.0.0.1:8443/',
  'https://0.0.0.0/',
  'https://169.254.169.254/latest/meta-data',
  'https://10.0.0.1/',
  'https://192.168.1.1/',
  'https://172.16.0.1/',
  'https://100.64.0.1/',
  'https://255.255.255.255/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://',
  'https://①②⑦.0.0.1/',
  '//hooks.example.com/',
  'hooks.example.com',
  ' ',
]

const FIELDS: [provider: string, field: string, rest: object][] = [
  ['webhook', 'url', {}],
  ['team_chat', 'webhookUrl', {}],
  ['office_chat', 'webhookUrl', {}],
  ['issue_tracker', 'url', { apiToken: 'planted', project: 'WEB' }],
  ['issue_tracker', 'url', { apiToken: 'planted', project: 'WEB', email: 'bot@acme.example' }],
]
const TARGETS = ['webhook', 'team_chat', 'office_chat']

let world: TestApp
let asked = 0

beforeAll(async () => {
  const send = async () => {
    asked++
    return { kind: 'error', message: 'no request is allowed', permanent: true } as const
  }
  world = await testApp({}, { transport: { send } } as never)
})
afterAll(() => world[Symbol.asyncDispose]())

describe.each(FIELDS)('%s, config.%s', (provider, field, rest) => {
  test.each(ADDRESSES)('rejects %s', async (url) => {
    const body = { provider, label: 'L', config: { ...rest, [field]: url } }
    const { status, body: answer } = await world.call('POST', '/v1/integrations', { body })
    expect([status, answer.error]).toEqual([400, expect.stringContaining(`config.${field}`)])
    expect(asked).toBe(0)
  })
})

describe.each(TARGETS)('the target of a %s channel', (type) => {
  const conditions = { logic: 'all', items: [{ parameter: 'value', op: 'is_blank' }] }
  const alert = { name: 'A', alertType: 'data_validation', period: '1h', conditions }
  test.each(ADDRESSES)('rejects %s', async (target) => {
    const { status, body } = await world.call('POST', '/v1/alerts', {
      body: { ...alert, channels: [{ type, target }] },
    })
    expect([status, body.error]).toEqual([400, expect.stringContaining('channels')])
    expect(asked).toBe(0)
  })
})

test('the same configurations are accepted with a permitted URL', async () => {
  for (const [provider, field, rest] of FIELDS) {
    const body = { provider, label: 'L', config: { ...rest, [field]: 'https://hooks.example.com/in' } }
    expect((await world.call('POST', '/v1/integrations', { body })).status).toBe(201)
  }
})
