import { describe, expect, test } from 'bun:test'
import { client } from '../../../../test/fixtures.ts'
import type { AlertChannel } from '../../../alerts/alert.ts'
import { HOUR_MS, MINUTE_MS } from '../../../core/clock.ts'
import type { Transition } from '../../../issues/issue.ts'
import { addHistory } from '../../../issues/store.ts'
import { addressGuard } from '../../../transport/address-guard.ts'
import { httpTransport } from '../../../transport/http-transport.ts'
import { type Received, receiver } from '../../../transport/receiver.fixture.ts'
import { transport } from '../../../transport/transport.ts'
import { Dispatcher } from '../../delivery/dispatcher.ts'
import { outboxFixture } from '../../delivery/outbox.fixture.ts'
import { deliveryRoutes } from '../../delivery/routes.ts'
import { integrationRoutes } from '../../routes.ts'
import { signature } from './standard-webhooks.ts'
import { webhookConnector } from './webhook.ts'

/** The integrations of a server with a webhook that calls a test receiver. */
async function fixture(url: string, config: object = {}) {
  const base = outboxFixture()
  const guard = addressGuard(['127.0.0.1'])
  const parts = {
    db: base.db,
    clock: base.clock,
    box: base.box,
    jitter: () => 0,
    mailConfigured: false,
    transport: transport({
      http: httpTransport({ guard }),
      mail: async () => ({ kind: 'error', message: 'e-mail is not available', permanent: true }),
    }),
    report: (error: unknown) => {
      throw error
    },
  }
  const dispatcher = new Dispatcher(parts, new AbortController().signal)
  const routes = integrationRoutes({
    ...parts,
    guard,
    dispatcher,
    publicUrl: 'https://watch.example',
    enqueue: () => undefined,
    connectors: [webhookConnector],
  })
  const call = client(base, ...routes, ...deliveryRoutes(base))
  const ada = (method: string, path: string, body?: unknown) =>
    call(method, path, { as: base.people.ada.key, ...(body === undefined ? {} : { body }) })
  const input = (more: object = {}) => ({ provider: 'webhook', label: 'On call', config: { url, ...config, ...more } })
  const { status, body } = await ada('POST', '/v1/integrations', input())
  if (status !== 201) throw new Error(JSON.stringify(body))
  const path = `/v1/integrations/${body.id}`
  const hook: AlertChannel = { type: 'webhook', target: body.id }
  const statusNow = async () => (await ada('GET', path)).body.status
  const deliver = async () => {
    dispatcher.start()
    await dispatcher.idle()
  }
  let issues = 0
  /** Delivers the opening of another issue. */
  const tellAnother = async () => {
    const { deliveryIds } = base.tell('opened', base.issue(`iss_${++issues}`), { channels: [hook] })
    await deliver()
    return base.deliveries().find(({ id }) => id === deliveryIds[0])
  }
  return { ...base, call, ada, input, path, hook, statusNow, deliver, tellAnother, secret: String(body.secret) }
}

const signaturesOf = ({ headers }: Received) => (headers['webhook-signature'] ?? '').split(' ')
const signedBy = (secret: string, { headers, body }: Received) =>
  signature(secret, headers['webhook-id'] ?? '', Number(headers['webhook-timestamp']), body)

