import { describe, expect, test } from 'bun:test'
import type { Item } from './batch.ts'
import type { Snapshot } from './captured-body.ts'
import { frameOf, handClock } from './collector.fixture.ts'
import { makeErrorGuard } from './error-guard.ts'
import { type Call, makeCalls, type Outcome, type Timing } from './recorded-requests.ts'
import { makeRecorder } from './request-recorder.ts'

const URL_A = 'https://vendor.example/a'

function setUp({ isVendors = true, isSampled = true }: { isVendors?: boolean | null; isSampled?: boolean } = {}) {
  const clock = handClock()
  const items: Item[] = []
  const frames = [frameOf('/', { isSampled })]
  const state = { isVendors, isOnline: true, ids: 0 }
  const current = () => frames.at(-1) ?? frameOf('/')
  const recorder = makeRecorder({
    ...clock,
    guard: makeErrorGuard(clock.now),
    filter: {
      wanted(url, content = () => '') {
        const isSure = url.startsWith('https://vendor.')
        if (!isSure && !url.startsWith('https://own.')) return null
        const foreignHost = isSure ? 'vendor.example' : null
        if (isSure || state.isVendors === null) return { url, foreignHost, isVendors: state.isVendors, isSure }
        const body = content()
        if (body === null) return { url, foreignHost, isVendors: null, isSure }
        return body.includes('vendor') || url.endsWith('.js')
          ? { url, foreignHost, isVendors: true, isSure: true }
          : null
      },
      foreignHost: () => null,
      learn() {},
    },
    frames: { current, at: (instant) => frames.findLast(({ from }) => from <= instant) ?? current(), tell() {} },
    calls: makeCalls(),
    date: () => 1_000_000 + clock.now(),
    isOnline: () => state.isOnline,
    newId: () => `id.${++state.ids}`,
    add: (item) => void items.push(item),
    changed() {},
  })
  const see = (address: string, more: { body?: () => Snapshot; isConfirmed?: boolean } = {}): Call => {
    const call = recorder.see({ address, type: 'fetch', method: 'post', ...more })
    if (!call) throw new Error('it was not seen')
    return call
  }
  const timingOf = (startTime: number, more: Partial<Timing> = {}): Timing => ({ startTime, duration: 30, ...more })
  const calls = () => items.flatMap((item) => (item.list === 'hits' ? [item.call] : []))
  return { ...clock, recorder, frames, state, see, timingOf, calls }
}

describe('a call', () => {
  test('contains its method, its type, its time and the page', () => {
    const { see, pass, calls } = setUp()
    pass(500)
    see(URL_A, { body: () => 'en=purchase' })
    expect(calls()).toMatchObject([{ url: URL_A, method: 'POST', content: 'en=purchase', at: 500, ts: 1_000_500 }])
  })

  test('outside the filter or the sample is not recorded, and bodies for non-vendors are not read', () => {
    let reads = 0
    const body = () => String(reads++)
    const sighting = { type: 'fetch', method: 'POST', body }
    expect(setUp().recorder.see({ ...sighting, address: 'https://shop.example/' })).toBeNull()
    expect(setUp().recorder.see({ ...sighting, address: null })).toBeNull()
    expect(setUp({ isSampled: false }).recorder.see({ ...sighting, address: URL_A })).toBeNull()
    const { see, calls } = setUp({ isVendors: false })
    see(URL_A, { body })
    expect([reads, calls()[0]?.content]).toEqual([0, undefined])
  })

  test('that may never be sent is recorded only after its resource timing entry', () => {
    const { see, recorder, timingOf, calls } = setUp()
    see(URL_A, { isConfirmed: false })
    expect(calls()).toEqual([])
    recorder.timing(URL_A, 'script', timingOf(1))
    expect(calls()).toHaveLength(1)
  })
})

