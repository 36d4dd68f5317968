import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { jsonOf } from './json-body.ts'
import { MAX_DEPTH, readJsonInSteps } from './parse-json-in-steps.ts'

/** Returns the value returned by `read`, or the message of the error it throws. */
async function outcome(read: () => unknown): Promise<{ value: unknown } | { message: string; code: unknown }> {
  try {
    return { value: await read() }
  } catch (error) {
    return { message: (error as Error).message, code: (error as { code?: unknown }).code }
  }
}

async function expectSame(text: string): Promise<void> {
  const [ours, runtime] = [await outcome(() => readJsonInSteps(text)), await outcome(() => jsonOf(text))]
  expect(ours).toEqual(runtime)
  // `toEqual` ignores the order of fields and the sign of -0.
  expect(JSON.stringify(ours)).toBe(JSON.stringify(runtime))
}

/** Like `expectSame`, but allows different error messages, because a string may have several errors. */
async function expectAlike(text: string): Promise<void> {
  const [ours, runtime] = [await outcome(() => readJsonInSteps(text)), await outcome(() => jsonOf(text))]
  expect('code' in ours ? { code: ours.code } : ours).toEqual('code' in runtime ? { code: runtime.code } : runtime)
}

const lists = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe('JSON parsed in steps equals the result of `JSON.parse`', () => {
  test('for any value and any formatting', async () => {
    const value = fc.json({ maxDepth: 6, stringUnit: 'binary' }).map((text) => JSON.parse(text))
    const indent = fc.constantFrom<(string | undefined)[]>(undefined, ' ', '\t', '  \n')
    await fc.assert(
      fc.asyncProperty(value, indent, async (one, space) => expectSame(JSON.stringify(one, null, space))),
      { numRuns: 500 },
    )
  })

  test('after any change to the input', async () => {
    const piece = fc.constantFrom(...'[]{},:"\\ \n\t0123456789.-+eEtrufalsn\u0000\u0001\u00a0é\ud800')
    const change = fc.record({ at: fc.nat(), remove: fc.nat(2), insert: fc.string({ unit: piece, maxLength: 2 }) })
    const texts = fc.tuple(fc.json({ maxDepth: 4 }), fc.array(change, { minLength: 1, maxLength: 2 }))
    await fc.assert(
      fc.asyncProperty(texts, async ([text, changes]) => {
        const changed = changes.reduce((whole, { at, remove, insert }) => {
          const from = at % (whole.length + 1)
          return whole.slice(0, from) + insert + whole.slice(from + remove)
        }, text)
        // The string may have several errors, and the two parsers may report different ones.
        const [ours, runtime] = [await outcome(() => readJsonInSteps(changed)), await outcome(() => jsonOf(changed))]
        expect('code' in ours ? { code: ours.code } : ours).toEqual(
          'code' in runtime ? { code: runtime.code } : runtime,
        )
      }),
      { numRuns: 2000 },
    )
  })

  test.each([
    '',
    ' ',
    '0',
    '-0',
    '1e400',
    '01',
    '-',
    '1.',
    '.5',
    '+1',
    '0x1',
    'nul',
    'nulll',
    'true false',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a":1,}',
    '{"a" 1}',
    '{a:1}',
    '{"a":1 "b":2}',
    '{"a":1,"a":2}',
    '{"":{"":[]}}',
    '{"__proto__":{"x":1}}',
    '[}',
    '{]',
    '"\\',
    '"\\"',
    '"\\\\"',
    '"\\\\\\"',
    '"\\x"',
    '"\\u12"',
    '"\n"',
    '"\\ud83d\\ude00"',
    '"\\ud83d"',
    '"\\u0000"',
    '"a" "b"',
    '[[],[{}]]',
    '\ufeff1',
    '\u00a01',
    '[1]\u2028',
    '{"2":1,"1":2,"a":3}',
    '{"constructor":1}',
    '{"a":{"b":["x","\\ude00"]}}',
    '{"a":{"b\\u0000":1}}',
    '[0,{"\\ud800":1}]',
    '{"\\u0000":1}',
    '{"a":[[0],["\\u0000"]]}',
    lists(MAX_DEPTH),
    lists(MAX_DEPTH + 1),
    lists(100_000),
  ])('for %s', expectSame)
})

test('parsing long strings with escapes at any position equals `JSON.parse`', async () => {
  const piece = fc.constantFrom('a', '\\\\', '\\"', '\\n', '\\u00e9', '\\ud83d\\ude00', 'é😀', '\\')
  const runs = fc.array(fc.tuple(piece, fc.integer({ min: 1, max: 20_000 })), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(runs, async (parts) => {
      const text = parts.map(([one, times]) => one.repeat(times)).join('')
      await expectAlike(`["${text}","${text.slice(1)}"]`)
    }),
    { numRuns: 200 },
  )
})

test('an object with more than 100,000 fields is rejected', async () => {
  const fields = (count: number) => `{"a":{${Array.from({ length: count }, (_, n) => `"${n}x":0`).join()}}}`
  expect(await readJsonInSteps(fields(100_000))).toMatchObject({ a: { '0x': 0 } })
  expect(readJsonInSteps(fields(100_001))).rejects.toThrow('a: has more than 100000 fields')
})

test('other requests are served while a long JSON body is parsed', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  const text = `[${Array(1_000_000).fill('[]').join()}]`
  expect(await readJsonInSteps(text)).toHaveLength(1_000_000)
  clearInterval(timer)
  // Parsing takes 100 ms on any machine. With a parser that never yields, the timer would fire at most once.
  expect(turns).toBeGreaterThan(4)
})
