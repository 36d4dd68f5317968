import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AlertChannel } from '../../../../alerts/alert.ts'
import { createAlert } from '../../../../alerts/alert-store.ts'
import { SEVERITIES, type Severity } from '../../../../contract/severities.ts'
import { MINUTE_MS, SECOND_MS } from '../../../../core/clock.ts'
import type { Transition } from '../../../../issues/issue.ts'
import { setStatus } from '../../../../issues/store.ts'
import { receiver } from '../../../../transport/receiver.fixture.ts'
import type { HttpOutbound } from '../../../../transport/transport.ts'
import { groupFixture } from '../../../delivery/group.fixture.ts'
import { sendTest } from '../../../delivery/send-test.ts'
import { fallMessage, NOTIFIED_AT, PURCHASE_FACTS, purchaseMessage } from '../../../message/message.fixture.ts'
import { buildMessage, failureMessage, type Message, testMessage } from '../../../message/message.ts'
import { findIntegration, insertIntegration } from '../../../store.ts'
import { type ChatText, textOfGroup, textOfMessage } from '../chat-text.ts'
import type { ChatFormat, IncidentFormat } from '../format.ts'
import { FORMATS } from './index.ts'
import { PRODUCTS, type Product, parsedHtml, settingsFor, startProduct } from './products.fixture.ts'

/* Formats against servers that check requests and respond as the products do. */

const CHATS = PRODUCTS.flatMap((product) =>
  product.format.shows === 'messages' ? [{ ...product, format: product.format }] : [],
)
const INCIDENTS = PRODUCTS.flatMap((product) =>
  product.format.shows === 'incidents' ? [{ ...product, format: product.format }] : [],
)
const named = <P extends Product>(products: readonly P[]) =>
  products.map((product) => [product.format.name, product] as const)

/** An organization with an integration that uses the product. */
function worldOf(product: Product, url: string) {
  const world = groupFixture()
  const { db, box, orgId, clock, people } = world
  const integration = insertIntegration(db, box, {
    orgId,
    provider: 'webhook',
    label: 'On call',
    createdAt: clock.now(),
    ...settingsFor(product, url),
  })
  const channels: AlertChannel[] = [{ type: 'webhook', target: integration.id }]
  /** Sends everything that becomes due in the next minutes, no faster than the products allow. */
  const deliver = async (rounds = 20) => {
    for (let round = 0; round < rounds; round++) {
      clock.advance(3 * SECOND_MS)
      await world.deliver()
      await world.follow()
    }
  }
  const status = (to: 'open' | 'acknowledged' | 'muted' | 'resolved', issueId = 'iss_1') =>
    setStatus(db, { orgId, by: people.bob.userId, now: clock.now() }, issueId, to, () => undefined)
  const integrationNow = () => findIntegration(db, { orgId, id: integration.id })
  return { ...world, deliver, channels, status, integrationNow }
}

test('every format has its product in these tests', () => {
  expect(PRODUCTS.map(({ format }) => format.name).toSorted()).toEqual(FORMATS.map(({ name }) => name).toSorted())
})

describe.each(named(PRODUCTS))('%s', (_name, product) => {
  test('accepts openings, repetitions, resolutions, reopenings and tests', async () => {
    await using server = startProduct(product)
    const { tell, open, deliver, channels, deliveries, dispatcher, integrationNow } = worldOf(product, server.url)
    open('iss_1', channels)
    await deliver()
    for (const transition of ['repeated', 'resolved', 'reopened', 'resolved'] as Transition[]) {
      tell(transition, 'iss_1', { channels })
      await deliver()
    }
    await sendTest(dispatcher, integrationNow(), 'https://watch.example')
    expect(server.faults).toEqual([])
    expect(new Set(deliveries().map(({ status }) => status))).toEqual(new Set(['delivered']))
    expect(integrationNow().status).toBe('connected')
  })

  test.each([2, 30])('receives %i issues that open together exactly once', async (count) => {
    await using server = startProduct(product)
    const { open, deliver, channels, deliveries } = worldOf(product, server.url)
    open('iss_first', channels)
    await deliver(1)
    for (let index = 1; index <= count; index++) open(`iss_${index}`, channels)
    await deliver(40)
    expect(server.faults).toEqual([])
    expect(deliveries().map(({ status }) => status)).toEqual(Array(count + 1).fill('delivered'))
    expect(server.requests).toHaveLength(product.format.shows === 'messages' ? 2 : count + 1)
  })
})

