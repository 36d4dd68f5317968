import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { endsConnection, isReadingBody, receiveBytes, receiveText } from './read-body.ts'

const URL_ = 'http://localhost/'

/** Returns a request that sends its body in chunks, without a content length. */
function inPieces(pieces: readonly Uint8Array[]): Request {
  const left = [...pieces]
  const body = new ReadableStream({
    pull(stream) {
      const piece = left.shift()
      if (piece) stream.enqueue(piece)
      else stream.close()
    },
  })
  return new Request(URL_, { method: 'POST', body, headers: { 'transfer-encoding': 'chunked' } })
}

function whole(bytes: Uint8Array<ArrayBuffer>): Request {
  return new Request(URL_, { method: 'POST', body: bytes, headers: { 'content-length': String(bytes.length) } })
}

/** Includes invalid UTF-8 and byte order marks. */
const bytes = fc
  .array(fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constant(new Uint8Array([0xef, 0xbb, 0xbf]))), { maxLength: 6 })
  .map((parts) => new Uint8Array(Buffer.concat(parts)))

describe('a request body', () => {
  test('is the same with and without a content length', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, fc.array(fc.nat(100), { maxLength: 8 }), async (body, cuts) => {
        const places = [...new Set([0, ...cuts.filter((at) => at < body.length)])].sort((a, b) => a - b)
        const pieces = places.map((at, index) => body.slice(at, places[index + 1]))
        const text = await new Response(body).text()
        expect(await receiveText(whole(body), 1000)).toBe(text)
        expect(await receiveText(inPieces(pieces), 1000)).toBe(text)
        expect(await receiveBytes(whole(body), 1000)).toEqual(body)
        expect(new Uint8Array(await receiveBytes(inPieces(pieces), 1000))).toEqual(body)
      }),
    )
  })

  test('is complete for many sizes', async () => {
    for (const size of [0, 1, 16_383, 16_384, 16_385, 40_000, 100_000]) {
      const body = Buffer.alloc(size, 'abc')
      const pieces = Array.from({ length: Math.ceil(size / 7000) }, (_, at) =>
        body.subarray(at * 7000, (at + 1) * 7000),
      )
      expect(Buffer.from(await receiveBytes(inPieces(pieces), 100_000)).equals(body)).toBe(true)
    }
  })

  test('is empty when the request has none', async () => {
    const none = new Request(URL_, { method: 'POST' })
    expect(await receiveText(none, 10)).toBe('')
    expect(await receiveBytes(none, 10)).toEqual(new Uint8Array())
  })

  test.each([
    [10, true],
    [11, false],
  ])('of %d bytes is within a limit of ten: %p', async (size, fits) => {
    const body = new Uint8Array(size).fill(97)
    const refused = { code: 'tooLarge', message: 'body: is larger than 10 bytes' }
    for (const request of [whole(body), inPieces([body]), inPieces([body.slice(0, 4), body.slice(4)])]) {
      const text = receiveText(request, 10)
      if (fits) expect(await text).toBe('a'.repeat(size))
      else await expect(text).rejects.toMatchObject(refused)
      expect(isReadingBody(request)).toBe(false)
    }
  })

  test('that was already read throws a TypeError', async () => {
    const request = whole(new Uint8Array([97]))
    await request.text()
    await expect(receiveText(request, 10)).rejects.toThrow(TypeError)
    expect(isReadingBody(request)).toBe(false)
  })

  test('is reported as arriving until it has been read completely', async () => {
    const stream = new TransformStream<Uint8Array, Uint8Array>()
    const writer = stream.writable.getWriter()
    const request = new Request(URL_, { method: 'POST', body: stream.readable })
    const text = receiveText(request, 10)
    await writer.write(new Uint8Array([97]))
    expect(isReadingBody(request)).toBe(true)
    await writer.close()
    expect(await text).toBe('a')
    expect(isReadingBody(request)).toBe(false)
  })
})

describe('the connection after a rejected body', () => {
  test.each<[Record<string, string>, boolean]>([
    [{}, false],
    [{ 'content-length': '10' }, false],
    [{ 'content-length': String(32 * 1024 * 1024) }, false],
    [{ 'content-length': String(32 * 1024 * 1024 + 1) }, true],
    [{ 'transfer-encoding': 'chunked' }, true],
  ])('is closed if the request has %j: %p', (headers, ends) => {
    expect(endsConnection(new Request(URL_, { method: 'POST', headers }))).toBe(ends)
  })
})
