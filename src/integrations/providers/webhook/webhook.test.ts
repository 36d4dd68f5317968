import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addressGuard } from '../../../transport/address-guard.ts'
import { receiver } from '../../../transport/receiver.fixture.ts'
import { testKills } from '../../delivery/kill-table.fixture.ts'
import { testOutcomes } from '../../delivery/outcome-table.fixture.ts'
import { type Message, testMessage } from '../../message/message.ts'
import { signature, webhookBody, webhookRequest } from './standard-webhooks.ts'
import { webhookChannel } from './webhook.ts'
import { prepareWebhook } from './webhook-config.ts'

const at = Date.UTC(2026, 0, 5, 12, 0, 0, 900)
const message: Message = testMessage({ at, publicUrl: 'https://watch.example', label: 'On call' })
const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
const guard = addressGuard([])

/** Verifies a signature as a receiver would, with a different HMAC implementation. */
async function verify(key: string, headers: Record<string, string>, body: string): Promise<boolean> {
  const bytes = Uint8Array.fromBase64(key.replace('whsec_', ''))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
  const signed = new TextEncoder().encode(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`)
  const given = (headers['webhook-signature'] ?? '').split(' ').filter((one) => one.startsWith('v1,'))
  const checks = given.map((one) => crypto.subtle.verify('HMAC', imported, Uint8Array.fromBase64(one.slice(3)), signed))
  return (await Promise.all(checks)).includes(true)
}

test('the signature matches the example in the specification', () => {
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/libraries (test vectors of the reference libraries)
  const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = '{"test": 2432232314}'
  expect(signature(key, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, body)).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})

test('a request has an id, the time of the attempt and a valid signature', async () => {
  const sent = [at, at + 5000].map((time) =>
    webhookRequest(message, { url: 'https://hooks.example.com/x', secret }, { deliveryId: 'dlv_1', at: time }),
  )
  const [first, second] = sent
  if (!first || !second) throw new Error('expected two requests')
  expect(first).toMatchObject({ method: 'POST', url: 'https://hooks.example.com/x' })
  expect(first.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': 'dlv_1',
    'webhook-timestamp': String(Math.floor(at / 1000)),
  })
  expect(second.headers['webhook-id']).toBe('dlv_1')
  expect(second.headers['webhook-timestamp']).toBe(String(Math.floor(at / 1000) + 5))
  expect(second.body).toBe(first.body)
  expect(second.headers['webhook-signature']).not.toBe(first.headers['webhook-signature'])
  for (const { headers, body } of [first, second]) {
    expect(await verify(secret, headers, body)).toBe(true)
    expect(await verify(secret, headers, `${body} `)).toBe(false)
    expect(await verify(secret, { ...headers, 'webhook-timestamp': '1' }, body)).toBe(false)
    expect(await verify(`whsec_${Buffer.alloc(32, 6).toString('base64')}`, headers, body)).toBe(false)
  }
})

test('signatures made with any key can be verified', async () => {
  const key = fc
    .uint8Array({ minLength: 24, maxLength: 64 })
    .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`)
  await fc.assert(
    fc.asyncProperty(key, fc.string({ unit: 'binary' }), async (key, body) => {
      const headers = {
        'webhook-id': 'dlv_1',
        'webhook-timestamp': '7',
        'webhook-signature': signature(key, 'dlv_1', 7, body),
      }
      expect(await verify(key, headers, body)).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('the body of a test message', () => {
  expect(JSON.parse(webhookBody(message))).toEqual({
    type: 'test',
    timestamp: '2026-01-05T12:00:00.900Z',
    data: { issue: null, alert: null, domain: null, sample: null, url: 'https://watch.example/integrations' },
  })
})

describe('the configuration', () => {
  const url = 'https://hooks.example.com/x'

  test('has the given secret, or a generated one of 32 random bytes', () => {
    expect(prepareWebhook({ url, secret }, guard)).toEqual({ url, secret })
    const made = [1, 2].map(() => prepareWebhook({ url }, guard).secret)
    expect(made[0]).not.toBe(made[1])
    for (const one of made) expect(Buffer.from(one?.replace('whsec_', '') ?? '', 'base64')).toHaveLength(32)
  })

  const bytes = (length: number) => Buffer.alloc(length, 1).toString('base64')
  test.each([24, 64])('accepts a secret of %i bytes', (length) => {
    expect(prepareWebhook({ url, secret: `whsec_${bytes(length)}` }, guard).secret).toBe(`whsec_${bytes(length)}`)
  })

  test.each([
    ['', 'no secret'],
    [bytes(32), 'no prefix'],
    [`whsk_${bytes(32)}`, 'another prefix'],
    [`whsec_${bytes(23)}`, 'too short'],
    [`whsec_${bytes(65)}`, 'too long'],
    [`whsec_${'!'.repeat(44)}`, 'not base64'],
    [`whsec_${bytes(30)} x`, 'base64 followed by other characters'],
  ])('rejects the secret %j: %s', (bad) => {
    const refusal = () => prepareWebhook({ url, secret: bad }, guard)
    expect(refusal).toThrow('config.secret: must be whsec_ followed by 24 to 64 bytes in base64')
    expect(() => signature(bad, 'dlv_1', 1, '')).toThrow('the signing secret must be whsec_')
  })

  test.each([
    [{}, 'config.url: '],
    [{ url: 5 }, 'config.url: '],
    [{ url: 'http://hooks.example.com' }, 'config.url: must be an https URL'],
    [{ url: 'https://127.0.0.1' }, 'config.url: host 127.0.0.1 is a loopback address'],
    [{ url, other: 1 }, 'config.other: '],
  ])('rejects %j', (config, message) => {
    expect(() => prepareWebhook(config, guard)).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringContaining(message) }),
    )
  })
})

// Default outcomes: only the status of a response matters.
const faults = {}

testOutcomes('a webhook integration', {
  channel: webhookChannel,
  integration: (url) => ({ config: { url }, secrets: { secret } }),
  success: () => new Response('ok'),
  expected: (status) => (status === 410 ? { verdict: 'broken', status: 'disabled' } : null),
  faults,
})

testOutcomes('a webhook URL', {
  channel: webhookChannel,
  target: (url) => `${url}/in`,
  success: () => new Response('ok'),
  faults,
})

testKills('a webhook', {
  type: 'webhook',
  server: () => receiver(),
  integration: ({ url }) => ({ config: { url }, secrets: { secret } }),
})
