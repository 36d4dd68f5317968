import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MAX_RULE_COST } from '../../src/conditions/condition.ts'
import type { Answer } from '../fixtures.ts'
import { ask, call, initialize, type Server, startServer, temporaryFolder, until } from '../run-program.ts'

/*
 * A caller with a read-only key requests more than the server can process. The attacker is limited by read permission,
 * a single key, and the maximum request size. The server is a separate process, so that the tests do not slow it down.
 */

/**
 * Number of events. Matching the patterns below takes the engine about 3 ms per event, so that a query takes longer
 * than metrics are cached.
 */
const EVENTS = 20_000
const SLOW_PATTERNS = ['A[AB12]{100}X', 'A[AB12]{101}X', 'A[AB12]{102}X']
const LIMITED = { env: { TAGWARDEN_REQUEST_TIMEOUT_S: '3' } }

const folder = temporaryFolder()
let server: Server
let owner: string
let reader: string
let token: string
let domainId: string

beforeAll(async () => {
  owner = await initialize(folder.path)
  server = await startServer(folder.path)
  const domain = await ask('POST', `${server.url}/v1/domains`, owner, { name: 'shop.example' })
  token = domain.token
  domainId = domain.id
  const invited = await ask('POST', `${server.url}/v1/org/members`, owner, { email: 'r@example.com', role: 'viewer' })
  const acceptance = { token: invited.inviteToken, password: 'battery staple horse' }
  reader = (await ask('POST', `${server.url}/v1/auth/invite`, '', acceptance)).token
  for (let sent = 0; sent < EVENTS; sent += 1000) await send(slowEvents(1000))
})
afterAll(async () => {
  await server.stop()
  folder[Symbol.dispose]()
})

let seed = 1
function slowText(): string {
  return Array.from({ length: 200 }, () => {
    seed = (seed * 48_271) % 2_147_483_647
    return 'AB12'[seed % 4]
  }).join('')
}

const slowEvents = (count: number) =>
  Array.from({ length: count }, () => ({ vendor: 'Shop', event: 'view', params: { text: slowText() } }))
const send = (events: object[]) => ask('POST', `${server.url}/api/v1/events?token=${token}`, owner, { events })

const rule = (more: object) => ({
  name: 'Hostile',
  alertType: 'data_validation',
  period: '1h',
  channels: [{ type: 'email', target: 'ann@example.com' }],
  ...more,
})
const slowRule = () =>
  rule({ conditions: { logic: 'any', items: [{ parameter: 'text', op: 'regex', values: SLOW_PATTERNS }] } })

/** Returns twenty groups of fifty conditions with this many values each. */
const grouped = (values: number, op: string, textOf: (index: number) => string) =>
  rule({
    conditionGroups: Array.from({ length: 20 }, (_, group) => ({
      op: 'any',
      items: Array.from({ length: 50 }, (_, item) => ({
        parameter: 'text',
        op,
        values: Array.from({ length: values }, (_, value) => textOf(group * 10_000 + item * 100 + value)),
      })),
    })),
  })

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

const healthz = async () => expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
/** Sends a query that can be aborted. */
const asking = (path: string, body: object | undefined, signal: AbortSignal) =>
  call(body ? 'POST' : 'GET', `${server.url}${path}`, { as: reader, body, signal }).catch(() => null)

const atRest = () =>
  until(
    'the engine to be idle',
    async () => (await metric('tagwarden_questions_running')) + (await metric('tagwarden_queries_running')) === 0,
    90_000,
  )

