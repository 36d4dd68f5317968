import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { runProgram, temporaryFolder } from '../../test/run-program.ts'
import type { RecordedHit } from '../browser/har-requests.ts'
import { receiver } from '../transport/receiver.fixture.ts'
import { UsageError } from './command.ts'
import { batchesOf, sendHits } from './import-har.ts'

const hitOf = (url: string, values: Partial<RecordedHit> = {}): RecordedHit => ({
  url: `https://t.example/${url}`,
  method: 'GET',
  pageUrl: null,
  ...values,
})

const batched = (hits: readonly RecordedHit[]) =>
  [...batchesOf(hits)].map(({ page, hits }) => ({
    page,
    hits: hits.map((hit): Omit<RecordedHit, 'pageUrl' | 'ts'> => JSON.parse(hit)),
  }))

describe('batches of hits', () => {
  test('contain the hits of one page each, in order', () => {
    const hits = [hitOf('1', { pageUrl: 'a' }), hitOf('2', { pageUrl: 'a' }), hitOf('3'), hitOf('4', { pageUrl: 'a' })]
    expect(batched(hits).map(({ page, hits }) => [page, hits.map(({ url }) => url.at(-1))])).toEqual([
      ['a', ['1', '2']],
      [null, ['3']],
      ['a', ['4']],
    ])
  })

  test('contain the hits of one browser each', () => {
    const hits = [hitOf('1', { userAgent: 'A' }), hitOf('2', { userAgent: 'A' }), hitOf('3', { userAgent: 'B' })]
    expect([...batchesOf(hits)].map(({ userAgent, hits }) => [userAgent, hits.length])).toEqual([
      ['A', 2],
      ['B', 1],
    ])
    expect(JSON.parse([...batchesOf(hits)][0]?.hits[0] ?? '')).toEqual({ url: 'https://t.example/1', method: 'GET' })
  })

  test('contain all fields of a hit except its page and time', () => {
    expect(batched([hitOf('1', { status: 200, durMs: 5, ts: 9, body: 'x' })])).toEqual([
      { page: null, hits: [{ url: 'https://t.example/1', method: 'GET', status: 200, durMs: 5, body: 'x' }] },
    ])
  })

  test('never exceed the limits of the collector', () => {
    const body = fc.nat({ max: 400_000 }).map((length) => 'é'.repeat(length))
    const hit = fc.tuple(fc.constantFrom('a', 'b', null), fc.oneof({ weight: 20, arbitrary: fc.constant('') }, body))
    fc.assert(
      fc.property(fc.array(hit, { maxLength: 300 }), (parts) => {
        const hits = parts.map(([pageUrl, body], index) => hitOf(String(index), { pageUrl, body }))
        const batches = batched(hits)
        expect(batches.flatMap(({ hits }) => hits.map(({ url }) => url))).toEqual(hits.map(({ url }) => url))
        for (const { hits } of batches) {
          expect(hits.length).toBeLessThanOrEqual(100)
          if (hits.length > 1) expect(Buffer.byteLength(JSON.stringify(hits))).toBeLessThan(600_000)
        }
      }),
      { numRuns: 30 },
    )
  })
})

describe('sending batches', () => {
  const taken = () => Response.json({ accepted: 1, rejected: 1, errors: [] }, { status: 202 })

  test('adds an id, the page and the token to each batch, and adds up the counts in the responses', async () => {
    await using collector = receiver(taken)
    const seen: number[] = []
    const hits = [hitOf('1', { pageUrl: 'https://shop.example/' }), hitOf('2'), hitOf('3')]
    const total = await sendHits(hits, { url: collector.url, token: 'pt_x' }, (sent) => seen.push(sent))
    expect(total).toEqual({ accepted: 2, rejected: 2 })
    expect(seen).toEqual([1, 3])
    const bodies = collector.requests.map(({ body }) => JSON.parse(body))
    expect(bodies.map(({ page, hits }) => [page?.url, hits.length])).toEqual([
      ['https://shop.example/', 1],
      [undefined, 2],
    ])
    expect(new Set(bodies.map(({ batchId }) => batchId)).size).toBe(2)
    for (const { method, path, headers } of collector.requests) {
      expect([method, path, headers.authorization]).toEqual(['POST', '/api/v1/events', 'Bearer pt_x'])
    }
  })

  test('continues after a hit that is too large', async () => {
    await using collector = receiver((_request, index) => (index === 0 ? new Response('', { status: 413 }) : taken()))
    const hits = [hitOf('1', { body: 'x'.repeat(600_000) }), hitOf('2')]
    expect(await sendHits(hits, { url: collector.url, token: 'pt_x' })).toEqual({ accepted: 1, rejected: 2 })
  })

  test('sends several batches concurrently, and no further ones after an error', async () => {
    const hits = Array.from({ length: 9 }, (_, n) => hitOf(String(n), { pageUrl: `https://shop.example/${n}` }))
    const others = Promise.withResolvers<void>()
    await using collector = receiver(async (_request, index) => {
      if (index === 0) return taken()
      if (index === 4) others.resolve()
      await others.promise
      return new Response('', { status: 500 })
    })
    await expect(sendHits(hits, { url: collector.url, token: 'pt_x' })).rejects.toThrow('responded with 500')
    expect(collector.requests.length).toBe(5)
    await using refusing = receiver(() => Response.json({ error: 'token: unknown' }, { status: 401 }))
    await expect(sendHits(hits, { url: refusing.url, token: 'pt_x' })).rejects.toThrow('responded with 401')
    expect(refusing.requests.length).toBe(1)
  })

  test.each<[string, () => Response, string]>([
    ['a rejection', () => Response.json({ error: 'token: unknown' }, { status: 401 }), '401: token: unknown'],
    ['not JSON', () => new Response('<html>', { headers: { 'content-type': 'text/html' } }), '200: is this the URL'],
    ['JSON of another kind', () => Response.json({ ok: true }), '200: is this the URL'],
  ])('stops when the response to a batch is %s', async (_what, answer, reason) => {
    await using collector = receiver(answer)
    const sending = sendHits([hitOf('1')], { url: collector.url, token: 'pt_x' })
    await expect(sending).rejects.toThrow(UsageError)
    await expect(sending).rejects.toThrow(`import har: the collector responded with ${reason}`)
  })
})

