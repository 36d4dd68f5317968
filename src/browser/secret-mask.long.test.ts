import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { maskerOf } from './secret-mask.ts'

const SPELLINGS: Record<string, (secret: string) => string> = {
  unchanged: (secret) => secret,
  'in upper case': (secret) => secret.toUpperCase(),
  'in a URL': encodeURIComponent,
  'in a URL in a URL': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'in a form': (secret) => new URLSearchParams({ q: secret }).toString().slice(2),
  'in JSON': (secret) => JSON.stringify(secret).slice(1, -1),
  'in JSON in a URL': (secret) => encodeURIComponent(JSON.stringify({ q: secret })),
  'in JSON in JSON': (secret) => JSON.stringify(JSON.stringify({ q: secret })),
  'with JSON escapes': (secret) =>
    Array.from({ length: secret.length }, (_, at) => `\\u${secret.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  'in HTML': (secret) => Bun.escapeHTML(secret),
}
const PACKED: Record<string, (secret: string, before: string) => string> = {
  'in base64': (secret, before) => Buffer.from(`${before}${secret}`).toString('base64'),
  'in URL-safe base64': (secret, before) => Buffer.from(`${before}${secret} and more`).toString('base64url'),
  'in base64 in a URL': (secret, before) =>
    encodeURIComponent(Buffer.from(`${before}${secret} and more`).toString('base64')),
  'of JSON in base64': (secret, before) => Buffer.from(JSON.stringify({ [before]: secret })).toString('base64'),
}
/**
 * Generates secrets from characters of all kinds, including syntax characters and characters of several code units. No
 * secret contains a character of the mask.
 */
const secrets = fc
  .array(fc.constantFrom(...'abcXYZ019 "\'\\/&<>%+=?#@:;,.{}[]$!|~-_éßж漢😀\t'), { minLength: 6, maxLength: 20 })
  .map((characters) => characters.join(''))
  .filter((text) => text.trim().length >= 6 && text.toLowerCase() !== text.toUpperCase())

describe('secret masking', () => {
  for (const [name, spell] of Object.entries(SPELLINGS)) {
    test(name, () => {
      fc.assert(
        fc.property(secrets, (secret) => {
          const spelled = spell(secret)
          const shown = maskerOf([secret])(`before ${spelled} behind`)
          expect(shown).not.toContain(spelled)
          expect(shown).toContain('***')
          expect(shown).toStartWith('before ')
          expect(shown).toEndWith(' behind')
        }),
      )
    })
  }
  for (const [name, spell] of Object.entries(PACKED)) {
    test(name, () => {
      fc.assert(
        fc.property(secrets, fc.constantFrom('', 'u', 'me', 'user:'), (secret, before) => {
          expect(maskerOf([secret])(`x=${spell(secret, before)}`)).toContain('***')
        }),
      )
    })
  }
})

test('a secret that contains another one is masked completely', () => {
  expect(maskerOf(['pass', 'password'])('my password, a pass')).toBe('my ***, a ***')
})

test.each([
  ['4929123488887777', '4929 1234 8888 7777'],
  ['4929 1234 8888 7777', '4929123488887777'],
  ['4929-1234-8888-7777', '4929.1234.8888.7777'],
  ['4929123488887777', '4929%201234%208888%207777'],
  ['4929123488887777', '4929+1234+8888+7777'],
  ['4929123488887777', '4929\u00a01234\u20118888 - 7777'],
  ['ABCD-EFGH-1234', 'abcdefgh1234'],
  ['DE89370400440532013000', 'DE89 3704 0044 0532 0130 00'],
])('the secret %s is masked in %s', (secret, text) => {
  expect(maskerOf([secret])(`a ${text} b`)).toBe('a *** b')
})

test('a short secret is not matched when it is split into groups', () => {
  expect(maskerOf(['12345'])('1 2 3 4 5')).toBe('1 2 3 4 5')
})

test('a string without secrets is unchanged', () => {
  const text = '{"a":"b%20c","d":"ZGVmZ2g="}'
  expect(maskerOf(['hunter2secret'])(text)).toBe(text)
  expect(maskerOf([])(text)).toBe(text)
  expect(maskerOf([''])(text)).toBe(text)
})

test('runs of escapes are processed in linear time', () => {
  const mask = maskerOf(['"secret"'])
  for (const run of ['\\', '%25', '%', '+', '%5C']) expect(mask(run.repeat(100_000))).toBe(run.repeat(100_000))
})