describe('the body of a call', () => {
  const later = () => {
    const read = Promise.withResolvers<Uint8Array | null>()
    return { read, body: () => () => read.promise }
  }

  test('may be read asynchronously', async () => {
    const { see } = setUp()
    const { read, body } = later()
    const call = see(URL_A, { body })
    expect(call.isReading).toBe(true)
    read.resolve(new Uint8Array([1]))
    await read.promise
    expect(call).toMatchObject({ isReading: false, content: new Uint8Array([1]) })
  })

  test("is omitted if it can't be read", async () => {
    const { see } = setUp()
    const { read, body } = later()
    const call = see(URL_A, { body })
    read.reject(new Error('gone'))
    await read.promise.catch(() => undefined)
    expect(call).toMatchObject({ isReading: false, content: null })
  })

  test.each([
    [true, 'en=purchase'],
    [false, undefined],
  ])('is held back until it is known whether the host is a vendor’s: %p', (isVendor, content) => {
    const { see, recorder, state } = setUp({ isVendors: null })
    const call = see(URL_A, { body: () => 'en=purchase' })
    expect([call.isReading, call.content]).toEqual([true, undefined])
    state.isVendors = isVendor
    recorder.decide()
    expect([call.isReading, call.content]).toEqual([false, content])
  })
})

describe('a possible vendor request to a host on the site', () => {
  const OWN = 'https://own.shop.example/v1/track'
  const BYTES = new TextEncoder().encode('of a vendor')
  const sighting = (body: () => Snapshot) => ({ address: OWN, type: 'fetch', method: 'POST', body })

  test.each<[string, Snapshot, string | Uint8Array]>([
    ['text', 'of a vendor', 'of a vendor'],
    ['bytes', BYTES, BYTES],
    ['bytes that are read later', async () => BYTES, BYTES],
  ])('is captured with a vendor body: %s', async (_what, snapshot, content) => {
    for (const isListLate of [false, true]) {
      const { recorder, state, frames, calls, pass } = setUp({ isVendors: isListLate ? null : true })
      pass(100)
      recorder.see(sighting(() => snapshot))
      pass(100)
      frames.push(frameOf('/next', { from: 150 }))
      state.isVendors = true
      recorder.decide()
      // The body is read in a microtask.
      await Promise.resolve().then(() => undefined)
      expect(calls()).toMatchObject([{ url: OWN, content, at: 100, frame: { page: { url: 'https://shop.example/' } } }])
    }
  })

  test.each<[string, Snapshot]>([
    ['text', 'password=x'],
    ['bytes', new TextEncoder().encode('password=x')],
    ['no body', null],
    ['bytes that are read later', async () => new TextEncoder().encode('password=x')],
    ['an unreadable body', async () => Promise.reject(new Error('gone'))],
  ])('is not captured with any other body: %s', async (_what, snapshot) => {
    for (const isListLate of [false, true]) {
      const { recorder, state, calls, timingOf } = setUp({ isVendors: isListLate ? null : true })
      expect(recorder.see(sighting(() => snapshot))).toBeNull()
      recorder.timing(OWN, 'fetch', timingOf(1))
      recorder.endOf(OWN, 'fetch', 'failure')
      state.isVendors = true
      recorder.decide()
      await Promise.resolve().then(() => undefined)
      expect(calls()).toEqual([])
    }
  })

  test('that appears only in resource timing is not recorded until the vendor lists are loaded', () => {
    const { recorder, state, calls, timingOf } = setUp({ isVendors: null })
    const url = 'https://own.shop.example/lib.js'
    expect(recorder.timing(url, 'script', timingOf(7))).toBeNull()
    expect(calls()).toEqual([])
    state.isVendors = true
    recorder.decide()
    expect(calls()).toMatchObject([{ url, type: 'script', at: 7, isTimed: true }])
  })

  test('does not extend the session until it is known to belong to a vendor', () => {
    const { recorder, state, frames } = setUp({ isVendors: null })
    frames.push(frameOf('/', { sessionId: 'e'.repeat(32), isSampled: false, from: 0 }))
    let reads = 0
    recorder.see(sighting(() => String(reads++)))
    state.isVendors = true
    recorder.decide()
    expect(reads).toBe(0)
  })
})

