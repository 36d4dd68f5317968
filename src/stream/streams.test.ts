import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { testClock } from '../../test/fixtures.ts'
import { until } from '../../test/run-program.ts'
import { eventOf, readEventStream, type SentEvent } from '../../test/stream/event-stream-client.ts'
import { SECOND_MS } from '../core/clock.ts'
import type { Principal } from '../http/principal.ts'
import type { RowChange } from '../store/watch-table-rows.ts'
import { CHANGE_RETENTION_MS, MAX_RETAINED } from './change-stream-log.ts'
import { MAX_STREAMS, Streams, type StreamsDeps } from './streams.ts'

const PULSE = { lastStoredAt: 5, eventsPerMinute: 7, gapSince: null }
const FOREVER = new AbortController().signal

const caller = (orgId = 'org_1', userId = 'usr_1'): Principal => ({
  via: 'key',
  userId,
  orgId,
  role: 'viewer',
  readOnly: true,
  keyId: `key_${userId}`,
  sessionId: null,
})

function openFixture(parts: Partial<StreamsDeps> = {}) {
  const clock = testClock()
  const streams = new Streams({ clock, isInForce: () => true, pulseOf: () => PULSE, ...parts })
  const open = (who = caller(), lastEventId: string | null = null, signal = FOREVER) =>
    streams.open(who, lastEventId, signal)
  const listen = (...args: Parameters<typeof open>) => readEventStream(new Response(open(...args)))
  return { clock, streams, open, listen }
}

const change = (id: string, orgId = 'org_1', more: Partial<RowChange> = {}): RowChange => ({
  kind: 'alert',
  orgId,
  id,
  isDeleted: false,
  values: {},
  ...more,
})
const idsOf = (events: readonly SentEvent[]) => events.map(({ event, data }) => (event === 'reset' ? 'reset' : data.id))

test('a stream begins with a pulse event, then sends everything published from then on', async () => {
  const { clock, streams, listen } = openFixture()
  streams.publish([change('before')])
  const stream = listen()
  await until('the pulse event', () => stream.events.length > 0)
  clock.advance(1)
  const values = { status: 'open', severity: 'high' }
  streams.publish([change('a'), change('b', 'org_1', { isDeleted: true }), change('c', 'org_1', { values })])
  await stream.changesWhen('three changes', ({ length }) => length === 3)
  const updatedAt = clock.now()
  expect(stream.events.map(({ event, data }) => [event, data])).toEqual([
    ['pulse', { at: updatedAt - 1, ...PULSE }],
    ['alert', { id: 'a', updatedAt }],
    ['alert', { id: 'b', updatedAt, deleted: true }],
    ['alert', { id: 'c', ...values, updatedAt }],
  ])
  expect(new Set(stream.events.map(({ id }) => id)).size).toBe(4)
  await stream.leave()
})

test('a stream resumes after the last received event for five minutes, even without listeners in between', async () => {
  const { clock, streams, listen } = openFixture()
  const first = listen()
  streams.publish([change('a'), change('b')])
  const [a, b] = await first.changesWhen('two changes', ({ length }) => length === 2)
  await first.leave()
  streams.publish([change('c')])
  clock.advance(CHANGE_RETENTION_MS)
  streams.publish([change('d')])
  for (const [from, expected] of [
    [a, ['b', 'c', 'd']],
    [b, ['c', 'd']],
  ] as const) {
    const next = listen(caller(), from?.id)
    expect(idsOf(await next.changesWhen('the missed changes', ({ length }) => length >= expected.length))).toEqual([
      ...expected,
    ])
    await next.leave()
  }
  clock.advance(1)
  for (const id of [a?.id, 'nothing.1', 'x']) {
    const late = listen(caller(), id)
    expect(await late.changesWhen('a reset', ({ length }) => length > 0)).toMatchObject([{ event: 'reset', data: {} }])
    streams.publish([change('e')])
    expect(idsOf(await late.changesWhen('the next change', ({ length }) => length > 1))).toEqual(['reset', 'e'])
    await late.leave()
  }
})

test("an event ID from another organization's stream causes a reset", async () => {
  const { streams, listen } = openFixture()
  const mine = listen()
  streams.publish([change('a')])
  const [last] = await mine.changesWhen('a change', ({ length }) => length > 0)
  const theirs = listen(caller('org_2', 'usr_2'), last?.id)
  expect(idsOf(await theirs.changesWhen('a reset', ({ length }) => length > 0))).toEqual(['reset'])
  await Promise.all([mine.leave(), theirs.leave()])
})

test('each caller receives every change of its organization, in order, and nothing else', async () => {
  const orgs = ['org_1', 'org_2', 'org_3']
  const publications = fc.array(fc.array(fc.constantFrom(...orgs), { maxLength: 12 }), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(publications, async (pieces) => {
      const { streams, listen } = openFixture()
      const listeners = orgs.flatMap((orgId) =>
        [1, 2].map((n) => ({ orgId, heard: listen(caller(orgId, `usr_${n}`)) })),
      )
      let made = 0
      const published = pieces.map((piece) => piece.map((orgId) => change(`thing ${++made}`, orgId)))
      for (const piece of published) {
        streams.publish(piece)
        await Promise.resolve()
      }
      for (const { orgId, heard } of listeners) {
        const own = published.flat().filter((one) => one.orgId === orgId)
        const ids = idsOf(await heard.changesWhen('all published changes', ({ length }) => length >= own.length))
        expect([orgId, ids]).toEqual([orgId, own.map(({ id }) => id)])
      }
      streams.close()
      await Promise.all(listeners.map(({ heard }) => heard.ended()))
    }),
    { numRuns: 30 },
  )
})

