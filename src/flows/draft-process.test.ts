import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../test/app.ts'
import { DraftProcesses } from './draft-process.ts'

let world: TestApp
beforeAll(async () => {
  world = await testApp()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Returns a HAR of a visit with one page and one event, padded with images to about `bytes` bytes. */
function harOf(bytes: number) {
  const entry = (type: string, url: string, text = '') => ({
    _resourceType: type,
    startedDateTime: '2026-01-05T12:00:00.000Z',
    request: { method: 'GET', url, headers: [{ name: 'Referer', value: 'https://shop.example/' }] },
    response: { status: 200, headers: [{ name: 'content-type', value: 'text/html' }], content: { text } },
  })
  const event = 'https://www.google-analytics.com/g/collect?v=2&tid=G-1&cid=1.2&en=page_view'
  const filler = Array.from({ length: Math.ceil(bytes / 2000) }, (_, n) =>
    entry('image', `https://cdn.example/${n}.png`, 'x'.repeat(1700)),
  )
  return {
    log: { version: '1.2', entries: [entry('document', 'https://shop.example/'), entry('fetch', event), ...filler] },
  }
}

const post = (body: object) => world.call('POST', '/v1/flows/drafts', { body })
const bodyOf = (value: object) => new TextEncoder().encode(JSON.stringify(value))
const about = { orgId: 'org_1', privacy: { phoneRegions: [], piiPatterns: [] }, signal: new AbortController().signal }

describe('a draft from a HAR', () => {
  test('is the same from a large one, which is read in a process of its own', async () => {
    const [small, large] = [await post({ har: harOf(0) }), await post({ har: harOf(300_000) })]
    expect(small).toMatchObject({ status: 200, body: { expectations: [{ event: 'page_view' }] } })
    expect(large.body).toEqual(small.body)
  })

  test.each([
    ['both', { har: harOf(100_000), sessionId: 's' }, 'sessionId: give it, or har, and not both'],
    ['an unknown field', { har: harOf(100_000), more: 1 }, 'more: there is no such field'],
    ['no HAR', { har: { text: 'x'.repeat(100_000) } }, 'har: is not a HAR, log.entries is missing'],
    ['a NUL character', { har: { text: `\0${'x'.repeat(100_000)}` } }, 'har.text: has a NUL character'],
  ])('is refused there as here: %s', async (_, body, message) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { error: expect.stringContaining(message) } })
  })

  test('leaves the event loop to others while 29 MB are read', async () => {
    const body = bodyOf({ har: harOf(29_000_000) })
    let longest = 0
    let last = performance.now()
    let ticking = true
    const tick = () => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
      if (ticking) setImmediate(tick)
    }
    tick()
    const began = performance.now()
    const draft = await new DraftProcesses().draft(body, about)
    ticking = false
    expect(draft.recording.steps).toHaveLength(1)
    // Here it would be nearly all of the time.
    expect(longest / (performance.now() - began)).toBeLessThan(0.3)
  })
})

describe('a process that drafts', () => {
  test.each([
    ['time', { limitMs: 1 }, 'har: reading it takes more than 0.001 s'],
    ['memory', { memoryBytes: 1024 }, `har: reading it takes more than ${1024 / 2 ** 20} MiB of memory`],
  ])('is ended when it takes too much %s', async (_, limits, message) => {
    const drafting = new DraftProcesses(limits).draft(bodyOf({ har: harOf(5_000_000) }), about)
    expect(drafting).rejects.toMatchObject({ code: 'tooLarge', message })
    await drafting.catch(() => {})
  })

  test('is one at a time for an organization, of which three wait and more are refused', async () => {
    const processes = new DraftProcesses()
    const body = bodyOf({ har: harOf(100_000) })
    const asked = await Promise.allSettled(Array.from({ length: 6 }, () => processes.draft(body, about)))
    expect(asked.map(({ status }) => status)).toEqual([...Array(4).fill('fulfilled'), ...Array(2).fill('rejected')])
    expect(asked[5]).toMatchObject({ reason: { code: 'rateLimited', retryAfterS: expect.any(Number) } })
  })

  test('ends when its caller leaves', async () => {
    const controller = new AbortController()
    const drafting = new DraftProcesses().draft(bodyOf({ har: harOf(5_000_000) }), {
      ...about,
      signal: controller.signal,
    })
    controller.abort()
    expect(drafting).rejects.toMatchObject({ code: 'unavailable' })
    await drafting.catch(() => {})
  })
})