// Attacker: one request body, sent with a read-only key. Without the limits, the server hung for 13 s on 1.9 MB of
// patterns and for minutes on 5.4 MB.
describe('a rule that is too large', () => {
  const long = (index: number) => `${index}${'x'.repeat(900)}`
  const heavy = (index: number) => `[AB]{2,120}1?[B12]{3,90}[^d]{20,200}[h-z]$${index}`
  const TOO_DEAR = new RegExp(
    String.raw`^rule\.condition\S+: the conditions up to here cost \d+, but a rule can cost at most ${MAX_RULE_COST}`,
  )
  const RULES: [string, number, object, number, RegExp][] = [
    ['1.9 MB of strings', 1.9e6, grouped(2, 'equals', long), 413, /^body: is larger than/],
    ['5.4 MB of strings', 5.4e6, grouped(6, 'equals', long), 413, /^body: is larger than/],
    ['1.9 MB of patterns', 1.9e6, grouped(36, 'regex', heavy), 413, /^body: is larger than/],
    ['0.9 MB of strings', 0.9e6, grouped(1, 'equals', long), 400, TOO_DEAR],
    ['a thousand patterns', 1e5, grouped(1, 'regex', heavy), 400, TOO_DEAR],
    [
      'short but expensive patterns',
      1000,
      rule({
        conditions: {
          logic: 'any',
          items: Array.from({ length: 50 }, (_, at) => ({ parameter: 'text', op: 'regex', values: [heavy(at)] })),
        },
      }),
      400,
      TOO_DEAR,
    ],
  ]

  test.each(RULES)('with %s is rejected before it is evaluated', async (_what, size, one, status, message) => {
    expect(JSON.stringify({ rule: one }).length).toBeGreaterThan(size * 0.8)
    for (const path of ['/v1/alerts/preview', '/v1/alerts/backtest']) {
      const refused = await call('POST', `${server.url}${path}`, { as: reader, body: { rule: one } })
      expect([refused.status, refused.body]).toEqual([status, { error: expect.stringMatching(message) }])
      await healthz()
    }
  })

  test('is also rejected for assistants, with an error message', async () => {
    const params = { name: 'preview_alert', arguments: { rule: grouped(6, 'equals', long) } }
    const response = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${reader}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    })
    const { result } = (await response.json()) as { result: { isError: boolean; content: [{ text: string }] } }
    expect([result.isError, result.content[0].text]).toEqual([true, expect.stringMatching(TOO_DEAR)])
    await healthz()
  })
})

// Attacker: one viewer with thirty concurrent requests, each of which keeps a core busy for at least 20 s.
describe('thirty concurrent queries', () => {
  test("of one user do not block other users' queries, collection, the live view or alert evaluation", async () => {
    const alert = await ask('POST', `${server.url}/v1/alerts`, owner, {
      ...rule({ conditions: { logic: 'any', items: [{ parameter: 'broken', op: 'not_blank' }] } }),
      name: 'Broken',
    })
    const abort = new AbortController()
    const insights = Array.from({ length: 8 }, () => asking('/v1/events/dictionary?hours=168', undefined, abort.signal))
    const answers: (Answer | null)[] = []
    const questions = Array.from({ length: 30 }, async (_, index) => {
      const body = { rule: slowRule() }
      const asked = [
        () => asking('/v1/alerts/preview', body, abort.signal),
        () => asking('/v1/alerts/backtest', body, abort.signal),
        () => asking('/v1/events?q=nowhere&limit=200', undefined, abort.signal),
      ][index % 3]
      answers.push((await asked?.()) ?? null)
    })
    await until('all slots to be in use', async () => (await metric('tagwarden_questions_running')) >= 2)

    const search = await call('GET', `${server.url}/v1/events?limit=1`, { as: owner })
    expect([search.status, search.body.events?.length]).toEqual([200, 1])
    // The first request enables the live view.
    const live = () => ask('GET', `${server.url}/v1/domains/${domainId}/live`, owner)
    await live()
    await send([{ vendor: 'Shop', event: 'buy', params: { broken: 'yes' } }])
    const shown = (await live()).events.map((one: { event: { event: string } }) => one.event.event)
    expect(shown).toContain('buy')
    await until('an issue', async () => {
      const { issues } = await ask('GET', `${server.url}/v1/issues?alertId=${alert.id}`, owner)
      return issues.length > 0
    })
    await healthz()
    // Some of the thirty queries are still unanswered, so the steps above ran while the queries were waiting.
    expect(answers.length).toBeLessThan(30)
    abort.abort()
    await Promise.all([...questions, ...insights])
    const refused = answers.filter((answer) => answer !== null && answer.status !== 200)
    // For this key, two queries run and twenty wait. The rest are rejected and must be retried later.
    expect(refused.length).toBeGreaterThanOrEqual(8)
    for (const answer of refused) {
      expect([answer?.status, answer?.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)])
    }
    await atRest()
  })
})

// Attacker: a caller that disconnects, or that sends a query which exceeds the response time limit.
describe('an abandoned query', () => {
  test('is stopped in the engine, too, when the caller disconnects', async () => {
    const abort = new AbortController()
    const answer = asking('/v1/alerts/preview', { rule: slowRule() }, abort.signal)
    await until('the engine to be busy', async () => (await metric('tagwarden_queries_running')) > 0)
    abort.abort()
    expect(await answer).toBeNull()
    await atRest()
  })

  test('is stopped in the engine, too, when it exceeds the time limit', async () => {
    await server.stop()
    server = await startServer(folder.path, LIMITED)
    const late = await call('POST', `${server.url}/v1/alerts/preview`, { as: reader, body: { rule: slowRule() } })
    expect([late.status, late.headers.get('retry-after'), late.body]).toEqual([
      503,
      '1',
      { error: 'POST /v1/alerts/preview: took longer than 3 s' },
    ])
    await atRest()
  })
})
