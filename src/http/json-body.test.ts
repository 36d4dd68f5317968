import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { checkJson, readJson } from './json-body.ts'

const JSON_TYPE = 'application/json'

function read(body: string | null, type: string | null = JSON_TYPE): Promise<unknown> {
  const headers = type === null ? {} : { 'content-type': type }
  return readJson(new Request('http://localhost/', { method: 'POST', headers, body: body && Buffer.from(body) }))
}

/** Returns `depth` nested lists. */
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe('a JSON body', () => {
  test('is parsed', async () => {
    // Other tests cover `__proto__` and values that are not equal to themselves.
    const value = fc.jsonValue({ maxDepth: 5, stringUnit: 'grapheme' }).filter((one) => {
      const text = JSON.stringify(one)
      return !/\\u0000|\\ud[89a-f]|__proto__/.test(text) && text !== '-0'
    })
    await fc.assert(
      fc.asyncProperty(value, async (expected) => {
        expect(await read(JSON.stringify(expected))).toEqual(JSON.parse(JSON.stringify(expected)))
      }),
    )
  })

  test('is undefined when there is none, for any content type', async () => {
    for (const type of [JSON_TYPE, 'text/plain', null]) {
      expect(await read(null, type)).toBeUndefined()
      expect(await read('', type)).toBeUndefined()
    }
  })

  test.each([JSON_TYPE, 'application/json; charset=utf-8', 'Application/JSON ;charset=utf-8'])(
    'may have the content type %s',
    async (type) => expect(await read('[1]', type)).toEqual([1]),
  )

  test.each([null, '', 'text/plain', 'application/jsonp', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    'is rejected with the content type %j',
    async (type) =>
      expect(read('[1]', type)).rejects.toMatchObject({
        code: 'unsupportedType',
        message: 'content-type: must be application/json',
      }),
  )

  test.each<[string, string]>([
    ['{', 'body: is not valid JSON'],
    [' ', 'body: is not valid JSON'],
    ["{'a':1}", 'body: is not valid JSON'],
    ['NaN', 'body: is not valid JSON'],
    ['"\\u0000"', 'body: contains a NUL character or an unpaired surrogate'],
    ['"\\ud800"', 'body: contains a NUL character or an unpaired surrogate'],
    ['{"a":{"b":["x","\\ude00"]}}', 'a.b[1]: contains a NUL character or an unpaired surrogate'],
    ['{"a":{"b\\u0000":1}}', 'a: contains a NUL character or an unpaired surrogate'],
    [nested(51), 'body: is nested more than 50 levels deep'],
    [nested(100_000), 'body: is nested more than 50 levels deep'],
    [nested(1_000_000), 'body: is nested more than 50 levels deep'],
    [`${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}`, 'body: is nested more than 50 levels deep'],
  ])('that starts with %.20j is rejected: %s', async (text, message) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'invalid', message })
  })

  test('may be nested 50 levels deep', async () => {
    expect(JSON.stringify(await read(nested(50)))).toBe(nested(50))
    expect(() => checkJson(JSON.parse(nested(50)))).not.toThrow()
  })
})
