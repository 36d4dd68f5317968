import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type DuckDBConnection, DuckDBInstance, listValue } from '@duckdb/node-api'
import fc from 'fast-check'
import { AppError } from '../core/error.ts'
import { newBinder } from '../warehouse/warehouse.fixture.ts'
import { compilePattern, type TextPattern } from './pattern.ts'

let connection: DuckDBConnection
beforeAll(async () => {
  const database = await DuckDBInstance.create(':memory:')
  connection = await database.connect()
  await connection.run(
    'CREATE TABLE point AS SELECT i, chr(i::INT) AS c FROM range(1, 1114112) t(i) WHERE i NOT BETWEEN 55296 AND 57343',
  )
})
afterAll(() => connection.closeSync())

/** Returns, for each pattern, whether it matches each of the texts in DuckDB. */
async function inDuckdb(patterns: readonly TextPattern[], texts: readonly string[]): Promise<boolean[][]> {
  const binder = newBinder()
  const columns = patterns.map(({ portable }) => binder.dialect.matches('v', binder.bind(portable)))
  const from = 'FROM (SELECT unnest($texts) AS v, generate_subscripts($texts, 1) AS i) ORDER BY i'
  const values = { ...binder.params, texts: listValue([...texts]) }
  const rows = (await connection.runAndReadAll(`SELECT ${columns.join(', ')} ${from}`, values)).getRows()
  return patterns.map((_, column) => rows.map((row) => row[column] === true))
}

function refusal(source: string): string | null {
  try {
    compilePattern(source)
    return null
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown.message
    throw thrown
  }
}

test.each([
  ['abc', { at: 'anywhere', text: 'abc' }],
  ['', { at: 'anywhere', text: '' }],
  ['^/shop', { at: 'start', text: '/shop' }],
  [String.raw`\.png$`, { at: 'end', text: '.png' }],
  ['^a\\$b😀$', { at: 'whole', text: 'a$b😀' }],
  ['^$', { at: 'whole', text: '' }],
  [String.raw`\d`, null],
  ['a|b', null],
  ['a.b', null],
  ['a{2}', null],
  ['(?i)a', null],
  ['a^b', null],
])('%p is a plain string: %p', (source, literal) => {
  expect(compilePattern(source).literal).toEqual(literal as TextPattern['literal'])
})

test.each([
  ['(', 'missing closing )'],
  ['[a', 'missing closing ]'],
  ['a**', 'nested repetition'],
  ['(?=a)', 'Perl syntax'],
  ['(?<!a)b', 'named capture'],
  [String.raw`(a)\1`, 'escape'],
  [String.raw`\p{Klingon}`, 'range'],
  [String.raw`\Ca`, 'escape'],
  ['a{1001}', 'repeat'],
  ['(?:a{500}){3}', 'repeat'],
  ['\ud800', 'not valid Unicode'],
  [String.raw`\B`, String.raw`\B`],
  [String.raw`x*\B`, String.raw`\B`],
  [String.raw`(?:\pL{30}){30}`, 'too large'],
  [String.raw`(?:[\pL\pN]|\pS){400}`, 'too large'],
  ['(?:abc){1000}', 'too large'],
])('the pattern %p is rejected: %p', (source, reason) => {
  expect(refusal(source)).toContain(reason)
})

