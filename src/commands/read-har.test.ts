import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { temporaryFolder } from '../../test/run-program.ts'
import type { RecordedHit } from '../browser/har-requests.ts'
import { zipOf } from '../browser/zip.fixture.ts'
import { UsageError } from './command.ts'
import { parseHar, readHar } from './read-har.ts'

const harOf = (...entries: unknown[]) => JSON.stringify({ log: { version: '1.2', entries } })
const read = (...entries: unknown[]) => parseHar(harOf(...entries), 'a.har')
const URL = 'https://shop.example/collect?a=1'

describe('a HAR entry', () => {
  test('is read with all fields of the collector', () => {
    const entry = {
      startedDateTime: '2026-01-05T12:00:00.250Z',
      time: 12.5,
      request: {
        url: URL,
        method: 'POST',
        headers: [
          { name: 'Content-Encoding', value: 'gzip' },
          { name: 'REFERER', value: 'https://shop.example/cart' },
        ],
        postData: { mimeType: 'application/json', text: 'H4sI', encoding: 'base64' },
      },
      response: { status: 204 },
    }
    expect(read(entry)).toEqual([
      {
        url: URL,
        method: 'POST',
        bodyBase64: 'H4sI',
        contentEncoding: 'gzip',
        status: 204,
        durMs: 12.5,
        ts: Date.UTC(2026, 0, 5, 12, 0, 0, 250),
        pageUrl: 'https://shop.example/cart',
      },
    ])
  })

  test('may contain only a URL', () => {
    expect(read({ request: { url: URL } })).toEqual([{ url: URL, method: 'GET', pageUrl: null }])
  })

  test.each<[unknown, Partial<RecordedHit>]>([
    [{ text: 'a=1' }, { body: 'a=1' }],
    [{ text: '' }, {}],
    [{ text: 'YT0x', encoding: 'base64' }, { bodyBase64: 'YT0x' }],
    [{ params: [{ name: 'a', value: '1 2' }, { name: 'b' }, null, { value: 'x' }] }, { body: 'a=1+2&b=' }],
    [{ text: 'wins', params: [{ name: 'a', value: '1' }] }, { body: 'wins' }],
    [{ params: [] }, {}],
    [{ params: 'a=1' }, {}],
    [{ text: 5 }, {}],
    [null, {}],
  ])('is read correctly with the post data %j', (postData, expected) => {
    expect(read({ request: { url: URL, method: 'POST', postData } })).toEqual([
      { url: URL, method: 'POST', pageUrl: null, ...expected },
    ])
  })

  test.each<[object, Partial<RecordedHit>]>([
    [{ time: -1 }, {}],
    [{ time: null }, {}],
    [{ time: 0 }, { durMs: 0 }],
    [{ startedDateTime: 'yesterday' }, {}],
    [{ startedDateTime: 5 }, {}],
    [{ response: { status: 0 } }, { status: 0 }],
    [{ response: { status: -1 } }, {}],
    [{ response: { status: 1000 } }, {}],
    [{ response: { status: '200' } }, {}],
    [{ response: null }, {}],
  ])('is read without invalid fields: %j', (parts, expected) => {
    expect(read({ request: { url: URL }, ...parts })).toEqual([{ url: URL, method: 'GET', pageUrl: null, ...expected }])
  })

  test('is skipped if it is not a request, while any URL is accepted', () => {
    const urls = [
      'data:text/plain,x',
      'ws://shop.example/',
      'blob:https://x',
      'about:blank',
      '',
      5,
      null,
      'HTTPS://A.example/',
    ]
    const kept = read(...urls.map((url) => ({ request: { url } })), null, 5, {}, [])
    expect(kept.map(({ url }) => url)).toEqual(urls.filter((url) => typeof url === 'string'))
  })
})