describe('a resource timing entry', () => {
  test('is matched to the earlier call with the same URL', () => {
    const { see, recorder, timingOf, pass } = setUp()
    const first = see(URL_A)
    pass(100)
    const second = see(URL_A)
    recorder.timing(`${URL_A}#top`, 'fetch', timingOf(0.5, { responseStatus: 204, requestStart: 1, transferSize: 90 }))
    expect(first).toMatchObject({ isTimed: true, outcome: 204, durMs: 30, bytes: 90 })
    recorder.timing(URL_A, 'fetch', timingOf(100.2, { responseStatus: 500, transferSize: 0 }))
    expect([second.outcome, second.bytes]).toEqual([500, undefined])
  })

  test('is matched to its call even if requests to the same URL finish out of order', () => {
    const { see, recorder, timingOf, pass, calls } = setUp()
    const first = see(URL_A)
    pass(1)
    const second = see(URL_A)
    pass(1)
    recorder.see({ address: URL_A, type: 'beacon', method: 'POST' })
    // The second call must wait until the beacon has begun.
    recorder.timing(URL_A, 'fetch', timingOf(2.5, { responseStatus: 500 }))
    recorder.timing(URL_A, 'beacon', timingOf(2.1))
    recorder.timing(URL_A, 'fetch', timingOf(0.1, { responseStatus: 204 }))
    expect([first.outcome, second.outcome]).toEqual([204, 500])
    expect(calls().map(({ isTimed }) => isTimed)).toEqual([true, true, true])
  })

  test('adds a call if none was recorded, to the page view at that time', () => {
    const { recorder, timingOf, frames, calls } = setUp()
    frames.push(frameOf('/next', { from: 1000 }))
    recorder.timing(URL_A, 'img', timingOf(900))
    expect(calls()).toMatchObject([{ type: 'img', method: 'GET', at: 900, ts: 1_000_900, isTimed: true }])
    expect(calls()[0]?.outcome).toBeUndefined()
    expect(calls()[0]?.frame.page.url).toBe('https://shop.example/')
    expect(recorder.timing('https://shop.example/app.js', 'script', timingOf(1))).toBeNull()
  })

  test('checks the result of a call in a later task', () => {
    const { see, recorder, timingOf, pass } = setUp()
    let looks = 0
    const [first, second] = [see(URL_A), see(URL_A)]
    first.look = () => looks++
    second.look = () => looks++
    recorder.timing(URL_A, 'fetch', timingOf(0))
    recorder.timing(URL_A, 'fetch', timingOf(0))
    expect(looks).toBe(0)
    pass(1)
    expect(looks).toBe(2)
  })
})

describe('the outcome', () => {
  const REFUSED = { duration: 0.1 }

  test.each<[string, Outcome | null, Partial<Timing>, boolean, Outcome | undefined]>([
    ['successfully', 204, {}, true, 204],
    ['with a failure', 'failure', {}, true, 'failure'],
    ['before it leaves the browser', 'failure', REFUSED, true, 'blocked'],
    ['immediately, because the device is offline', 'failure', REFUSED, false, 'failure'],
    ['with an unknown outcome, possibly an empty response', null, {}, true, undefined],
    ['immediately, with an unknown outcome', null, REFUSED, true, 'blocked'],
    ['successfully, from the cache', 'ok', REFUSED, true, 'ok'],
  ])('of a call that ends %s', (_what, outcome, timing, isOnline, expected) => {
    for (const isTimedFirst of [true, false]) {
      const { see, recorder, timingOf, state } = setUp()
      state.isOnline = isOnline
      const call = see(URL_A)
      if (isTimedFirst) recorder.timing(URL_A, 'fetch', timingOf(0, timing))
      recorder.end(call, outcome)
      if (!isTimedFirst) recorder.timing(URL_A, 'fetch', timingOf(0, timing))
      expect(call.outcome).toBe(expected)
    }
  })

  test('is reported by URL for requests that were not observed, and only one call is recorded in any order of reports', () => {
    for (const isTimedFirst of [true, false]) {
      const { recorder, timingOf, calls } = setUp()
      const timing = () => recorder.timing(URL_A, 'script', timingOf(5))
      if (isTimedFirst) timing()
      recorder.endOf(URL_A, 'script', 'failure')
      recorder.endOf(URL_A, 'script', 'failure')
      if (!isTimedFirst) timing()
      expect(calls()).toMatchObject([{ type: 'script', at: 5, outcome: 'failure', isTimed: true }])
    }
  })

  test('`blocked` by the page’s policy replaces a failure, and a duplicate report adds no second call', () => {
    const { recorder, timingOf, calls } = setUp()
    recorder.endOf(URL_A, 'img', null)
    recorder.endOf(URL_A, 'img', 'blocked')
    recorder.timing(URL_A, 'img', timingOf(5, REFUSED))
    recorder.timing(URL_A, 'img', timingOf(9, REFUSED))
    expect(calls()).toMatchObject([{ outcome: 'blocked' }])
  })
})