test.each([
  ['a$b', 'ab', false],
  ['a^', 'a', false],
  [String.raw`\A\A`, 'a', true],
  [String.raw`\Bar`, 'bar', true],
  [String.raw`\Bar`, '😀 ar', false],
  ['a.b', 'a\nb', false],
  ['(?s)a.b', 'a\nb', true],
  ['^b', 'a\nb', false],
  ['(?m)^b', 'a\nb', true],
  ['a$', 'a\n', false],
  [String.raw`\d`, '٣', false],
  [String.raw`\w`, 'é', false],
  [String.raw`\s`, '\u00a0', false],
  ['(?i)k', '\u212a', true],
  ['[a-z]|(?i:b)', 'B', true],
  [String.raw`\Qa.b`, 'a.b', true],
  [String.raw`\Qa.b\E+$`, 'a.bb', true],
  [String.raw`\Qab\ `.trim(), 'ab\\', true],
  [String.raw`(?P<year>\d{4})-(?<month>\d\d)`, '2024-11', true],
  [String.raw`^\p{Greek}+$`, 'αβγ', true],
  [String.raw`[^\P{Lu}b]`, 'Ab', true],
  [String.raw`(?i)^\P{Lu}$`, 'a', false],
  [String.raw`(?i:(?-i)\p{Lu})`, 'a', false],
  [String.raw`(?:(?i)x)\p{Lu}`, 'Xa', false],
  [String.raw`[\p{Lu}-z]`, '-', true],
  [String.raw`[\p{Any}]`, '\u{10ffff}', true],
  [String.raw`\P{Any}`, 'a', false],
  [String.raw`\p{Cs}|b`, 'b', true],
  ['[]a]', ']', true],
  ['[^]a]', ']', false],
  ['[[:^alpha:]]', 'a', false],
  ['^.$', '😀', true],
  ['^..$', 'e\u0301', true],
  [String.raw`^\x{1F600}$`, '😀', true],
  ['(a+)+$', `${'a'.repeat(4000)}b`, false],
  ['(.*)*(.*)*(.*)*=', 'a'.repeat(4000), false],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(4000), false],
  ['(?:a?){300}a{300}', 'a'.repeat(299), false],
  ['^.{1,1000}$', 'x'.repeat(1001), false],
])('the pattern %p on %p returns %p in both engines', async (source, text, wanted) => {
  const pattern = compilePattern(source)
  const [inSql] = await inDuckdb([pattern], [text])
  expect([pattern.matches(text), inSql]).toEqual([wanted, [wanted]])
})

describe('every Unicode character', () => {
  test.each([String.raw`\pL`, String.raw`\P{Lu}`, String.raw`[\pN\s]`, String.raw`\p{Emoji}`, '(?i)[^a-z]'])(
    'matches %s equally in both engines',
    async (source) => {
      const pattern = compilePattern(`^${source}$`)
      const points = (
        await connection.runAndReadAll(`SELECT i::INT FROM point WHERE ${newBinder().dialect.matches('c', '$p')}`, {
          p: pattern.portable,
        })
      ).getRows()
      const found = new Set(points.map(([point]) => point))
      const different: number[] = []
      for (let point = 1; point <= 0x10ffff; point++) {
        if (point === 0xd800) point = 0xe000
        if (pattern.matches(String.fromCodePoint(point)) !== found.has(point)) different.push(point)
      }
      expect(different).toEqual([])
      expect(found.size).toBeGreaterThan(10)
    },
  )
})

// Not a single raw template, because Bun 1.4 turns non-ASCII characters in it into escapes.
const TOKENS = [
  ...String.raw`a b k K s 0 9 . ^ $ \b \B \A \z \d \D \w \W \s \S [ab] [^a] [a-c] []a] [^]a] [a-] [-a] [\d-z] [\w.-] \. \n \t \f \v \r \a
  \e \x41 \x4 \x{1F600} \x{} \x{110000} \101 \0 \1 \8 \Qa.b\E \Q \E (?i) (?s) (?m) (?U) (?-s) (?i-s: (?: ( (?P<n> (?<m> (?= (?! (?<= (?P=n)
  (?x) (?#x) (?i ) ) ) | * + ? {2} {1,2} {0} {2,} {,2} {1,3}? { } *? +? ?? [ \ \Z \c \u0041 \N{x} \h \R \X [z-a] [\b] \/ \- \_ - _ [\Q]\E]
  [^\n] [^\s] (?i:k) (?i:[^k]) [K-S] \pL \PN \p{Greek} \p{L [\pL\d] \p{^Lu} [^\P{Ll}k] [\pN-z] [[:alpha:]] [^[:digit:]] [[:^space:]]
  [[:foo:]] [[:alpha:] [[=a=]] [[.a.]] (a+)+ x* {1000} a{1001} (a{100}){11} [a\-z] [a #`.split(/\s+/),
  'ſ',
  'é',
  'É',
  'e\u0301',
  '😀',
  '[é😀]',
  '[^é]',
  '(?i)é',
  '(?i:σ)',
  'ς',
  '\n',
  ' ',
  '\u212a',
  '\u00a0',
  '\\é',
  '\ud83d',
]
const TEXTS = [
  '',
  'a',
  'ab',
  'aab',
  'k',
  'K',
  '\u212a',
  's',
  'ſ',
  'é',
  'e\u0301',
  'É',
  '😀',
  'a😀b',
  '\n',
  'a\nb',
  '0',
  '٣',
  '_',
  '-',
  '.',
  ' ',
  '\u00a0',
  'a.b',
  'Aa',
  'abc',
  'ABC',
  'σ',
  'ς',
  'Σ',
  '{',
  'a{2}',
  'n',
  '(',
  '\ufffd',
  '{,2}',
  'a]',
  '^',
  '$',
  '\\',
  'x',
  'Q',
  'E',
  '\u{10ffff}',
]

