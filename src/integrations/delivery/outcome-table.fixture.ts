import { describe, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import type { AlertChannel } from '../../alerts/alert.ts'
import type { ProviderType } from '../../contract/products.ts'
import { HOUR_MS, type Instant, SECOND_MS } from '../../core/clock.ts'
import { type Received, receiver } from '../../transport/receiver.fixture.ts'
import type { IntegrationStatus } from '../integration.ts'
import type { Channel } from '../providers/channel.ts'
import { findIntegration, insertIntegration } from '../store.ts'
import { claimNext, laneOf } from './delivery-queues.ts'
import { groupFixture } from './group.fixture.ts'

/** Expected status of a delivery after one attempt. */
export interface Expected {
  /** `wait`: the delivery is retried without counting the attempt. */
  verdict: 'delivered' | 'retry' | 'broken' | 'wait'
  /** Delay until the next attempt. Default for `retry`: 5 s. */
  waitMs?: number
  /** Substring of the reason. */
  reason?: string
  /**
   * Status of the integration afterwards. Default: `connected` if the verdict is `delivered` or `wait`, otherwise
   * `failing`.
   */
  status?: IntegrationStatus
}

export interface Row extends Expected {
  /** Description of the other service's response to the tested call, as documented in its reference. */
  what: string
  answer(now: Instant): Response
}

export interface OutcomeTable {
  channel: Channel
  /** Settings and secrets of an integration that uses a server at `url`. Absent: notifications are sent to `target`. */
  integration?(url: string): { config: Record<string, unknown>; secrets: Record<string, unknown> }
  target?(url: string): string
  /** Part of the target after the integration's id. */
  detail?: string
  /** State of the provider. Required if the integration must be complete. */
  state?: unknown | ((url: string) => unknown)
  /** Responds to other calls (tokens, searches). Returns null for the tested call. */
  answers?(request: Received): Response | Promise<Response> | null
  /** Successful response to the tested call. */
  success(): Response
  /**
   * Expected outcome for a status. Null for the default: 2xx is delivered, 408, 425, 429 and 5xx are retried, and every
   * other status fails.
   */
  expected?(status: number): Expected | null
  /** Error responses with their expected outcomes. */
  rows?: readonly Row[]
  /** Expected outcomes of broken connections. Default: `retry`. */
  faults?: Partial<Record<FaultName, Expected>>
  /** The operator's provider settings for a server at `url`. */
  operator?(url: string): Record<string, string>
}

const HTTP_OK = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'

/** Ways in which a connection can end after the complete request has been received. */
const FAULTS = {
  'closed without a response': (socket: Socket) => socket.destroy(),
  reset: (socket: Socket) => socket.resetAndDestroy(),
  'closed within the headers': (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'),
  'closed within the body': (socket: Socket) => socket.end(`${HTTP_OK}content-length: 100\r\n\r\n{"ok": tr`),
  'a response that is not HTTP': (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
  'no response': () => undefined,
  'a response that stalls within the headers': (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-le'),
  'a response that stalls within the body': (socket: Socket) =>
    socket.write(`${HTTP_OK}content-length: 100\r\n\r\n{"ok": tr`),
} satisfies Record<string, (socket: Socket) => unknown>
type FaultName = keyof typeof FAULTS | 'refused'

const NOT_NOW = [408, 425, 429]
const usual = (status: number): Expected => {
  if (status >= 200 && status < 300) return { verdict: 'delivered' }
  const verdict = NOT_NOW.includes(status) || status >= 500 ? 'retry' : 'broken'
  return { verdict, reason: `HTTP ${status}` }
}

const BODYLESS = [101, 204, 205, 304]

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
/** Registered statuses, statuses of well-known proxies, and unassigned ones. */
const STATUSES = [
  ...range(200, 208),
  226,
  299,
  ...range(300, 308),
  399,
  ...range(400, 431),
  444,
  449,
  451,
  460,
  463,
  494,
  498,
  499,
  ...range(500, 511),
  ...range(520, 530),
  561,
  598,
  599,
]

/** Outcome of one attempt. `status` is null for a direct address. */
type Became = Omit<Expected, 'status'> & { status: IntegrationStatus | null }

/** Sends openings through a provider. Each opening is the first in its channel. */
function world(table: OutcomeTable, url: string, timeoutMs = 5000) {
  const world = groupFixture({
    timeoutMs,
    channels: [table.channel],
    ...(table.operator ? { operator: table.operator(url) } : {}),
  })
  const { db, box, orgId, clock, deliveries, dispatcher, open } = world
  let count = 0
  const make = () => {
    const { config, secrets } = table.integration?.(url) ?? { config: {}, secrets: {} }
    const { type } = table.channel
    const { id } = insertIntegration(db, box, {
      orgId,
      provider: type as ProviderType,
      label: 'Table',
      config,
      secrets,
      createdAt: clock.now(),
    })
    const state = typeof table.state === 'function' ? table.state(url) : table.state
    if (state !== undefined) {
      db.prepare('UPDATE integration SET state = ? WHERE id = ?').run(JSON.stringify(state), id)
    }
    return id
  }
  const integrationId = table.integration ? make() : null

  /** Sends another opening and returns the outcome. */
  async function attempt(): Promise<Became> {
    clock.advance(HOUR_MS)
    dispatcher.forget()
    if (integrationId) db.prepare(`UPDATE integration SET status = 'connected' WHERE id = ?`).run(integrationId)
    const target = integrationId ? `${integrationId}${table.detail ? `:${table.detail}` : ''}` : table.target?.(url)
    const channel = { type: table.channel.type, target: target ?? url } as AlertChannel
    open(`iss_${++count}`, [channel])
    const before = clock.now()
    const queue = { orgId, channelType: channel.type, channelTarget: channel.target }
    const delivery = claimNext(db, queue, before)
    if (!delivery) throw new Error('expected a due delivery')
    await dispatcher.send({ delivery, others: [] }, laneOf(db, queue))
    const row = deliveries().at(-1)
    if (!row) throw new Error('expected a delivery')
    db.prepare('DELETE FROM delivery').run()
    const status = integrationId ? findIntegration(db, { orgId, id: integrationId }).status : null
    const waits = { waitMs: row.dueAt - before }
    if (row.status === 'delivered') return { verdict: 'delivered', status }
    const reason = row.lastError ?? ''
    if (row.status === 'failed') return { verdict: 'broken', reason, status }
    return row.attempts === 0 ? { verdict: 'wait', ...waits, status } : { verdict: 'retry', ...waits, reason, status }
  }
  return { ...world, attempt }
}

function hold(what: string, became: Became, expected: Expected) {
  const { verdict, waitMs, reason = '', status } = expected
  const usualStatus = verdict === 'delivered' || verdict === 'wait' ? 'connected' : 'failing'
  expect([what, became]).toEqual([
    what,
    {
      verdict,
      ...(verdict === 'retry' ? { waitMs: waitMs ?? 5 * SECOND_MS } : {}),
      ...(verdict === 'wait' ? { waitMs: waitMs ?? expect.any(Number) } : {}),
      ...(verdict === 'retry' || verdict === 'broken' ? { reason: expect.stringContaining(reason) } : {}),
      status: became.status === null ? null : (status ?? usualStatus),
    },
  ])
}

/** A server whose response to the tested call can be set. */
function chosen(table: OutcomeTable) {
  const choice = { answer: (): Response => table.success() }
  const server = receiver((request) => table.answers?.(request) ?? choice.answer())
  return { ...server, choice }
}

/** A server that reads a request and ends the connection in a configurable way. */
async function breaking() {
  const choice = { fault: (_socket: Socket): unknown => undefined }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', () => choice.fault(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    choice,
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * Tests the outcomes of deliveries through a provider for every HTTP status, for its error responses and for broken
 * connections. Verifies whether a delivery is delivered, retried (and when), or failed. Call this in the provider's
 * test.
 */
export function testOutcomes(name: string, table: OutcomeTable): void {
  describe(`delivery outcomes for ${name}`, () => {
    test('every HTTP status', async () => {
      await using server = chosen(table)
      const { attempt } = world(table, server.url)
      for (const status of STATUSES) {
        const body = BODYLESS.includes(status) ? null : ''
        const isSuccess = status >= 200 && status < 300
        server.choice.answer = () => {
          const good = isSuccess && body !== null ? table.success() : null
          return new Response(good ? good.body : body, { status })
        }
        hold(`HTTP ${status}`, await attempt(), table.expected?.(status) ?? usual(status))
      }
    })

    test('a requested delay', async () => {
      await using server = chosen(table)
      const { attempt, clock } = world(table, server.url)
      const date = () => new Date(clock.now() + 10 * 60 * SECOND_MS).toUTCString()
      for (const status of [429, 503]) {
        for (const [retryAfter, waitMs] of [
          ['90', 90 * SECOND_MS],
          ['1', 5 * SECOND_MS],
          ['soon', 5 * SECOND_MS],
          ['-1', 5 * SECOND_MS],
          [date, 600 * SECOND_MS],
          ['9999999', 24 * HOUR_MS],
        ] as const) {
          server.choice.answer = () => {
            const value = typeof retryAfter === 'string' ? retryAfter : retryAfter()
            return new Response('', { status, headers: { 'retry-after': value } })
          }
          const expected = table.expected?.(status) ?? usual(status)
          const what = `HTTP ${status} Retry-After ${retryAfter}`
          hold(what, await attempt(), expected.verdict === 'broken' ? expected : { ...expected, waitMs })
        }
      }
    })

    for (const { what, answer, ...expected } of table.rows ?? []) {
      test(what, async () => {
        await using server = chosen(table)
        const { attempt, clock } = world(table, server.url)
        server.choice.answer = () => answer(clock.now())
        hold(what, await attempt(), expected)
      })
    }

    test('broken connections', async () => {
      await using server = await breaking()
      const { attempt } = world(table, `http://127.0.0.1:${server.port}`, 300)
      for (const [fault, act] of Object.entries(FAULTS)) {
        server.choice.fault = act
        hold(fault, await attempt(), table.faults?.[fault as FaultName] ?? { verdict: 'retry' })
      }
      const nobody = world(table, `http://127.0.0.1:${await freePort()}`)
      hold('refused', await nobody.attempt(), table.faults?.refused ?? { verdict: 'retry', reason: 'ECONNREFUSED' })
    })
  })
}

/** Returns a port on which nothing listens. */
async function freePort(): Promise<number> {
  await using server = await breaking()
  return server.port
}
