import { expect, test } from 'bun:test'
import type { SeenRequest } from './traffic.ts'
import { TrafficLog } from './traffic-log.ts'

const never = new AbortController().signal

function request(log: TrafficLog, tab: string): SeenRequest {
  return {
    number: log.nextNumber(),
    tab,
    at: 0,
    host: 'shop.example',
    path: '/',
    url: 'https://shop.example/',
    method: 'GET',
    resourceType: 'xhr',
    requestHeaders: [],
    body: null,
    vendor: null,
    answered: false,
    status: null,
    statusText: '',
    responseHeaders: [],
    mimeType: '',
    bytes: 0,
    waitMs: null,
    durMs: null,
    error: null,
  }
}

test('a period without requests begins when the last request has ended, in one tab and in all tabs', async () => {
  const log = new TrafficLog()
  const [one, other] = [request(log, 'one'), request(log, 'other')]
  log.add(one, true)
  log.add(other, true)
  expect(log.underWay).toBe(2)
  expect(await log.quiet(1, 30, never)).toBe(false)
  log.end(one)
  expect(await log.quiet(1, 10_000, never, 'one')).toBe(true)
  expect(await log.quiet(1, 30, never)).toBe(false)
  const silence = log.quiet(1, 10_000, never)
  log.end(other)
  expect(await silence).toBe(true)
  expect(other.durMs).toBeGreaterThanOrEqual(0)
})

test('requests that are not awaited do not interrupt a period without requests', async () => {
  const log = new TrafficLog()
  log.add(request(log, 'one'), false)
  expect(log.underWay).toBe(0)
  expect(await log.quiet(1, 10_000, never)).toBe(true)
})

test('waiting for a period without requests can be cancelled', async () => {
  const log = new TrafficLog()
  log.add(request(log, 'one'), true)
  const stopping = new AbortController()
  const silence = log.quiet(1, 60_000, stopping.signal)
  stopping.abort(new Error('stopped'))
  expect(await silence.catch(String)).toContain('stopped')
})

test('dropped requests are removed with their events, and numbering continues', () => {
  const log = new TrafficLog()
  for (const tab of ['one', 'other', 'one']) log.add(request(log, tab), false)
  for (const number of [1, 3]) {
    const { at, host, path, status, answered } = request(new TrafficLog(), 'one')
    log.addEvent({
      request: number,
      at,
      host,
      path,
      status,
      answered,
      vendor: 'V',
      event: 'e',
      account: null,
      params: {},
    })
  }
  log.forget(3)
  expect(log.requests.map(({ number }) => number)).toEqual([3])
  expect(log.events.map(({ request }) => request)).toEqual([3])
  expect(log.nextNumber()).toBe(4)
})