describe('a secret rotation', () => {
  test('returns the new secret once, and requests carry signatures of both secrets for 24 hours', async () => {
    await using server = receiver()
    const { ada, path, secret, clock, tellAnother, statusNow } = await fixture(server.url)
    const rotated = await ada('POST', `${path}/rotate`)
    expect([rotated.status, rotated.body]).toEqual([200, { secret: expect.stringMatching(/^whsec_/) }])
    const fresh = String(rotated.body.secret)
    expect(fresh).not.toBe(secret)
    expect(JSON.stringify((await ada('GET', path)).body)).not.toContain('whsec_')

    await tellAnother()
    clock.advance(24 * HOUR_MS - 1)
    await tellAnother()
    clock.advance(1)
    await tellAnother()
    const [first, last, after] = server.requests
    if (!first || !last || !after) throw new Error('expected three requests')
    for (const request of [first, last]) {
      expect(signaturesOf(request)).toEqual([signedBy(fresh, request), signedBy(secret, request)])
    }
    expect(signaturesOf(after)).toEqual([signedBy(fresh, after)])
    expect(await statusNow()).toBe('connected')
  })

  test('within 24 hours of another rotation keeps each replaced secret valid for its full 24 hours', async () => {
    await using server = receiver()
    const { ada, path, secret, clock, tellAnother } = await fixture(server.url)
    const second = String((await ada('POST', `${path}/rotate`)).body.secret)
    clock.advance(20 * HOUR_MS)
    const third = String((await ada('POST', `${path}/rotate`)).body.secret)
    await tellAnother()
    clock.advance(4 * HOUR_MS)
    await tellAnother()
    const [both, one] = server.requests
    if (!both || !one) throw new Error('expected two requests')
    expect(signaturesOf(both)).toEqual([third, second, secret].map((key) => signedBy(key, both)))
    expect(signaturesOf(one)).toEqual([third, second].map((key) => signedBy(key, one)))
  })

  test('ends when a secret is set explicitly, but not by a PUT that omits the secret', async () => {
    await using server = receiver()
    const { ada, path, input, secret, tellAnother } = await fixture(server.url)
    await ada('POST', `${path}/rotate`)
    await ada('PUT', path, input())
    await tellAnother()
    const own = `whsec_${Buffer.alloc(32, 4).toString('base64')}`
    await ada('PUT', path, input({ secret: own }))
    await tellAnother()
    const [during, after] = server.requests
    if (!during || !after) throw new Error('expected two requests')
    expect(signaturesOf(during)).toContain(signedBy(secret, during))
    expect(signaturesOf(after)).toEqual([signedBy(own, after)])
  })

  test('requires the admin role, leaves `notify` unchanged, and stores no readable secret', async () => {
    const { call, ada, path, people, db, secret } = await fixture('https://hooks.example.com/a', { notify: ['opened'] })
    for (const [as, status] of [
      [people.bob.key, 403],
      [people.vera.key, 403],
      [people.mallory.key, 404],
      [people.ada.key, 200],
    ] as const) {
      expect((await call('POST', `${path}/rotate`, { as })).status).toBe(status)
    }
    expect((await ada('GET', path)).body.config).toEqual({ url: 'https://hooks.example.com/a', notify: ['opened'] })
    const rows = JSON.stringify(db.prepare('SELECT *, CAST(secrets AS TEXT) AS text FROM integration').all())
    expect(rows).not.toContain(secret)
    expect(rows).not.toContain('whsec_')
  })
})

test('rotated secrets never reach a response, the log, a history or the database, even if echoed', async () => {
  const known: string[] = []
  await using server = receiver(() => new Response(`you said ${known.join(' and ')}`, { status: 500 }))
  const { ada, path, secret, db, tellAnother, call, people } = await fixture(server.url)
  known.push(secret, String((await ada('POST', `${path}/rotate`)).body.secret))
  const delivery = await tellAnother()
  const said = [
    await ada('GET', `/v1/notifications/deliveries/${delivery?.id}`),
    await ada('GET', '/v1/notifications/deliveries'),
    await ada('POST', `${path}/test`),
    await ada('GET', path),
    await call('GET', '/v1/integrations', { as: people.vera.key }),
  ].map(({ body }) => JSON.stringify(body))
  expect(said[0]).toContain('you said … and …')
  const texts = [...said, db.serialize().toString('latin1')]
  for (const one of known) {
    for (const text of texts) {
      expect(text).not.toContain(one)
      expect(text).not.toContain(one.slice('whsec_'.length))
    }
  }
})

