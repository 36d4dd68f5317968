import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { mailbox } from '../../src/transport/receiver.fixture.ts'
import type { MailOutbound, Outbound, Reply, Transport } from '../../src/transport/transport.ts'
import { TEST_START } from '../fixtures.ts'
import { type TestApp, testApp } from '../test-app.ts'

/*
 * Tests the digest end to end: content, recipients, send time, sending exactly once despite crashes, and unsubscribing.
 */

const ACCEPTED: Reply = { kind: 'status', status: 250, headers: {}, body: '' }
const GREYLISTED: Reply = { kind: 'error', message: 'the mail server refused: 451', permanent: false }

/** Records outgoing e-mails. `answer` returns the mail server's reply and can be replaced. */
function post() {
  const mails: MailOutbound[] = []
  const taken = { answer: (_mail: MailOutbound): Reply | Promise<Reply> => ACCEPTED }
  const transport: Transport = {
    async send(outbound: Outbound) {
      if (outbound.kind !== 'mail') throw new Error('expected an e-mail')
      mails.push(outbound)
      return taken.answer(outbound)
    },
  }
  return { mails, taken, transport }
}

const PATH = '/v1/notifications/digest'
const MAIL = { smtpUrl: 'smtp://127.0.0.1:1', mailFrom: 'Tagwarden <watch@example.com>' }

/** Starts the program with a shop, some events from today, and a recorder of outgoing e-mails. */
async function shop(options: { events?: number } = {}) {
  const box = post()
  const world = await testApp(MAIL, { transport: box.transport })
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const buy = (count: number, event = 'purchase') =>
    world.collect(domain.token, {
      events: Array.from({ length: count }, (_, n) => ({ vendor: 'Meta Pixel', event, params: { value: String(n) } })),
    })
  if (options.events !== 0) await buy(options.events ?? 30)
  return { ...box, world, domain, buy }
}

const hourOf = (world: TestApp) => new Date(world.clock.now()).getUTCHours()
const subscribe = (world: TestApp, body: object = {}, as = world.owner.apiKey) =>
  world.call('PUT', `${PATH}/me`, { as, body: { subscribed: true, hourUtc: hourOf(world), ...body } })

/** Returns the one-click unsubscribe link in an e-mail. */
const linkOf = (mail?: MailOutbound) => /^<(.*)>$/.exec(mail?.headers?.['List-Unsubscribe'] ?? '')?.[1] ?? ''

const click = (world: TestApp, url: string, method: 'GET' | 'POST') =>
  world.app.fetch(
    new Request(url, {
      method,
      ...(method === 'POST'
        ? {
            body: 'List-Unsubscribe=One-Click',
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
          }
        : {}),
    }),
  )

