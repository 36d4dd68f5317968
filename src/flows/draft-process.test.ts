import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { type ZippedFile, zipOf } from '../browser/zip.fixture.ts'
import type { Call } from '../http/route.ts'
import { DraftProcesses } from './draft-process.ts'
import { type DraftDeps, draftRoutes } from './draft-routes.ts'

let world: TestApp
beforeAll(async () => {
  world = await testApp()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Returns a HAR with one page and one event, padded with images to about `bytes` bytes. */
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

/**
 * Runs `work`. Returns its result, and the longest time for which the event loop was blocked, as a fraction of the
 * total time.
 */
async function watched<T>(work: () => Promise<T>): Promise<{ result: T; longestShare: number }> {
  let longest = 0
  let last = performance.now()
  let ticking = true
  const tick = () => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (ticking) setImmediate(tick)
  }
  tick()
  const began = last
  const result = await work()
  ticking = false
  const ended = performance.now()
  return { result, longestShare: Math.max(longest, ended - last) / (ended - began) }
}

describe('a draft from a HAR', () => {
  test('is the same whether or not the HAR is read in a separate process', async () => {
    const [small, large] = [await post({ har: harOf(0) }), await post({ har: harOf(300_000) })]
    expect(small).toMatchObject({ status: 200, body: { expectations: [{ event: 'page_view' }] } })
    expect(large.body).toEqual(small.body)
  })

  test.each([
    [
      'both',
      { har: harOf(100_000), sessionId: 's' },
      'sessionId: exactly one of sessionId, har, harZip and recording is required',
    ],
    ['an unknown field', { har: harOf(100_000), more: 1 }, 'more: there is no such field'],
    ['no HAR', { har: { text: 'x'.repeat(100_000) } }, 'har: is not a HAR: log.entries is missing'],
  ])('is rejected with the same error in both processes: %s', async (_, body, message) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { error: expect.stringContaining(message) } })
  })

  test('supports binary bodies with NUL characters and lone surrogates', async () => {
    for (const filler of [0, 100_000]) {
      const har = harOf(filler)
      const binary = { request: { url: 'https://cdn.example/x', method: 'POST', postData: { text: '\0\ud800' } } }
      const answer = await post({ har: { log: { ...har.log, entries: [...har.log.entries, binary] } } })
      expect(answer).toMatchObject({ status: 200, body: { expectations: [{ event: 'page_view' }], missingBodies: [] } })
    }
  })

  test.each([{}, { har: {}, harZip: '' }, { sessionId: 's', har: {}, harZip: '' }])(
    'requires exactly one source: %j',
    async (body) => {
      const error = 'sessionId: exactly one of sessionId, har, harZip and recording is required'
      expect(await post(body)).toMatchObject({ status: 400, body: { error } })
    },
  )

  test('does not block the event loop while a 29 MB HAR is read', async () => {
    const body = bodyOf({ har: harOf(29_000_000) })
    const { result: draft, longestShare } = await watched(() => new DraftProcesses().draft(body, about))
    expect(draft.recording.steps).toHaveLength(1)
    // Without a separate process, the fraction would be close to 1.
    expect(longestShare).toBeLessThan(0.3)
  })

  test('is read in a separate process at any size, because its bodies may decompress to many megabytes', async () => {
    const draft = { recording: {}, expectations: [], missingBodies: [] }
    const processes = { takes: () => false, draft: async () => draft }
    const [route] = draftRoutes({ processes, privacySettingsOf: () => about.privacy } as unknown as DraftDeps)
    const call = { principal: about, body: bodyOf({ har: harOf(0) }), signal: about.signal } as unknown as Call
    expect(await route?.handle(call)).toBe(draft)
  })
})