describe('a receiver that returns 410', () => {
  test('disables the integration, and waiting deliveries fail with the reason', async () => {
    await using server = receiver(() => new Response('gone', { status: 410 }))
    const { statusNow, tellAnother } = await fixture(server.url)
    expect(await tellAnother()).toMatchObject({ status: 'failed', lastError: 'HTTP 410', attempts: 1 })
    expect(await statusNow()).toBe('disabled')
    expect(await tellAnother()).toMatchObject({
      status: 'failed',
      lastError: 'disabled by the other service; send a successful test or save new settings to enable it again',
    })
    expect(server.requests).toHaveLength(1)
  })

  test.each([
    [200, 'connected'],
    [500, 'disabled'],
    [404, 'disabled'],
    [410, 'disabled'],
  ])('and then returns %i to a test message makes the integration %s', async (code, status) => {
    let answer = 410
    await using server = receiver(() => new Response('', { status: answer }))
    const { ada, path, statusNow, tellAnother } = await fixture(server.url)
    await tellAnother()
    answer = code
    expect((await ada('POST', `${path}/test`)).status).toBe(code === 200 ? 200 : 502)
    expect(await statusNow()).toBe(status)
    answer = 200
    expect(await tellAnother()).toMatchObject({ status: status === 'connected' ? 'delivered' : 'failed' })
  })

  test('receives deliveries again after a PUT enables the integration', async () => {
    let answer = 410
    await using server = receiver(() => new Response('', { status: answer }))
    const { ada, path, input, statusNow, tellAnother } = await fixture(server.url)
    await tellAnother()
    answer = 200
    expect((await ada('PUT', path, input())).body.status).toBe('connected')
    expect(await tellAnother()).toMatchObject({ status: 'delivered' })
    expect(await statusNow()).toBe('connected')
  })

  test('leaves the integration disabled when an earlier attempt succeeds later', async () => {
    const answers = Promise.withResolvers<void>()
    await using server = receiver(async (_request, index) => {
      if (index === 1) await answers.promise
      return new Response('', { status: index < 2 ? 200 : 410 })
    })
    const { tell, issue, hook, deliver, statusNow, deliveries } = await fixture(server.url)
    // An origin gets two concurrent attempts only after it has responded once.
    tell('opened', issue('iss_first'), { channels: [hook] })
    await deliver()
    tell('opened', issue('iss_a'), { channels: [hook] })
    tell('opened', issue('iss_b'), { channels: [hook] })
    const delivered = deliver()
    while ((await statusNow()) !== 'disabled') await new Promise((resolve) => setImmediate(resolve))
    answers.resolve()
    await delivered
    expect(deliveries().map(({ status }) => status)).toEqual(['delivered', 'delivered', 'failed'])
    expect(await statusNow()).toBe('disabled')
  })

  test('causes a failed delivery if its URL is used without an integration', async () => {
    await using server = receiver(() => new Response('', { status: 410 }))
    const { tell, issue, deliver, deliveries } = await fixture(server.url)
    tell('opened', issue(), { channels: [{ type: 'webhook', target: `${server.url}/in` }] })
    await deliver()
    expect(deliveries()).toMatchObject([{ status: 'failed', lastError: 'HTTP 410' }])
  })
})

describe('the `notify` setting', () => {
  const all: Transition[] = ['opened', 'repeated', 'resolved', 'reopened', 'resolved']
  const cases: [Transition[] | undefined, string[]][] = [
    [undefined, all],
    [['opened', 'reopened', 'repeated', 'resolved'], all],
    [['opened'], ['opened']],
    [
      ['opened', 'resolved'],
      ['opened', 'resolved'],
    ],
    [
      ['opened', 'reopened'],
      ['opened', 'reopened'],
    ],
    [
      ['reopened', 'resolved'],
      ['reopened', 'resolved'],
    ],
    [['repeated', 'resolved'], ['repeated']],
    [['resolved'], []],
  ]
  test.each(cases)(
    '%j applies to an issue that opens, repeats, resolves, reopens and resolves',
    async (notify, expected) => {
      await using server = receiver()
      const { db, tell, issue, hook, clock, deliver } = await fixture(server.url, notify ? { notify } : {})
      issue()
      for (const transition of all) {
        clock.advance(MINUTE_MS)
        addHistory(db, 'iss_1', transition === 'repeated' ? 'fired' : transition, null, clock.now())
        tell(transition, 'iss_1', { channels: [hook] })
        await deliver()
      }
      expect(server.requests.map(({ body }) => JSON.parse(body).type)).toEqual(expected.map((one) => `issue.${one}`))
    },
  )

  test.each([
    [[], 'config.notify: must have at least one item'],
    [['opened', 'opened'], 'config.notify'],
    [['closed'], 'config.notify[0]: must be one of opened, reopened, repeated, resolved'],
    ['opened', 'config.notify: must be a list'],
    [null, 'config.notify: must be a list'],
  ])('rejects %j', async (notify, message) => {
    const { ada, input, path } = await fixture('https://hooks.example.com/a')
    for (const [method, at] of [
      ['POST', '/v1/integrations'],
      ['PUT', path],
    ] as const) {
      const answer = await ada(method, at, input({ notify }))
      expect(answer.status).toBe(400)
      expect(answer.body.error).toStartWith(message)
    }
  })

  test('is returned with the settings, and is reset by a PUT that omits it', async () => {
    const { ada, input, path } = await fixture('https://hooks.example.com/a', { notify: ['opened'] })
    expect((await ada('GET', path)).body.config.notify).toEqual(['opened'])
    expect((await ada('PUT', path, input({ notify: ['resolved', 'opened'] }))).body.config.notify).toEqual([
      'resolved',
      'opened',
    ])
    expect(
      (await ada('PUT', path, { ...input(), config: { url: 'https://hooks.example.com/a' } })).body.config,
    ).toEqual({
      url: 'https://hooks.example.com/a',
    })
  })
})