describe('the digest preview', () => {
  test('shows the next digest, is cached for ten minutes per user and context, and sends no mail', async () => {
    const { world, mails, buy } = await shop()
    await using _ = world
    const preview = async (context = '') => (await world.call('POST', `${PATH}/preview`, { body: { context } })).body
    const first = await preview()
    expect(first).toEqual({
      hasData: true,
      subject: expect.stringContaining('30 events'),
      html: expect.stringContaining('Meta Pixel'),
      composedAt: world.clock.now(),
      refreshInSeconds: 600,
    })
    await buy(70)
    world.clock.advance(5 * MINUTE_MS + 1)
    expect(await preview()).toEqual({ ...first, refreshInSeconds: 300 })
    const other = await preview('marketing')
    expect(other).toMatchObject({ refreshInSeconds: 600, composedAt: world.clock.now() })
    expect(other.html).toContain('100 events')
    world.clock.advance(5 * MINUTE_MS)
    expect((await preview()).html).toContain('100 events')
    // The same applies after the clock has been set back.
    world.clock.advance(-HOUR_MS)
    expect(await preview()).toMatchObject({ refreshInSeconds: 600, composedAt: world.clock.now() })
    expect(mails).toEqual([])
  })

  test('contains issues, value, releases, personal data, orders and labels, with masked values', async () => {
    const { world, domain } = await shop({ events: 0 })
    await using _ = world
    const post = async (path: string, body: object) => {
      const answer = await world.call('POST', path, { body })
      expect({ path, ok: answer.status < 300, body: answer.body }).toMatchObject({ ok: true })
      return answer.body
    }
    await post('/v1/alerts', {
      name: 'Purchases have an id',
      alertType: 'data_validation',
      severity: 'critical',
      impactValue: 900,
      period: '1h',
      conditions: { logic: 'any', items: [{ parameter: 'order_id', op: 'is_blank' }] },
      filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
      channels: [{ type: 'email', target: 'ann@example.com' }],
    })
    await post('/v1/insights/labels/assign', {
      label: 'Checkout',
      members: [{ vendor: 'Meta Pixel', event: 'purchase' }],
    })
    const at = world.clock.now()
    await post('/v1/changes', {
      domainId: domain.id,
      source: 'ci',
      ref: '1',
      title: 'New summary page',
      occurredAt: at,
    })
    const orders = ['A-1', 'A-2'].map((id) => ({ id, at, value: 20 }))
    await post('/v1/orders', { domainId: domain.id, orders })
    const event = (params: object) => ({ vendor: 'Meta Pixel', event: 'purchase', params })
    await world.collect(domain.token, {
      page: { url: 'https://shop.example/done' },
      events: [event({ order_id: 'A-1', value: '20' }), event({ mail: 'jane.roe@personal.example', order_id: '' })],
    })
    world.clock.advance(20 * MINUTE_MS)
    await world.run('flush', 'evaluate', 'scan for personal data', 'evaluate changes')
    const { body } = await world.call('POST', `${PATH}/preview`, { body: { context: 'developer: checkout' } })
    expect(body.subject).toStartWith('Acme: Checkout: new critical issue, Purchases have an id')
    const text = body.html.replaceAll(/<style[\s\S]*?<\/style>|<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
    for (const part of [
      'Label · 1 open issue, 1 new',
      'New · critical',
      'value 900',
      'j***@p***.example',
      '/done',
      'Watching New summary page',
      'New: email in mail (Meta Pixel)',
      'Shop: 2 paid orders, value 40',
      'missing value: 20',
      'Value at stake 900',
      'Compliance: is personal data protected?',
    ]) {
      expect(text).toContain(part)
    }
    expect(body.html).not.toContain('jane.roe')
  })

  test('says on Mondays whom the worst issues of the week affect', async () => {
    const { world, domain } = await shop({ events: 0 })
    await using _ = world
    const waitFor = (weekday: number) => {
      while (new Date(world.clock.now()).getUTCDay() !== weekday) world.clock.advance(DAY_MS)
    }
    waitFor(6)
    await world.call('POST', '/v1/alerts', {
      body: {
        name: 'Purchases have a value',
        alertType: 'data_validation',
        period: '1h',
        conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
        channels: [{ type: 'email', target: 'ann@example.com' }],
      },
    })
    const agents = {
      '': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
      9.5: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0',
    }
    for (const [value, userAgent] of Object.entries(agents)) {
      for (let n = 0; n < 20; n++) {
        const events = [{ vendor: 'Meta Pixel', event: 'purchase', params: { value } }]
        await world.collect(domain.token, { userAgent, sessionId: `${value} ${n}`, events })
      }
    }
    world.clock.advance(2 * MINUTE_MS)
    await world.run('flush', 'evaluate')
    waitFor(1)
    const { body } = await world.call('POST', `${PATH}/preview`, { body: { context: '' } })
    expect(body.html).toContain('100 % of violations come from Safari; elsewhere 0 % of events violate.')
  })

  test('uses the context of the subscription by default', async () => {
    const { world } = await shop()
    await using _ = world
    await subscribe(world, { context: 'privacy' })
    const { body } = await world.call('POST', `${PATH}/preview`, { body: {} })
    expect(body.html).toContain('Personal data and consent')
  })

  test('compares today with the same hours a week earlier', async () => {
    const { world, buy, domain } = await shop({ events: 0 })
    await using _ = world
    world.clock.advance(2 * DAY_MS)
    await buy(500)
    await buy(40, 'view')
    await world.run('flush')
    world.clock.advance(7 * DAY_MS)
    await buy(100)
    await world.collect(domain.token, {
      events: [{ vendor: 'New Vendor', event: 'hello', params: { fresh_key: 'x' } }],
    })
    const { body } = await world.call('POST', `${PATH}/preview`, { body: { context: 'marketing' } })
    expect(body.subject).toBe('Acme: Meta Pixel purchase fell by 80 %')
    for (const part of ['New Vendor hello', 'fresh_key', 'stopped', '500']) expect(body.html).toContain(part)
  })
})

describe('an organization without events', () => {
  let fixture: Awaited<ReturnType<typeof shop>>
  beforeAll(async () => {
    fixture = await shop({ events: 0 })
  })
  afterAll(() => fixture.world[Symbol.asyncDispose]())

  test('gets a preview that has no data', async () => {
    const { status, body } = await fixture.world.call('POST', `${PATH}/preview`, { body: {} })
    expect({ status, body }).toMatchObject({ status: 200, body: { hasData: false, refreshInSeconds: 600 } })
    expect(body.subject).toContain('quiet')
  })

  test.each([{ context: 'x'.repeat(201) }, { context: 1 }, { other: true }])(
    'rejects the preview request %j',
    async (body) => {
      expect((await fixture.world.call('POST', `${PATH}/preview`, { body })).status).toBe(400)
    },
  )

  const me = async () => (await fixture.world.call('GET', `${PATH}/me`)).body

  test('has no subscription by default, and an update leaves omitted fields unchanged', async () => {
    const { world } = fixture
    expect(await me()).toEqual({ subscribed: false, context: '', hourUtc: 7, nextAt: null })
    const put = (body: object) => world.call('PUT', `${PATH}/me`, { body })
    expect(await put({ subscribed: true, context: 'developer', hourUtc: 5 })).toMatchObject({
      status: 200,
      body: { ok: true, subscribed: true },
    })
    const next = Date.UTC(2026, 0, 6, 5)
    expect(await me()).toEqual({ subscribed: true, context: 'developer', hourUtc: 5, nextAt: next })
    await put({ subscribed: false })
    expect(await me()).toEqual({ subscribed: false, context: 'developer', hourUtc: 5, nextAt: null })
    await put({ subscribed: true, hourUtc: 13 })
    expect(await me()).toMatchObject({ context: 'developer', nextAt: TEST_START + HOUR_MS })
    expect((await put({ subscribed: true, hourUtc: 12 })).status).toBe(200)
    expect(await me()).toMatchObject({ nextAt: TEST_START })
  })

  test.each([{}, { subscribed: 1 }, { subscribed: true, hourUtc: 24 }, { subscribed: true, hourUtc: -1 }])(
    'rejects the subscription %j',
    async (body) => {
      expect((await fixture.world.call('PUT', `${PATH}/me`, { body })).status).toBe(400)
    },
  )

  test.each<[config: object, field: string]>([
    [{ hourUtc: 7 }, 'config.to'],
    [{ to: [], hourUtc: 7 }, 'config.to'],
    [{ to: Array.from({ length: 51 }, (_, n) => `a${n}@example.com`), hourUtc: 7 }, 'config.to'],
    [{ to: ['ann@example.com', 'nobody'], hourUtc: 7 }, 'config.to[1]'],
    [{ to: ['ann@example.com', 'ANN@example.com'], hourUtc: 7 }, 'config.to[1]'],
    [{ to: ['ann@example.com'] }, 'config.hourUtc'],
    [{ to: ['ann@example.com'], hourUtc: 24 }, 'config.hourUtc'],
    [{ to: ['ann@example.com'], hourUtc: 7, context: 'x'.repeat(201) }, 'config.context'],
    [{ to: ['ann@example.com'], hourUtc: 7, notify: [] }, 'config.notify'],
  ])('rejects the integration %j', async (config, field) => {
    const { world } = fixture
    const { status, body } = await world.call('POST', '/v1/integrations', {
      body: { provider: 'email_digest', config },
    })
    expect(status).toBe(400)
    expect(body.error).toStartWith(`${field}: `)
  })

  test('rejects an unknown unsubscribe token with 401 and a JSON error', async () => {
    const { world } = fixture
    const sealed = (text: string) => world.app.box.seal(text).toString('base64url')
    const tokens = ['x', 'A'.repeat(200), sealed('no json'), sealed('{"kind":"other"}'), sealed('{"orgId":"a"}')]
    for (const token of tokens) {
      for (const method of ['GET', 'POST'] as const) {
        const answer = await click(world, `http://localhost${PATH}/unsubscribe?t=${token}`, method)
        expect(answer.status).toBe(401)
        expect(await answer.json()).toEqual({ error: 't: is not a valid unsubscribe token' })
      }
    }
  })
})

describe('a digest', () => {
  test('is sent once a day across restarts, with the same message ID for every attempt', async () => {
    const { world, mails, taken, buy } = await shop()
    await using _ = world
    await world.call('PATCH', '/v1/org', { body: { timezone: 'Europe/Berlin' } })
    expect((await subscribe(world, { context: 'marketing' })).status).toBe(200)
    taken.answer = () => GREYLISTED
    await world.run('send digests')
    expect(mails).toHaveLength(1)
    await world.crash()
    world.clock.advance(6_000)
    await world.run('send digests')
    taken.answer = () => ACCEPTED
    world.clock.advance(31_000)
    await world.restart()
    await world.run('send digests', 'send digests')
    expect(mails).toHaveLength(3)
    expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(1)
    const [mail] = mails
    expect(mail).toMatchObject({ to: ['alice@example.com'], subject: expect.stringContaining('30 events') })
    expect(mail?.text).toContain('DATA SENT BY YOUR TAGS')
    expect(mail?.text).toContain('daily after 13:00 CET')
    expect(linkOf(mail)).toStartWith(`${world.app.publicUrl}${PATH}/unsubscribe?t=`)
    await world.crash()
    world.clock.advance(HOUR_MS)
    await world.run('send digests')
    await subscribe(world, { subscribed: false })
    await subscribe(world, { hourUtc: 12 })
    await world.run('send digests')
    expect(mails).toHaveLength(3)
    world.clock.advance(DAY_MS - HOUR_MS)
    await buy(1)
    await world.run('send digests')
    expect(mails).toHaveLength(4)
    expect(mails[3]?.messageId).not.toBe(mails[0]?.messageId)
  })

  test('is sent again with the same message ID after a crash during the first attempt', async () => {
    const { world, mails, taken } = await shop()
    await using _ = world
    await subscribe(world)
    const accepted = Promise.withResolvers<Reply>()
    taken.answer = () => accepted.promise
    await world.app.jobs.find(({ name }) => name === 'send digests')?.run()
    expect(mails).toHaveLength(1)
    // The program is killed before it records that the e-mail was sent.
    const crashed = world.crash()
    accepted.resolve(ACCEPTED)
    await crashed
    await world.run('send digests')
    expect(mails).toHaveLength(2)
    expect(mails[1]?.messageId).toBe(mails[0]?.messageId)
  })

  test('is sent within two hours of its configured hour', async () => {
    const { world, mails, buy } = await shop()
    await using _ = world
    await subscribe(world, { hourUtc: 14 })
    let sent = 0
    for (const [day, [offsetMs, count]] of [
      [-MINUTE_MS, 0],
      [0, 1],
      [2 * HOUR_MS - MINUTE_MS, 1],
      [2 * HOUR_MS, 0],
    ].entries() as Iterable<[number, [number, number]]>) {
      world.clock.set(TEST_START + 2 * HOUR_MS + day * DAY_MS + offsetMs)
      await buy(1)
      await world.run('send digests')
      sent += count
      expect(mails).toHaveLength(sent)
    }
  })

  test('is sent on days with activity, and on Mondays even without', async () => {
    const { world, mails, buy } = await shop({ events: 0 })
    await using _ = world
    await subscribe(world)
    await world.run('send digests')
    // TEST_START is a Monday.
    expect(mails.map(({ subject }) => subject)).toEqual(['Acme: a quiet day: no events, issues or changes in 24 hours'])
    world.clock.advance(DAY_MS)
    await world.run('send digests')
    expect(mails).toHaveLength(1)
    // An event is received within two hours of the configured hour.
    world.clock.advance(HOUR_MS)
    await buy(3)
    await world.run('send digests')
    expect(mails).toHaveLength(2)
  })

  test('is sent at most once a day when the clock is set back or forward', async () => {
    const { world, mails, buy } = await shop()
    await using _ = world
    await subscribe(world)
    await world.run('heartbeat', 'send digests')
    world.clock.advance(-HOUR_MS)
    await world.run('heartbeat', 'send digests')
    world.clock.advance(HOUR_MS)
    await world.run('heartbeat', 'send digests')
    expect(mails).toHaveLength(1)
    world.clock.advance(DAY_MS)
    await buy(3)
    await world.run('heartbeat', 'send digests')
    world.clock.advance(-DAY_MS)
    await world.run('heartbeat', 'send digests')
    world.clock.advance(DAY_MS)
    await world.run('heartbeat', 'send digests')
    expect(mails).toHaveLength(2)
  })

  test('is sent immediately if its retry was scheduled before the clock was set back', async () => {
    const { world, mails, taken } = await shop()
    await using _ = world
    world.clock.advance(30 * DAY_MS)
    await world.call('GET', '/v1/whoami')
    await subscribe(world)
    taken.answer = () => GREYLISTED
    const { token } = (await world.call('GET', '/v1/domains')).body.domains[0]
    await world.collect(token, { events: [{ vendor: 'A', event: 'b' }] })
    await world.run('send digests')
    world.clock.advance(-20 * DAY_MS)
    taken.answer = () => ACCEPTED
    await world.run('heartbeat', 'send digests')
    expect(mails.length).toBeGreaterThanOrEqual(2)
  })

  test('is not sent to former members, unsubscribed members or members who never subscribed', async () => {
    const { world, mails } = await shop()
    await using _ = world
    const { body: invited } = await world.call('POST', '/v1/org/members', {
      body: { email: 'ben@example.com', role: 'viewer' },
    })
    const { body: session } = await world.call('POST', '/v1/auth/invite', {
      as: null,
      body: { token: invited.inviteToken, password: 'a long pass phrase' },
    })
    expect((await subscribe(world, {}, session.token)).status).toBe(200)
    await subscribe(world)
    await subscribe(world, { subscribed: false })
    await world.call('DELETE', `/v1/org/members/${invited.member.id}`)
    await world.run('send digests')
    expect(mails.filter(({ subject }) => !subject.includes('invited'))).toEqual([])
  })

  test('is not sent without a mail server', async () => {
    const box = post()
    await using world = await testApp({}, { transport: box.transport })
    const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
    await world.collect(domain.token, { events: [{ vendor: 'A', event: 'b' }] })
    await subscribe(world)
    await world.run('send digests')
    expect(box.mails).toEqual([])
  })

  test('is sent with the headers of RFC 8058 by a real mail server', async () => {
    await using inbox = await mailbox()
    await using world = await testApp({ smtpUrl: `smtp://127.0.0.1:${inbox.port}`, mailFrom: 'watch@example.com' })
    const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
    await world.collect(domain.token, { events: [{ vendor: 'Größe', event: 'b' }] })
    await subscribe(world)
    await world.run('send digests')
    const [head = ''] = inbox.mails[0]?.source.split('\r\n\r\n') ?? []
    const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
    expect(lines.find((line) => line.startsWith('List-Unsubscribe:'))).toMatch(
      /^List-Unsubscribe: <http:\S+\?t=[\w-]+>$/,
    )
    expect(lines).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
    expect(lines.find((line) => line.startsWith('Message-ID:'))).toMatch(
      /^Message-ID: <digest-[0-9a-f]{40}@example.com>$/,
    )
  })
})

describe('the unsubscribe link', () => {
  test('changes nothing on GET, and unsubscribes on POST without sign-in, even when repeated', async () => {
    const { world, mails } = await shop()
    await using _ = world
    await subscribe(world)
    await world.run('send digests')
    const url = linkOf(mails[0])
    const seen = await click(world, url, 'GET')
    expect({ status: seen.status, type: seen.headers.get('content-type') }).toEqual({
      status: 200,
      type: 'text/html; charset=utf-8',
    })
    expect(await seen.text()).toContain('<form method="post">')
    expect((await world.call('GET', `${PATH}/me`)).body.subscribed).toBe(true)
    for (const _time of [1, 2]) {
      const done = await click(world, url, 'POST')
      expect(done.status).toBe(200)
      expect(await done.text()).toContain('You will no longer receive the digest')
    }
    expect((await world.call('GET', `${PATH}/me`)).body.subscribed).toBe(false)
    const { entries } = (await world.call('GET', '/v1/org/audit-log?act=unsubscribe')).body
    expect(entries).toHaveLength(1)
    // The same applies after a restart, and for a user who subscribes again.
    await subscribe(world)
    await world.restart()
    await click(world, url, 'POST')
    expect((await world.call('GET', `${PATH}/me`)).body.subscribed).toBe(false)
  })
})

describe('a digest integration', () => {
  test('sends to each address; one click unsubscribes one address, and unsubscribing the last one disables the integration', async () => {
    const { world, mails } = await shop()
    await using _ = world
    const config = { to: ['ann@example.com', 'Ben@example.com'], hourUtc: hourOf(world), context: 'developer' }
    const { status, body } = await world.call('POST', '/v1/integrations', {
      body: { provider: 'email_digest', config },
    })
    expect({ status, body }).toMatchObject({ status: 201, body: { status: 'connected', config } })
    await world.run('send digests', 'send digests')
    expect(mails.map(({ to }) => to)).toEqual([['ann@example.com'], ['Ben@example.com']])
    expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(2)
    const found = async () => (await world.call('GET', `/v1/integrations/${body.id}`)).body
    for (const [at, mail] of mails.entries()) {
      await world.app.fetch(new Request(linkOf(mail), { method: 'POST' }))
      const left = at === 0 ? ['Ben@example.com'] : []
      expect(await found()).toMatchObject({ config: { to: left }, status: at === 0 ? 'connected' : 'disabled' })
    }
    world.clock.advance(DAY_MS)
    await world.run('send digests')
    expect(mails).toHaveLength(2)
    const put = await world.call('PUT', `/v1/integrations/${body.id}`, { body: { provider: 'email_digest', config } })
    expect(put).toMatchObject({ status: 200, body: { status: 'connected' } })
  })

  test('sends one e-mail to each address, even to more addresses than concurrent sends', async () => {
    const { world, mails, taken } = await shop()
    await using _ = world
    const to = Array.from({ length: 50 }, (_, n) => `reader-${n}@example.com`)
    const config = { to, hourUtc: hourOf(world) }
    await world.call('POST', '/v1/integrations', { body: { provider: 'email_digest', config } })
    let underWay = 0
    let most = 0
    taken.answer = async () => {
      most = Math.max(most, ++underWay)
      await new Promise(setImmediate)
      underWay--
      return ACCEPTED
    }
    await world.run('send digests')
    expect(mails.map(({ to }) => to[0]).toSorted()).toEqual(to.toSorted())
    expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(50)
    expect(most).toBeLessThanOrEqual(8)
  })

  test('is failing while an e-mail waits for a retry, and connected once the e-mail is sent', async () => {
    const { world, mails, taken } = await shop()
    await using _ = world
    const config = { to: ['ann@example.com'], hourUtc: hourOf(world) }
    const { body } = await world.call('POST', '/v1/integrations', { body: { provider: 'email_digest', config } })
    const status = async () => (await world.call('GET', `/v1/integrations/${body.id}`)).body.status
    taken.answer = () => GREYLISTED
    await world.run('send digests')
    expect([mails.length, await status()]).toEqual([1, 'failing'])
    taken.answer = () => ACCEPTED
    world.clock.advance(MINUTE_MS)
    await world.run('send digests')
    expect([mails.length, await status()]).toEqual([2, 'connected'])
  })

  test('is tested with an e-mail, does not send issue notifications, and reports failures', async () => {
    const { world, mails, taken } = await shop()
    await using _ = world
    const config = { to: ['ann@example.com'], hourUtc: hourOf(world) }
    const { body } = await world.call('POST', '/v1/integrations', { body: { provider: 'email_digest', config } })
    const tried = await world.call('POST', `/v1/integrations/${body.id}/test`)
    expect(tried).toMatchObject({ status: 200, body: { ok: true, deliveryId: null } })
    expect(mails[0]).toMatchObject({ to: ['ann@example.com'], subject: 'Tagwarden: test digest' })
    taken.answer = () => ({ kind: 'error', message: 'the mail server refused: 550', permanent: true })
    await world.run('send digests')
    expect((await world.call('GET', `/v1/integrations/${body.id}`)).body.status).toBe('failing')
    const alert = {
      name: 'A',
      alertType: 'volume_threshold',
      volume: { op: 'lte', count: 5 },
      period: '1h',
      channels: [{ type: 'email_digest', target: body.id }],
    }
    expect((await world.call('POST', '/v1/alerts', { body: alert })).status).toBe(400)
  })
})