test('a user can have at most twenty streams across all organizations, and closing one frees its slot', async () => {
  const { open, streams } = openFixture()
  const opened = Array.from({ length: MAX_STREAMS }, (_, n) => open(caller(`org_${n % 2}`)))
  const refusal = expect.objectContaining({ code: 'rateLimited', retryAfterS: expect.any(Number) })
  expect(() => open()).toThrow(refusal)
  expect(() => open(caller('org_9'))).toThrow(refusal)
  await open(caller('org_1', 'usr_2')).cancel()
  await opened[0]?.cancel()
  const left = new AbortController()
  open(caller(), null, left.signal)
  expect(() => open()).toThrow(refusal)
  left.abort()
  open()
  expect(() => open()).toThrow(refusal)
  streams.close()
})

test('a caller who does not read uses no memory, and must reload after missing too many changes', async () => {
  const { streams, open } = openFixture()
  const reader = open().getReader()
  // Decodes the next chunk. Chunks are only created when they are read.
  const decode = async () => new TextDecoder().decode((await reader.read()).value)
  await decode()
  const rounds = 5
  for (let n = 0; n < rounds * MAX_RETAINED; n += 1000) {
    streams.publish(Array.from({ length: 1000 }, (_, index) => change(`thing ${n + index}`)))
  }
  const [first] = eventOf(await decode())
  expect(first?.event).toBe('reset')
  streams.publish([change('next')])
  expect(eventOf(await decode())).toMatchObject([{ event: 'alert', data: { id: 'next' } }])
  await reader.cancel()
})

test('a caller who reads slowly receives everything in chunks, in order', async () => {
  const { streams, open } = openFixture()
  const reader = open().getReader()
  await reader.read()
  const count = 1000
  streams.publish(Array.from({ length: count }, (_, n) => change(String(n))))
  let text = ''
  let pieces = 0
  while (!text.includes(`"id":"${count - 1}"`)) {
    text += new TextDecoder().decode((await reader.read()).value)
    pieces++
  }
  expect(pieces).toBeGreaterThan(2)
  expect(idsOf(text.split('\n\n').flatMap(eventOf))).toEqual(Array.from({ length: count }, (_, n) => String(n)))
  await reader.cancel()
})

test('pulse events repeat, and a stream ends when its credential expires, without a new request', async () => {
  const inForce = new Set(['usr_1', 'usr_2'])
  const { listen } = openFixture({ isInForce: ({ userId }) => inForce.has(userId), checkMs: 5 })
  const [one, two] = [listen(), listen(caller('org_1', 'usr_2'))]
  await until('pulses', () => one.events.length > 2 && two.events.length > 2)
  inForce.delete('usr_1')
  await one.ended()
  const before = two.events.length
  await until('more pulses', () => two.events.length > before + 1)
  expect(two.isEnded).toBe(false)
  await two.leave()
})

test('the credential is checked every five seconds', () => {
  const looks: number[] = []
  const { streams, open } = openFixture({ isInForce: () => looks.push(0) > 0 })
  const set = globalThis.setInterval
  const intervals: unknown[] = []
  globalThis.setInterval = ((work: () => void, ms: number) => {
    intervals.push(ms)
    return set(work, ms)
  }) as typeof setInterval
  open()
  globalThis.setInterval = set
  // Credentials are checked within 10 s, even if the timer is delayed. Every second check sends a pulse.
  expect(intervals).toEqual([5 * SECOND_MS])
  streams.close()
})

test('a change log without listeners is discarded after five minutes', async () => {
  const { streams, open, listen } = openFixture()
  const set = globalThis.setTimeout
  const waiting: { work: () => void; ms: unknown }[] = []
  globalThis.setTimeout = ((work: () => void, ms: number) => {
    waiting.push({ work, ms })
    return set(() => {}, 0)
  }) as typeof setTimeout
  try {
    await open().cancel()
    const again = open()
    await again.cancel()
  } finally {
    globalThis.setTimeout = set
  }
  expect(waiting.map(({ ms }) => ms)).toEqual([CHANGE_RETENTION_MS, CHANGE_RETENTION_MS])
  const before = listen()
  streams.publish([change('a')])
  const [last] = await before.changesWhen('a change', ({ length }) => length > 0)
  await before.leave()
  waiting.at(-1)?.work()
  const after = listen(caller(), last?.id)
  expect(idsOf(await after.changesWhen('a reset', ({ length }) => length > 0))).toEqual(['reset'])
  await after.leave()
})

test('stopping ends all streams and rejects new ones', async () => {
  const { streams, open, listen } = openFixture()
  const heard = [listen(), listen(caller('org_2', 'usr_2'))]
  const unread = open()
  await until('pulses', () => heard.every(({ events }) => events.length > 0))
  streams.close()
  await Promise.all(heard.map((one) => one.ended()))
  expect((await unread.getReader().read()).done).toBe(true)
  expect(() => open()).toThrow(expect.objectContaining({ code: 'unavailable' }))
  streams.publish([change('late')])
})