describe('the page of an entry', () => {
  const SHOP = 'https://shop.example/cart'
  const entry = (url: string, pageref?: string, more: object = {}) => ({
    request: { url },
    ...(pageref === undefined ? {} : { pageref }),
    ...more,
  })
  const hit = entry(URL, 'page_1')
  const html = (url: string, status = 200, more: object = {}) =>
    entry(url, 'page_1', { response: { status, content: { mimeType: 'text/html; charset=utf-8' } }, ...more })
  const titled = (title: unknown) => [{ id: 'page_1', title }]

  /** Returns the page determined for the request to `URL`. */
  const pageOf = (pages: unknown, ...entries: object[]) =>
    parseHar(JSON.stringify({ log: { pages, entries } }), 'a.har').find(({ url }) => url === URL)?.pageUrl

  test.each<[string, unknown, object[], string | null]>([
    ['the page title if it is a URL, as in Chrome', titled(SHOP), [hit], SHOP],
    ['the page title in preference to documents', titled(SHOP), [html('https://other.example/'), hit], SHOP],
    [
      'the first document if the page title is not a URL',
      titled('Cart'),
      [html(SHOP), html('https://frame.example/'), hit],
      SHOP,
    ],
    [
      'the document if the page title only contains a URL',
      titled('Run 1 for https://x.example/'),
      [html(SHOP), hit],
      SHOP,
    ],
    ['the document if the page title begins with a URL', titled('https://x.example/ - Cart'), [html(SHOP), hit], SHOP],
    ['the document if there are no pages', undefined, [html(SHOP), hit], SHOP],
    ['the document if the pages are not a list', 'x', [html(SHOP), hit], SHOP],
    ['a document marked as in Chrome', titled('x'), [entry(SHOP, 'page_1', { _resourceType: 'document' }), hit], SHOP],
    ['not HTML fetched by a script', titled('x'), [html(SHOP, 200, { _resourceType: 'xhr' }), hit], null],
    ['the target of redirects', titled('x'), [html('https://shop.example/old', 301), html(SHOP, 304), hit], SHOP],
    [
      'the document that was requested first',
      titled('x'),
      [
        html('https://frame.example/', 200, { startedDateTime: '2026-01-05T12:00:01Z' }),
        hit,
        html(SHOP, 200, { startedDateTime: '2026-01-05T12:00:00Z' }),
      ],
      SHOP,
    ],
    [
      'not a document from another page',
      titled('x'),
      [entry(SHOP, 'page_2', { _resourceType: 'document' }), hit],
      null,
    ],
    [
      'not a document without a web URL',
      titled('x'),
      [entry('about:blank', 'page_1', { _resourceType: 'document' }), hit],
      null,
    ],
    ['the only page if the request refers to no page', titled(SHOP), [entry(URL)], SHOP],
    [
      'no page if the request refers to neither of two pages',
      [...titled(SHOP), { id: 'page_2', title: 'https://x.example/' }],
      [entry(URL)],
      null,
    ],
    [
      'the first document if there are no page references',
      [],
      [entry(SHOP, undefined, { _resourceType: 'document' }), entry(URL)],
      SHOP,
    ],
    ['the first of two pages with the same id', [...titled(SHOP), ...titled('https://x.example/')], [hit], SHOP],
    ['no page if all pages are invalid', [null, 5, { id: 7, title: SHOP }, { title: SHOP }], [hit], null],
    ['no page without any information', titled(undefined), [hit], null],
  ])('is determined correctly: %s', (_what, pages, entries, expected) => {
    expect(pageOf(pages, ...entries)).toBe(expected)
  })

  test('is the Referer if there is one', () => {
    const headers = [{ name: 'Referer', value: 'https://shop.example/start' }]
    expect(pageOf(titled(SHOP), { pageref: 'page_1', request: { url: URL, headers } })).toBe(
      'https://shop.example/start',
    )
  })
})