test('the command imports files and prints the counts', async () => {
  await using collector = receiver(() => Response.json({ accepted: 2, rejected: 0, errors: [] }, { status: 202 }))
  using folder = temporaryFolder()
  const path = `${folder.path}/a.har`
  await Bun.write(path, JSON.stringify({ log: { entries: ['1', '2'].map((one) => ({ request: hitOf(one) })) } }))
  const to = ['--url', `${collector.url}/`, '--token', 'pt_x']
  const json = await runProgram(['import', 'har', path, ...to, '--json'])
  expect(json).toEqual({
    code: 0,
    stdout: '{"accepted":2,"rejected":0,"withoutPage":2,"withoutBody":[]}\n',
    stderr: '',
  })
  const words = await runProgram(['import', 'har', path, path, ...to])
  expect(words).toMatchObject({ code: 0, stdout: '2 requests imported, 0 rejected\n4 hits have no page\n' })
  expect(collector.requests.map(({ body }) => JSON.parse(body).hits.length)).toEqual([2, 4])
})

test('the command uses the page specified in the recording, and counts hits without a page', async () => {
  await using collector = receiver(() => Response.json({ accepted: 1, rejected: 0, errors: [] }, { status: 202 }))
  using folder = temporaryFolder()
  const path = `${folder.path}/a.har`
  const pages = [
    { id: 'page_1', title: 'https://shop.example/cart' },
    { id: 'page_2', title: 'Thanks' },
  ]
  const entries = [
    { pageref: 'page_1', request: hitOf('1') },
    { pageref: 'page_2', request: hitOf('2') },
    { pageref: 'page_2', request: { url: 'data:text/plain,x' } },
  ]
  await Bun.write(path, JSON.stringify({ log: { pages, entries } }))
  const told = await runProgram(['import', 'har', path, '--url', collector.url, '--token', 'pt_x'])
  expect(told.stdout).toBe(
    '2 requests imported, 0 rejected, 1 skipped, not sent to a web server (data:, blob:, …)\n1 hit has no page\n',
  )
  expect(collector.requests.map(({ body }) => JSON.parse(body).page?.url)).toEqual([
    'https://shop.example/cart',
    undefined,
  ])
})

test('the command sends bodies from attachments, and lists requests with a missing body', async () => {
  await using collector = receiver(() => Response.json({ accepted: 1, rejected: 0, errors: [] }, { status: 202 }))
  using folder = temporaryFolder()
  const request = (file: string) => ({
    url: 'https://t.example/g/collect?key=secret',
    method: 'POST',
    postData: { mimeType: 'text/plain', text: '', _file: file },
  })
  const har = { log: { entries: [{ request: request('a.dat') }, { request: request('b.dat') }] } }
  const path = `${folder.path}/a.har`
  await Bun.write(path, JSON.stringify(har))
  await Bun.write(`${folder.path}/a.dat`, 'en=scroll')
  const to = ['--url', collector.url, '--token', 'pt_x']
  const reason = 'stored in the attachment "b.dat", which is not next to the HAR file'
  const words = await runProgram(['import', 'har', path, ...to])
  expect(words).toMatchObject({ code: 0, stderr: '' })
  expect(words.stdout).toContain('1 request was not sent, because the body is missing:\n')
  expect(words.stdout).toContain(`  ${path}, entry 1, https://t.example/g/collect: ${reason}\n`)
  const json = await runProgram(['import', 'har', path, ...to, '--json'])
  expect(JSON.parse(json.stdout).withoutBody).toEqual([
    { file: path, entry: 1, url: 'https://t.example/g/collect', reason },
  ])
  const sent = collector.requests.map(({ body }) => JSON.parse(body).hits)
  expect(sent).toEqual(
    Array(2).fill([{ url: 'https://t.example/g/collect?key=secret', method: 'POST', body: 'en=scroll' }]),
  )
})