describe('a draft from an archive', () => {
  const collect = 'https://www.google-analytics.com/g/collect?v=2&tid=G-1&cid=1.2'
  const har = harOf(0)
  const withBody = (file: string) => ({
    startedDateTime: '2026-01-05T12:00:01.000Z',
    request: {
      url: collect,
      method: 'POST',
      headers: [{ name: 'Referer', value: 'https://shop.example/' }],
      postData: { mimeType: 'text/plain', text: '', _file: file },
    },
  })
  const entries = [...har.log.entries, withBody('a.dat'), withBody('b.dat')]
  const content = JSON.stringify({ log: { entries } })
  const base64 = (...files: ZippedFile[]) => Buffer.from(zipOf(files)).toString('base64')

  test('contains the events of attachments and lists missing bodies', async () => {
    const harZip = base64({ name: 'x.har', content }, { name: 'a.dat', content: 'en=add_to_cart\nen=purchase' })
    const answer = await post({ harZip })
    expect(answer).toMatchObject({ status: 200, body: { recording: { steps: [{ url: 'https://shop.example/' }] } } })
    expect(answer.body.expectations.map(({ event }: { event: string }) => event)).toEqual([
      'page_view',
      'add_to_cart',
      'purchase',
    ])
    const reason = 'stored in the attachment "b.dat", which is not in the archive'
    expect(answer.body.missingBodies).toEqual([{ entry: 3, host: 'www.google-analytics.com', reason }])
  })

  test('lists missing attachments when only the HAR is sent', async () => {
    const { status, body } = await post({ har: JSON.parse(content) })
    expect(status).toBe(200)
    expect(body.missingBodies.map(({ entry }: { entry: number }) => entry)).toEqual([2, 3])
    expect(body.missingBodies[0].reason).toEndWith('"a.dat", which is not part of the HAR')
  })

  test.each([
    ['an empty string', '', 'harZip: is not a readable ZIP archive'],
    ['not base64', '{"log":{}}', 'harZip: must be base64'],
    ['not an archive', btoa('{"log":{}}'), 'harZip: is not a readable ZIP archive'],
    ['no HAR', base64({ name: 'a.txt', content: '' }), 'harZip: contains no .har file'],
    ['another file', base64({ name: 'a.har', content: '{}' }), 'harZip: is not a HAR: log.entries is missing'],
    [
      'a file outside the archive',
      base64({ name: '../a.har', content: '{}' }),
      'harZip: is not a readable ZIP archive',
    ],
    ['a bomb', base64({ name: 'a.har', content: ' '.repeat(30_000_000) }), 'harZip: "a.har" unpacks to more than 200'],
    ['a larger bomb', base64({ name: 'a.har', content: ' '.repeat(40_000_000) }), 'harZip: "a.har" is larger than'],
    [
      'a bomb that claims to be small',
      base64({ name: 'a.har', content: ' '.repeat(200_000_000), claimedBytes: 1000 }),
      'harZip: "a.har" is damaged',
    ],
    [
      'too many files',
      base64(...Array.from({ length: 20_001 }, (_, n) => ({ name: `${n}`, content: '', isStored: true }))),
      'harZip: contains more than 20000 files',
    ],
  ])('is rejected for %s', async (_, harZip, message) => {
    expect(await post({ harZip })).toMatchObject({ status: 400, body: { error: expect.stringContaining(message) } })
  })
})

describe('a draft process', () => {
  test.each([
    ['time', { limitMs: 1 }, 'har: reading it takes more than 0.001 s'],
    ['memory', { memoryBytes: 1024 }, `har: reading it takes more than ${1024 / 2 ** 20} MiB of memory`],
  ])('is stopped when it uses too much %s', async (_, limits, message) => {
    const drafting = new DraftProcesses(limits).draft(bodyOf({ har: harOf(5_000_000) }), about)
    expect(drafting).rejects.toMatchObject({ code: 'tooLarge', message })
    await drafting.catch(() => {})
  })

  test('runs one at a time per organization, three others wait, and further ones are rejected', async () => {
    const processes = new DraftProcesses()
    const body = bodyOf({ har: harOf(100_000) })
    const asked = await Promise.allSettled(Array.from({ length: 6 }, () => processes.draft(body, about)))
    expect(asked.map(({ status }) => status)).toEqual([...Array(4).fill('fulfilled'), ...Array(2).fill('rejected')])
    expect(asked[5]).toMatchObject({ reason: { code: 'rateLimited', retryAfterS: expect.any(Number) } })
  })

  test('stops when its caller disconnects', async () => {
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