describe('the text of a HAR file', () => {
  test('may begin with a byte order mark', () => {
    expect(parseHar(`\ufeff${harOf({ request: { url: URL } })}`, 'a.har')).toHaveLength(1)
  })

  test.each(['null', '{}', '{"log":null}', '{"log":{"entries":{}}}', '[]', '5', '"x"'])(
    'is rejected when it is not a HAR: %s',
    (text) => {
      expect(() => parseHar(text, 'a.har')).toThrow(
        new UsageError('a.har: is not a HAR file because log.entries is missing'),
      )
    },
  )

  test('is read or rejected for any JSON', () => {
    const word = fc.constantFrom(
      'request',
      'url',
      'headers',
      'name',
      'value',
      'postData',
      'text',
      'params',
      'response',
      'status',
      'pageref',
      'id',
      'title',
      '_resourceType',
      'content',
      'mimeType',
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom(null, 5, -1, '', URL, true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(word, tie('value'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(fc.array(value), value, (entries, pages) => {
        for (const hit of parseHar(JSON.stringify({ log: { pages, entries } }), 'a.har')) {
          expect([URL, '']).toContain(hit.url)
          expect(hit.method).toEqual(expect.any(String))
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('a HAR file', () => {
  test.each<[string, string | null, RegExp]>([
    ['missing.har', null, /missing\.har: file not found$/],
    ['no/such.har', null, /such\.har: file not found$/],
    ['.', null, /: is a folder, not a file$/],
    ['broken.har', '{"log":', /broken\.har: JSON/],
    ['empty.har', '', /empty\.har: JSON/],
    ['other.har', '{"a":1}', /other\.har: is not a HAR file/],
  ])('is rejected with an error naming it: %s (content %p)', async (name, text, message) => {
    using folder = temporaryFolder()
    const path = join(folder.path, name)
    if (text !== null) await Bun.write(path, text)
    await expect(readHar(path)).rejects.toThrow(UsageError)
    await expect(readHar(path)).rejects.toThrow(message)
  })

  const RECORDINGS = join(import.meta.dir, '../../../shared/data/har')
  const names = existsSync(RECORDINGS) ? readdirSync(RECORDINGS).filter((name) => name.endsWith('.har')) : []
  test.skipIf(names.length === 0)('from any of the available recorders is read', async () => {
    for (const name of names) {
      const { log } = await Bun.file(join(RECORDINGS, name)).json()
      const hits = await readHar(join(RECORDINGS, name))
      const isWeb = ({ request }: { request: { url: string } }) => /^https?:/i.test(request.url)
      expect([name, hits.length]).toEqual([name, log.entries.filter(isWeb).length])
    }
  })
})

describe('an attachment of a HAR entry', () => {
  const harWith = (...files: string[]) =>
    harOf(
      ...files.map((file) => ({
        request: { url: URL, method: 'POST', postData: { mimeType: 'text/plain', text: '', _file: file } },
      })),
    )

  const NOT_NEXT = /is not a file next to the HAR file$/

  test('is read only from the folder of the HAR file', async () => {
    using outside = temporaryFolder()
    using folder = temporaryFolder()
    await Bun.write(join(outside.path, 'secret.dat'), 'secret')
    await Bun.write(join(folder.path, 'a.dat'), 'en=a')
    await Bun.write(join(folder.path, 'below/b.dat'), 'en=b')
    await Bun.write(join(folder.path, '.hidden'), 'secret')
    await Bun.write(join(folder.path, 'big.dat'), Buffer.alloc(1024 * 1024 + 1))
    symlinkSync(join(outside.path, 'secret.dat'), join(folder.path, 'link.dat'))
    symlinkSync(outside.path, join(folder.path, 'linked'))
    symlinkSync(join(folder.path, 'a.dat'), join(folder.path, 'same.dat'))
    const up = `../${basename(outside.path)}/secret.dat`
    const cases: [string, string | RegExp][] = [
      ['a.dat', 'en=a'],
      ['below/b.dat', NOT_NEXT],
      ['./a.dat', NOT_NEXT],
      ['.hidden', NOT_NEXT],
      ['', /^missing from the recording$/],
      ['same.dat', 'en=a'],
      ['big.dat', /is larger than 1 MiB$/],
      ['link.dat', NOT_NEXT],
      ['linked/secret.dat', NOT_NEXT],
      [up, NOT_NEXT],
      [join(outside.path, 'secret.dat'), NOT_NEXT],
      ['below', /is not a file$/],
      ['.', NOT_NEXT],
      ['..', NOT_NEXT],
      ['a\0.dat', /is not next to the HAR file$/],
      ['x'.repeat(5000), /"x{100}", which is not next to the HAR file$/],
    ]
    const path = join(folder.path, 'x.har')
    await Bun.write(path, harWith(...cases.map(([name]) => name)))
    const hits = await readHar(path)
    for (const [at, [name, expected]] of cases.entries()) {
      const { body, missingBody } = hits[at] ?? {}
      if (typeof expected === 'string') expect([name, body, missingBody]).toEqual([name, expected, undefined])
      else expect([name, body, missingBody?.entry]).toEqual([name, undefined, at])
      if (expected instanceof RegExp) expect(missingBody?.reason).toMatch(expected)
    }
  })

  test.each<[string, Uint8Array, string]>([
    ['no .har file', zipOf([{ name: 'a.txt', content: '' }]), 'contains no .har file'],
    [
      'a .har file without a HAR',
      zipOf([{ name: 'a.har', content: '{}' }]),
      'is not a HAR file because log.entries is missing',
    ],
    ['a truncated archive', zipOf([{ name: 'a.har', content: '{}' }]).slice(0, 40), 'is not a readable ZIP archive'],
  ])('in an invalid archive is rejected with an error naming the file: %s', async (_, bytes, message) => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'x.zip')
    await Bun.write(path, bytes)
    await expect(readHar(path)).rejects.toThrow(UsageError)
    await expect(readHar(path)).rejects.toThrow(`x.zip: ${message}`)
  })
})