test('every accepted pattern compiles in DuckDB and matches the same strings', async () => {
  let accepted = 0
  const tokens = fc.array(fc.constantFrom(...TOKENS), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
  const check = async (sources: string[]) => {
    const patterns = sources.filter((source) => refusal(source) === null)
    const compiled = patterns.map((source) => compilePattern(source))
    if (compiled.length === 0) return
    const rows = await inDuckdb(compiled, TEXTS)
    for (const [index, source] of patterns.entries()) {
      const here = TEXTS.filter((text) => compiled[index]?.matches(text))
      expect({ source, texts: TEXTS.filter((_, at) => rows[index]?.[at]) }).toEqual({ source, texts: here })
    }
    accepted += patterns.length
  }
  await fc.assert(fc.asyncProperty(fc.array(tokens, { minLength: 60, maxLength: 60 }), check), {
    numRuns: 25,
    endOnFailure: true,
  })
  expect(accepted).toBeGreaterThan(300)
})

test('every pattern below the size limit compiles in DuckDB', async () => {
  const part = fc.constantFrom(
    'a',
    '.',
    '[^a]',
    '[àéîõü😀😁🙂]',
    String.raw`\pL`,
    String.raw`\PL`,
    String.raw`[\pL\pN]`,
    String.raw`(?i:\pL)`,
    'ab|c',
    '(?i:k)',
  )
  const count = fc.integer({ min: 1, max: 1000 })
  const source = fc.tuple(part, count, part, count).map(([a, n, b, m]) => `(?:${a}){${n}}(?:${b}){0,${m}}`)
  const check = async (sources: string[]) => {
    const small = sources.filter((one) => refusal(one) === null).map(compilePattern)
    await inDuckdb(small.length > 0 ? small : [compilePattern('a+')], [''])
  }
  await fc.assert(fc.asyncProperty(fc.array(source, { minLength: 10, maxLength: 10 }), check), {
    numRuns: 8,
    endOnFailure: true,
  })
  // The largest accepted patterns.
  const [largest] = await inDuckdb([compilePattern('^.{1,1000}$')], ['a'.repeat(1000)])
  expect(largest).toEqual([true])
  await inDuckdb([compilePattern(String.raw`^[\pL ]{1,100}$`)], ['a'])
})

test('recently compiled patterns are cached, and the oldest are evicted', () => {
  const pattern = compilePattern('[ab]{2,50}[^d]{20,200}x$')
  expect(compilePattern('[ab]{2,50}[^d]{20,200}x$')).toBe(pattern)
  const others = Array.from({ length: 300 }, (_, n) => compilePattern(`[ab]{2,${100 + n}}[^d]{20,200}y$`))
  expect(compilePattern('[ab]{2,399}[^d]{20,200}y$')).toBe(others.at(-1) as TextPattern)
  expect(compilePattern('[ab]{2,50}[^d]{20,200}x$')).not.toBe(pattern)
  expect(refusal('(')).toBe(refusal('('))
})