test.each(named(PRODUCTS))('credentials that %s echoes are not in the delivery log', async (_name, product) => {
  await using server = receiver(({ path, headers, body }) => {
    const error = `${path} ${headers.authorization} ${body}`
    const echo = { ok: false, success: false, message: error, error, description: error, errors: [error] }
    return Response.json(product.format.name === 'google_chat' ? { error: echo } : echo, { status: 400 })
  })
  const { open, deliver, channels, deliveries, db } = worldOf(product, server.url)
  open('iss_1', channels)
  await deliver(1)
  expect(deliveries()).toMatchObject([{ status: 'failed', lastError: expect.stringMatching(/^HTTP 400: .*…/) }])
  expect(db.serialize().toString('latin1')).not.toContain('planted')
})

/** Every kind of message. */
const MESSAGES: readonly Message[] = [
  ...(['opened', 'reopened', 'repeated', 'resolved'] as const).map((transition) => purchaseMessage({ transition })),
  ...SEVERITIES.map((severity) => withSeverity(severity)),
  fallMessage(),
  testMessage({ at: NOTIFIED_AT, publicUrl: 'https://watch.example', label: 'On call' }),
  failureMessage(purchaseMessage(), { at: NOTIFIED_AT, channel: 'E-mail', reason: 'mailbox full' }),
]

function withSeverity(severity: Severity): Message {
  return purchaseMessage({ issue: { ...PURCHASE_FACTS.issue, severity } })
}

const destinationOf = ({ path, secret = '' }: Product) => ({ url: `https://product.example${path}`, secret })

function checked(product: Product, outbound: HttpOutbound): Record<string, unknown> {
  const { pathname, search } = new URL(outbound.url)
  product.check({
    method: outbound.method,
    path: pathname + search,
    headers: outbound.headers,
    body: outbound.body ?? '',
  })
  return JSON.parse(outbound.body ?? '')
}

function chatTexts(format: ChatFormat, messages: readonly Message[]): ChatText[] {
  const { markup, maxLength } = format
  const single = messages.map((message) => textOfMessage(message, markup, maxLength))
  const members = Array.from({ length: 30 }, (_, index) => ({ message: messages[index % messages.length] as Message }))
  return [...single, ...[2, 30].map((count) => textOfGroup(members.slice(0, count), markup, maxLength))]
}

function incidentRequests(format: IncidentFormat, product: Product, messages: readonly Message[]): HttpOutbound[] {
  return messages.flatMap((message) =>
    (['trigger', 'acknowledge', 'resolve'] as const).map((action) =>
      format.request({ action, key: message.issue?.id ?? 'test-1', message }, destinationOf(product)),
    ),
  )
}

function requestsOf(product: Product, messages: readonly Message[]): HttpOutbound[] {
  const { format } = product
  return format.shows === 'messages'
    ? chatTexts(format, messages).map((content) => format.post(content, destinationOf(product)))
    : incidentRequests(format, product, messages)
}

const MARKUP = [
  '@everyone',
  '@channel',
  '<@1234>',
  '<users/all>',
  '<!here>',
  '#general',
  '[click](https://evil.example)',
  '![x](https://evil.example/x.png)',
  '<https://evil.example|Login>',
  '<a href="https://evil.example">x</a>',
  '<b>',
  '</pre>',
  '```',
  '`',
  '*',
  '**',
  '__',
  '~~',
  '||',
  '\\',
  '&lt;',
  '&amp;',
  '"',
  "'",
  '😀',
  '👩‍👩‍👧',
  '漢',
  'é',
  '\u202e',
  '\n',
]
const hostileText = fc
  .array(fc.oneof(fc.constantFrom(...MARKUP), fc.string({ unit: 'binary', maxLength: 40 })), {
    minLength: 1,
    maxLength: 60,
  })
  .map((parts) => parts.join(''))

