import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type RunningServer, startServer } from '../../src/commands/start-server.ts'
import { readConfig } from '../../src/config.ts'
import { SECOND_MS } from '../../src/core/clock.ts'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import type { Answer } from '../fixtures.ts'
import { ask, call, runProgram, temporaryFolder, until } from '../run-program.ts'
import { tellMainStory } from './main-story.ts'

/*
 * Tests the main use case over HTTP, with servers that listen on ports, and the real clock. Everything goes through the
 * API.
 */

const folder = temporaryFolder()
const hook = receiver()
const bugs: unknown[] = []
let server: RunningServer
let key: string

beforeAll(async () => {
  const init = ['init', '--data', folder.path, '--org', 'Acme', '--email', 'alice@example.com', '--json']
  const { stdout, stderr } = await runProgram(init)
  expect(stderr).toBe('')
  key = JSON.parse(stdout).apiKey
  const flags = {
    data: folder.path,
    listen: '127.0.0.1:0',
    collectListen: '127.0.0.1:0',
    publicUrl: 'https://watch.example',
    outboundAllow: '127.0.0.1',
    rateKeyPerMinute: '1000000',
  }
  const log = { info() {}, warn() {}, error: (error: unknown) => void bugs.push(error) }
  server = await startServer(readConfig(flags, {}), log)
})

