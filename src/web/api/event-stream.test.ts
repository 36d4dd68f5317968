import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { StreamEvent } from './event-stream.ts'
import { serveBytes, servePages } from './page-server.fixture.ts'

const loadModule = () => import('./event-stream.ts')

/** A response that consists of these parts, each in its own chunk. */
function chunked(parts: readonly Uint8Array[]): Response {
  let next = 0
  const body = new ReadableStream({
    async pull(controller) {
      const part = parts[next++]
      if (part === undefined) return controller.close()
      controller.enqueue(part)
      // Sent before the next part is produced.
      await new Promise((sent) => setImmediate(sent))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

async function readAll(path = '/v1/stream'): Promise<StreamEvent[]> {
  const { readEvents } = await loadModule()
  return Array.fromAsync(readEvents(path, {}))
}

test.each<[string, string, StreamEvent[]]>([
  ['an event', 'event: issue\nid: 1\ndata: {"a":1}\n\n', [{ event: 'issue', id: '1', data: { a: 1 } }]],
  ['fields without a space', 'event:issue\ndata:[2]\n\n', [{ event: 'issue', id: null, data: [2] }]],
  ['a comment', ': alive\n\n', [{ event: null, id: null, data: null }]],
  ['an event without data', 'event: reset\n\n', [{ event: 'reset', id: null, data: null }]],
  [
    'the most recent id for events without one',
    'id: 7\nevent: a\n\nevent: b\n\n: alive\n\n',
    ['a', 'b', null].map((event) => ({ event, id: '7', data: null })),
  ],
  [
    'colons and line separators in data',
    'event: a\ndata: "b: c\u2028d\u2029e"\n\n',
    [{ event: 'a', id: null, data: 'b: c\u2028d\u2029e' }],
  ],
  ['nothing for an event that is cut off', 'event: a\n\nevent: b\ndata: {"c"', [{ event: 'a', id: null, data: null }]],
  ['nothing for an empty stream', '', []],
])('reads %s', async (_what, text, expected) => {
  using _server = await servePages(() => new Response(text))
  expect(await readAll()).toEqual(expected)
})

test('events are the same however the connection splits them', async () => {
  let parts: readonly Uint8Array[] = []
  using _server = await servePages(() => chunked(parts))
  const event = fc.record({
    event: fc.constantFrom('issue', 'pulse'),
    id: fc.stringMatching(/^[a-z0-9.]{1,8}$/),
    data: fc.oneof(fc.string({ unit: 'grapheme' }), fc.record({ name: fc.string({ unit: 'binary' }) })),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 5 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
      async (events, cuts) => {
        const all = bytesOf(
          events.map(({ event, id, data }) => `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`).join(''),
        )
        const at = [0, ...cuts.map((cut) => Math.floor(cut * all.length)).sort((a, b) => a - b), all.length]
        parts = at.slice(1).map((end, index) => all.subarray(at[index], end))
        parts = parts.filter(({ length }) => length > 0)
        expect(await readAll()).toEqual(events as StreamEvent[])
      },
    ),
  )
})

test('events are delivered while the connection is open, which is closed when the reader stops', async () => {
  const closed = Promise.withResolvers<void>()
  using _server = await servePages(
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(bytesOf('event: a\n\n')),
          cancel: () => closed.resolve(),
        }),
      ),
  )
  const { readEvents } = await loadModule()
  for await (const { event } of readEvents('/v1/stream', {})) {
    expect(event).toBe('a')
    break
  }
  await closed.promise
})

test('an abort ends the reading with its error and closes the connection', async () => {
  const closed = Promise.withResolvers<void>()
  using _server = await servePages(
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(bytesOf('event: a\n\n')),
          cancel: () => closed.resolve(),
        }),
      ),
  )
  const { readEvents } = await loadModule()
  const abort = new AbortController()
  const events = readEvents('/v1/stream', { signal: abort.signal })
  expect((await events.next()).value).toMatchObject({ event: 'a' })
  abort.abort()
  await expect(events.next()).rejects.toMatchObject({ name: 'AbortError' })
  await closed.promise
})

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

test('a lost connection fails after the complete events', async () => {
  using raw = serveBytes(`${CHUNKED}11\r\nevent: a\n\nevent: \r\n`, true)
  using _server = await servePages(() => new Response())
  const { readEvents } = await loadModule()
  const events = readEvents(raw.url, {})
  expect((await events.next()).value).toMatchObject({ event: 'a' })
  raw[Symbol.dispose]()
  await expect(events.next()).rejects.toThrow()
})

test('an event with broken JSON fails', async () => {
  using _server = await servePages(() => new Response('event: a\ndata: {\n\n'))
  await expect(readAll()).rejects.toThrow(SyntaxError)
})

test('a rejected stream fails with the error of the API', async () => {
  using server = await servePages(() => Response.json({ error: 'too many streams' }, { status: 429 }))
  const { readEvents } = await loadModule()
  const events = readEvents('/v1/stream', { headers: { 'Last-Event-ID': '7' } })
  await expect(events.next()).rejects.toMatchObject({ message: 'too many streams', status: 429 })
  expect(server.received[0]?.headers.get('last-event-id')).toBe('7')
})