const hostileMessage = fc
  .record({ text: hostileText, repeat: fc.integer({ min: 1, max: 60 }), keys: fc.array(hostileText, { maxLength: 8 }) })
  .map(({ text, repeat, keys }) => {
    const long = `x${text.repeat(repeat)}`
    const message = purchaseMessage({
      issue: { ...PURCHASE_FACTS.issue, title: long, notes: long, hosts: Array(20).fill(long) },
      alert: { id: 'alr_1', name: long },
      domain: { id: 'dom_1', name: long },
      finding: {
        summary: long,
        observed: 1,
        expected: 2,
        expectation: long,
        observation: long,
        vendor: long,
        event: long,
        sample: Object.fromEntries(keys.map((key) => [key, long])),
      },
      changes: [1, 2, 3].map((id) => ({ id: `chg_${id}`, title: long, occurredAt: NOTIFIED_AT })),
    })
    return message
  })

describe.each(named(PRODUCTS))('requests to %s', (_name, product) => {
  test('stay within the limits for every kind of message', () => {
    for (const outbound of requestsOf(product, MESSAGES)) checked(product, outbound)
  })

  test('stay within the limits for long and hostile texts', () => {
    fc.assert(
      fc.property(hostileMessage, (message) => {
        for (const outbound of requestsOf(product, [message])) checked(product, outbound)
      }),
      { numRuns: 60 },
    )
  })
})

const HOSTILE = [
  '@everyone',
  '@channel',
  '<!here>',
  '<@1>',
  '[x](https://e.example)',
  '![x](https://e.example)',
  '<https://e.example|x>',
  '<a href="https://e.example">x</a>',
  '[x]: https://e.example',
  '```',
]
const MENTION = /@\w/
const UNESCAPED = /(?<!\\)[[\]<`!]/

/** Patterns of markup that a product would interpret. ntfy interprets none. */
const LIVE_MARKUP: Record<string, RegExp[]> = {
  discord: [MENTION, UNESCAPED],
  google_chat: [MENTION, /</],
  mattermost: [MENTION, UNESCAPED],
  rocket_chat: [MENTION, /<(?!\u200b)|\]\(|`/],
  telegram: [MENTION, /</],
}

describe.each(named(CHATS))('messages in %s', (_name, { format }) => {
  test('contain the facts, the events and the chart of an issue', () => {
    const { headline, text, url } = textOfMessage(purchaseMessage(), format.markup, format.maxLength)
    expect(headline).toBe('New issue · critical')
    expect(url).toBe('https://tags.company.example/issues/iss_01ke7k3h20x6b4n8r1t9v5c7zd')
    for (const part of ['Expected', 'Observed', 'Release 42 of the checkout', 'currency', '▁▁▁'])
      expect(text).toContain(part)
  })

  test('list 20 of 30 issues and count the others', () => {
    const members = Array.from({ length: 30 }, () => ({
      message: buildMessage({ ...PURCHASE_FACTS, finding: null, issue: { ...PURCHASE_FACTS.issue, title: 'Short' } }),
    }))
    const { headline, text, url, severity } = textOfGroup(members, format.markup, format.maxLength)
    expect(headline).toBe('30 issues opened within 30 seconds.')
    expect(text.split('•')).toHaveLength(21)
    expect(text).toEndWith('and 10 more')
    expect([url, severity]).toEqual(['https://tags.company.example/issues', 'critical'])
  })

  test('escape mentions, links and images', () => {
    for (const hostile of HOSTILE) {
      const escaped = format.markup.escape(hostile)
      for (const live of LIVE_MARKUP[format.name] ?? [])
        expect([hostile, escaped]).not.toEqual([hostile, expect.stringMatching(live)])
    }
  })
})

test('Telegram receives well-formed HTML whose text is the original one', () => {
  const product = PRODUCTS.find(({ format }) => format.name === 'telegram') as Product
  const [outbound] = requestsOf(product, [purchaseMessage({ alert: { id: 'alr_1', name: `<b>"A" & 'B'</i>` } })])
  if (!outbound) throw new Error('expected a request')
  expect(parsedHtml(String(checked(product, outbound).text))).toContain(`<b>"A" & 'B'</i>: 128 of 340`)
})