afterAll(async () => {
  await server.stop()
  await hook[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
  expect(bugs).toEqual([])
})

const v1 = (method: string, path: string, body?: unknown): Promise<Answer['body']> =>
  ask(method, `${server.url}/v1${path}`, key, body)
const collect = async (token: string, batch: object): Promise<Answer['body']> => {
  const answer = await call('POST', `${server.collectUrl}/api/v1/events`, { as: token, body: batch })
  expect(answer.status).toBe(202)
  return answer.body
}
const newDomain = (name: string): Promise<{ id: string; token: string }> => v1('POST', '/domains', { name })
const eventsOf = async (query: Record<string, string | number>): Promise<{ id: string; seq: number }[]> =>
  (await v1('GET', `/events?${new URLSearchParams(query as Record<string, string>)}`)).events

test('a captured request opens an issue, which sends a notification and can be acknowledged', () =>
  tellMainStory({ v1, collect, requests: hook.requests, hookUrl: `${hook.url}/hook` }))

test.concurrent('usage counts accepted events within 10 seconds, and counts a repeated batch only once', async () => {
  const { id: domainId, token } = await newDomain('Counted')
  const events = Array.from({ length: 40 }, (_, index) => ({ vendor: 'Shop', event: 'view', id: `e${index}` }))
  const batches = [1, 2, 3].map((n) => ({ batchId: `counted-${n}`, page: { url: 'https://counted.example/' }, events }))
  const answers = await Promise.all([...batches, ...batches].map((batch) => collect(token, batch)))
  expect(answers).toEqual(answers.map(() => ({ accepted: 40, rejected: 0, errors: [] })))
  const counted = async () => {
    const { days } = await v1('GET', '/usage?days=2')
    const mine = days.filter((day: { domainId: string }) => day.domainId === domainId)
    return mine.reduce((sum: number, day: { events: number }) => sum + day.events, 0)
  }
  await until('the event count', async () => (await counted()) >= 120, 10 * SECOND_MS)
  expect(await counted()).toBe(120)
  await collect(token, batches[0] ?? {})
  const domain = await v1('GET', `/domains/${domainId}`)
  expect(domain).toMatchObject({ events24h: 120, status: 'active' })
  const { hostnames } = await v1('GET', `/domains/${domainId}/hostnames`)
  expect(hostnames).toMatchObject([{ hostname: 'counted.example', status: 'unreviewed', events24h: 120 }])
  const { diskBytes, oldestEventAt } = await v1('GET', '/usage')
  expect(diskBytes).toBeGreaterThan(0)
  expect(oldestEventAt).toBeLessThanOrEqual(Date.now())
})

test.concurrent('rejected events are listed with the reason', async () => {
  const { id: domainId, token } = await newDomain('Ledger')
  await v1('PUT', `/domains/${domainId}/hostnames/evil.example`, { status: 'denied' })
  await collect(token, { events: [{ vendor: 'Shop' }, { vendor: '' }, { vendor: 5 }], hits: [{ url: 'nonsense' }] })
  const dropped = await collect(token, { page: { url: 'https://evil.example/' }, events: [{ vendor: 'Shop' }] })
  expect(dropped).toMatchObject({ accepted: 0, rejected: 1 })
  const rejected = async () => (await v1('GET', `/events/rejected?domainId=${domainId}`)).rejections
  const list = await until('the rejected events', async () => ((await rejected()).length >= 4 ? rejected() : null))
  const reasons = list.map(({ reason, count }: { reason: string; count: number }) => `${count} ${reason}`)
  expect(reasons.sort()).toEqual([
    expect.stringMatching(/^1 events: .*denied/),
    expect.stringMatching(/^1 events: vendor: /),
    expect.stringMatching(/^1 events: vendor: /),
    expect.stringMatching(/^1 hits: url: /),
  ])
})

describe('event search', () => {
  test.concurrent('finds events by every parameter', async () => {
    const { id: domainId, token } = await newDomain('Searched')
    const before = Date.now()
    await collect(token, {
      page: { url: 'https://searched.example/deep/path', title: 'A Title' },
      events: [
        { id: 'a', vendor: 'Shop', event: 'view', params: { colour: 'needle-red' } },
        { id: 'b', vendor: 'Shop', event: 'buy', params: { colour: 'blue' } },
        { id: 'c', vendor: 'Other', event: 'view', params: { colour: 'Needle' } },
      ],
    })
    const found = async (query: Record<string, string | number>) =>
      (await eventsOf({ domainId, ...query }))
        .map(({ id }) => id)
        .sort()
        .join('')
    const cases: [Record<string, string | number>, string][] = [
      [{}, 'abc'],
      [{ vendor: 'Shop' }, 'ab'],
      [{ vendor: 'shop' }, ''],
      [{ event: 'view' }, 'ac'],
      [{ vendor: 'Shop', event: 'view' }, 'a'],
      [{ q: 'needle' }, 'a'],
      [{ q: 'edle' }, 'ac'],
      [{ q: 'searched.example' }, 'abc'],
      [{ q: '/deep/path' }, 'abc'],
      [{ q: 'A Title' }, 'abc'],
      [{ q: 'colour' }, ''],
      [{ q: '%' }, ''],
      [{ limit: 1 }, 'c'],
      [{ from: before }, 'abc'],
      [{ to: before }, ''],
      [{ from: before, to: Date.now() + 60_000 }, 'abc'],
      [{ from: Date.now() + 60_000, to: Date.now() + 120_000 }, ''],
    ]
    for (const [query, ids] of cases) expect([query, await found(query)]).toEqual([query, ids])
    const ofNone = await call('GET', `${server.url}/v1/events?domainId=dom_none`, { as: key })
    expect(ofNone).toMatchObject({ status: 404, body: { error: 'query.domainId: no such domain' } })
    // The results are the same after the events have been moved to the warehouse.
    await until('the events to be moved', async () => (await v1('GET', `/domains/${domainId}`)).events24h === 3)
    for (const [query, ids] of cases) expect([query, await found(query)]).toEqual([query, ids])
  })

  test.concurrent('returns each event once across pages while other events arrive and are moved to the warehouse', async () => {
    const { id: domainId, token } = await newDomain('Walked')
    let sent = 0
    const send = async (count: number) => {
      const ids = Array.from({ length: count }, () => `e${sent++}`)
      await collect(token, { events: ids.map((id) => ({ id, vendor: 'Shop', event: 'view' })) })
      return ids
    }
    const walk = async (): Promise<string[]> => {
      const ids: string[] = []
      let cursor = ''
      do {
        const query = new URLSearchParams({ domainId, limit: '37', ...(cursor ? { cursor } : {}) })
        const { events, nextCursor } = await v1('GET', `/events?${query}`)
        ids.push(...events.map(({ id }: { id: string }) => id))
        cursor = nextCursor ?? ''
        await send(1)
      } while (cursor)
      return ids
    }
    const first = await send(150)
    const isMoved = async () => (await v1('GET', `/domains/${domainId}`)).events24h >= 150
    for (let rounds = 0; rounds < 3 || !(await isMoved()); rounds++) {
      const seen = await walk()
      expect(new Set(seen).size).toBe(seen.length)
      expect(first.filter((id) => !seen.includes(id))).toEqual([])
      // The events are sorted, newest first.
      expect(seen).toEqual(seen.toSorted((a, b) => Number(b.slice(1)) - Number(a.slice(1))))
    }
  })
})

describe('requests without a credential', () => {
  test.each<[string, string, RegExp]>([
    ['/healthz', 'application/json', /^\{"ok":true\}$/],
    ['/metrics', 'text/plain; version=0.0.4', /^tagwarden_events_stored_total \d+$/m],
    ['/openapi.json', 'application/json', /"openapi":"3\.1\.0"/],
    ['/', 'text/html; charset=utf-8', /<title>Tagwarden<\/title>/],
  ])('succeed for GET %s', async (path, type, content) => {
    const response = await fetch(server.url + path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toStartWith(type)
    expect(await response.text()).toMatch(content)
  })

  test('/readyz reports the age of background work', async () => {
    const ready = await until('a flush and an evaluation', async () => {
      const { status, body } = await call('GET', `${server.url}/readyz`)
      return status === 200 && body.lastFlushAgeMs !== null && body.lastEvaluationAgeMs !== null && body
    })
    expect(ready).toMatchObject({ ok: true })
    for (const age of [ready.lastFlushAgeMs, ready.lastEvaluationAgeMs]) {
      expect(age).toBeGreaterThanOrEqual(0)
      expect(age).toBeLessThan(30 * SECOND_MS)
    }
  })

  test('metrics are in valid Prometheus format', async () => {
    const lines = (await (await fetch(`${server.url}/metrics`)).text()).trimEnd().split('\n')
    for (const line of lines)
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? -?[\d.e+-]+)$/)
  })

  test('the page loads nothing from other hosts', async () => {
    const { headers } = await fetch(`${server.url}/`)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    const page = await (await fetch(`${server.url}/`)).text()
    expect(page.match(/(?:src|href)="https?:/g)).toBeNull()
    const named = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(new Set(named.map((path) => path.replace(/^.*\./, '')))).toEqual(new Set(['css', 'js']))
    for (const path of named) {
      const file = await fetch(server.url + path)
      // Compression does not make the smallest files smaller.
      const isPacked = file.headers.get('content-encoding') === 'br' || (await file.bytes()).length < 300
      expect([path, file.status, isPacked]).toEqual([path, 200, true])
      expect(file.headers.get('cache-control')).toContain('immutable')
    }
  })
})

describe('a server with a separate collector port', () => {
  const elsewhere = async (url: string, as: string) => {
    const answer = await call('POST', url, { as, body: {} })
    expect(answer).toMatchObject({ status: 404, body: { error: 'no such route' } })
  }

  test('does not collect events on the API port', async () => {
    expect(server.url).not.toBe(server.collectUrl)
    const { token } = await newDomain('Ports')
    await elsewhere(`${server.url}/api/v1/events`, token)
    expect(await collect(token, {})).toEqual({ accepted: 0, rejected: 0, errors: [] })
  })

  test.each(['/v1/alerts', '/v1/whoami', '/', '/metrics', '/openapi.json', '/healthz'])(
    'does not serve %s on the collector port',
    async (path) => {
      await elsewhere(server.collectUrl + path, key)
      expect((await fetch(server.collectUrl + path)).status).toBe(404)
    },
  )

  test('rejects API keys for sending events, and property tokens for reading', async () => {
    const { token } = await newDomain('Tokens')
    expect(await call('POST', `${server.collectUrl}/api/v1/events`, { as: key, body: {} })).toMatchObject({
      status: 401,
    })
    expect(await call('GET', `${server.url}/v1/whoami`, { as: token })).toMatchObject({ status: 401 })
  })
})

test('a body that exceeds every limit is rejected with a JSON error', async () => {
  const { token } = await newDomain('Large')
  for (const [url, as] of [
    [`${server.url}/v1/domains`, key],
    [`${server.collectUrl}/api/v1/events`, token],
  ] as const) {
    const answer = await call('POST', url, { as, body: { name: 'x'.repeat(9 * 1024 * 1024) } })
    expect(answer).toMatchObject({ status: 413, body: { error: expect.stringContaining('larger than') } })
  }
})
