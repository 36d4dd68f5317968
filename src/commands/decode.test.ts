import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { runProgram } from '../../test/run-program.ts'
import { decodeLine, decodeText, linesOf } from './decode.ts'

const GA4 = 'https://www.google-analytics.com/g/collect?v=2&tid=G-SHOP1'
const nobody = (error: string | null) => ({ vendor: null, kind: null, account: null, events: [], error })
const RECORDING = join(import.meta.dir, '../../test/recordings/ga4_minimal.har')

describe('decoding a request', () => {
  test('returns its events', () => {
    expect(decodeLine({ url: `${GA4}&en=purchase&epn.value=5` })).toEqual({
      vendor: 'Google Analytics 4',
      kind: 'event',
      account: 'G-SHOP1',
      events: [
        {
          event: 'purchase',
          account: 'G-SHOP1',
          params: expect.objectContaining({ en: 'purchase', 'epn.value': '5' }),
        },
      ],
      error: null,
    })
  })

  test.each<[string, object]>([
    ['as text', { body: 'en=a\nen=b' }],
    ['in base64', { bodyBase64: Buffer.from('en=a\nen=b').toString('base64') }],
    ['compressed', { bodyBase64: Buffer.from(Bun.gzipSync('en=a\nen=b')).toString('base64'), contentEncoding: 'gzip' }],
  ])('returns several events from a body %s', (_how, sent) => {
    const { events } = decodeLine({ url: GA4, method: 'post', ...sent })
    expect(events.map(({ event }) => event)).toEqual(['a', 'b'])
  })

  test('returns the vendor but no event for a request that loads a vendor’s code', () => {
    expect(decodeLine({ url: 'https://www.googletagmanager.com/gtag/js?id=G-SHOP1' })).toEqual({
      vendor: 'Google Analytics 4',
      kind: 'library',
      account: 'G-SHOP1',
      events: [],
      error: null,
    })
  })

  test('returns no error for a URL of an unknown vendor', () => {
    expect(decodeLine({ url: 'https://shop.example/logo.png', method: null, body: null })).toEqual(nobody(null))
  })

  test.each<[unknown, string]>([
    [null, 'url: is missing'],
    [undefined, 'url: is missing'],
    [5, 'url: is missing'],
    ['https://a.example/', 'url: is missing'],
    [[{ url: GA4 }], 'url: is missing'],
    [{}, 'url: is missing'],
    [{ url: null }, 'url: is missing'],
    [{ url: '/g/collect' }, 'url: is not an absolute URL'],
    [{ url: GA4, method: 5 }, 'method: must be a string'],
    [{ url: GA4, body: { en: 'a' } }, 'body: must be a string'],
    [{ url: GA4, bodyBase64: [] }, 'bodyBase64: must be a string'],
    [{ url: GA4, contentEncoding: true }, 'contentEncoding: must be a string'],
    [{ url: GA4, bodyBase64: '***' }, 'body: bodyBase64 is not valid Base64'],
    [{ url: GA4, bodyBase64: 'AAAA', contentEncoding: 'zstd' }, 'body: its content encoding is not supported'],
  ])('returns an error that names the problem in %j', (value, error) => {
    expect(decodeLine(value)).toEqual(nobody(error))
  })

  test('returns an object with the same fields for any input', () => {
    const keys = ['vendor', 'kind', 'account', 'events', 'error']
    const text = fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true }), fc.constant(GA4))
    const parts = fc.record({ url: text, method: text, body: text, bodyBase64: text }, { requiredKeys: [] })
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), parts), (value) => {
        expect(Object.keys(decodeLine(value))).toEqual(keys)
      }),
    )
    fc.assert(fc.property(fc.string(), (line) => Object.keys(decodeText(line)).join() === keys.join()))
  })
})

test.each(['', ' ', '{', 'nonsense', '{"url":', "{'url':'x'}"])('the line %j is reported as invalid JSON', (line) => {
  expect(decodeText(line)).toEqual(nobody('the line is not valid JSON'))
})

describe('the lines of a stream', () => {
  async function split(text: string, sizes: readonly number[]): Promise<string[]> {
    const bytes = new TextEncoder().encode(text)
    async function* parts() {
      let at = 0
      for (const size of sizes) {
        yield bytes.subarray(at, at + size)
        at += size
      }
      yield bytes.subarray(at)
    }
    return (await Array.fromAsync(linesOf(parts()))).flat()
  }

  test.each<[string, string[]]>([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\n\n', ['a', '']],
    ['\n', ['']],
    ['a\r\nb', ['a\r', 'b']],
    ['"\u2028"\n"\u0085"', ['"\u2028"', '"\u0085"']],
    ['\ufeffa\nb', ['a', 'b']],
  ])('are split correctly: %j', async (text, lines) => {
    expect(await split(text, [])).toEqual(lines)
  })

  test('do not depend on how the stream is chunked', async () => {
    const text = fc.array(fc.constantFrom('a', 'é', '😀', '\u2028', '\n', '\r\n', '"'), { maxLength: 40 })
    const sizes = fc.array(fc.nat({ max: 7 }), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(text, sizes, async (characters, cuts) => {
        const whole = characters.join('')
        const expected = whole.split('\n')
        if (expected.at(-1) === '') expected.pop()
        expect(await split(whole, cuts)).toEqual(expected)
      }),
    )
  })
})

describe('the decode command', () => {
  test('prints one line for each input line, in order', async () => {
    const sent = [
      JSON.stringify({ url: `${GA4}&en=first` }),
      '',
      '{',
      JSON.stringify({ url: `${GA4}&en=second`, body: 5 }),
      `{"url":"${GA4}&en=\u2028"}`,
      '   ',
      JSON.stringify({ url: `${GA4}&en=last` }),
    ]
    for (const end of ['', '\n', '\r\n']) {
      const { code, stdout, stderr } = await runProgram(['decode'], {}, sent.join('\r\n') + end)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const answers = stdout.split('\n')
      expect(answers.pop()).toBe('')
      const words = answers.map((line) => JSON.parse(line)).map(({ events, error }) => error ?? events[0].event)
      const broken = 'the line is not valid JSON'
      expect(words).toEqual(['first', broken, broken, 'body: must be a string', '\u2028', broken, 'last'])
    }
  })

  test('prints nothing for empty input', async () => {
    expect(await runProgram(['decode'])).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test('reads the requests of a recording', async () => {
    const { code, stdout } = await runProgram(['decode', '--har', RECORDING])
    expect(code).toBe(0)
    const { log } = await Bun.file(RECORDING).json()
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers).toHaveLength(log.entries.length)
    expect(answers.flatMap(({ events }) => events).length).toBeGreaterThan(0)
    expect(answers.filter(({ error }) => error !== null)).toEqual([])
  })
})