describe.each(named(INCIDENTS))('incidents in %s', (name, product) => {
  const seen = ({ path, body }: { path: string; body: string }) => {
    if (name === 'pagerduty') return `${JSON.parse(body).event_action} ${JSON.parse(body).dedup_key}`
    const [, key, action] = /alerts\/([^/]+)\/(\w+)/.exec(path) ?? []
    return action ? `${action === 'close' ? 'resolve' : action} ${key}` : `trigger ${JSON.parse(body).alias}`
  }

  test('follow the status of the issue', async () => {
    await using server = startProduct(product)
    const { open, deliver, channels, status } = worldOf(product, server.url)
    open('iss_1', channels)
    await deliver()
    for (const to of ['acknowledged', 'open', 'muted', 'resolved', 'open'] as const) {
      status(to)
      await deliver()
    }
    expect(server.faults).toEqual([])
    const actions = ['trigger', 'acknowledge', 'trigger', 'acknowledge', 'resolve', 'trigger']
    expect(server.requests.map(seen)).toEqual(actions.map((action) => `${action} iss_1`))
  })

  test('are resolved once when the issue is resolved automatically', async () => {
    await using server = startProduct(product)
    const { open, tell, deliver, channels } = worldOf(product, server.url)
    open('iss_1', channels)
    await deliver()
    tell('resolved', 'iss_1', { channels })
    await deliver()
    expect(server.requests.map(seen)).toEqual(['trigger iss_1', 'resolve iss_1'])
  })

  test('of a message that was lost on another channel are separate', async () => {
    await using server = startProduct(product)
    await using other = receiver(() => new Response('', { status: 404 }))
    const { db, clock, orgId, issue, tell, deliver, channels } = worldOf(product, server.url)
    const both: AlertChannel[] = [{ type: 'webhook', target: `${other.url}/in` }, ...channels]
    const input = { name: 'Purchase', alertType: 'data_validation', period: '1h', channels: both } as const
    issue('iss_1', createAlert(db, clock, orgId, input).id)
    tell('opened', 'iss_1', { channels: both })
    await deliver()
    expect(server.faults).toEqual([])
    expect(server.requests.map(seen).toSorted()).toEqual(['trigger iss_1', 'trigger iss_1-delivery_failed'])
  })

  test('of two integrations are sent at the same time', async () => {
    await using server = startProduct(product)
    const world = worldOf(product, server.url)
    const { config, secrets } = settingsFor(product, server.url)
    const other = insertIntegration(world.db, world.box, {
      orgId: world.orgId,
      provider: 'webhook',
      label: 'Other',
      createdAt: world.clock.now(),
      config,
      secrets: { secret: `${secrets.secret}`.replace('planted', 'another') },
    })
    world.open('iss_1', [...world.channels, { type: 'webhook', target: other.id }])
    await world.deliver(1)
    expect(server.requests).toHaveLength(2)
  })

  test('of a test are separate and are resolved at once', async () => {
    await using server = startProduct(product)
    const { dispatcher, integrationNow } = worldOf(product, server.url)
    await sendTest(dispatcher, integrationNow(), 'https://watch.example')
    const [trigger = '', resolve] = server.requests.map(seen)
    expect(server.requests).toHaveLength(2)
    expect(trigger).toMatch(/^trigger test-\d+$/)
    expect(resolve).toBe(trigger.replace('trigger', 'resolve'))
    expect(server.requests[0]?.body).toMatch(/"(severity|priority)":"(info|P5)"/)
  })
})

test('nothing is sent during a delay that a product requests in the body', async () => {
  const [product] = PRODUCTS.filter(({ format }) => format.name === 'telegram')
  if (!product) throw new Error('expected a product')
  let isLimited = true
  const limited = {
    ...product,
    accepted: () => {
      if (!isLimited) return product.accepted()
      isLimited = false
      return Response.json(
        { ok: false, description: 'Too Many Requests', parameters: { retry_after: 60 } },
        { status: 429 },
      )
    },
  }
  await using server = startProduct(limited)
  const { open, channels, clock, deliver, dispatcher } = worldOf(limited, server.url)
  open('iss_1', channels)
  dispatcher.start()
  await dispatcher.idle()
  clock.advance(30 * SECOND_MS)
  dispatcher.start()
  await dispatcher.idle()
  expect(server.requests).toHaveLength(1)
  clock.advance(MINUTE_MS)
  await deliver()
  expect(server.requests).toHaveLength(2)
})
