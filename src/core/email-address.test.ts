import { describe, expect, test } from 'bun:test'
import { checkEmail } from './email-address.ts'

describe('checkEmail', () => {
  const good: [string, string][] = [
    ['alice@example.com', 'alice@example.com'],
    ['  alice@example.com\n', 'alice@example.com'],
    ['alice+tags@mail.example.co.uk', 'alice+tags@mail.example.co.uk'],
    ['admin@localhost', 'admin@localhost'],
    ["o'brien@example.com", "o'brien@example.com"],
    ['_@1.example', '_@1.example'],
  ]
  test.each(good)('accepts %j as %j', (text, address) => {
    expect(checkEmail(text)).toBe(address)
  })

  const bad = [
    '',
    ' ',
    'alice',
    '@example.com',
    'alice@',
    'alice@@example.com',
    'a@b@example.com',
    'alice@-example.com',
    'alice@example-.com',
    'alice@example..com',
    'alice@.example.com',
    'alice@example.com.',
    'ali ce@example.com',
    'alice@exam ple.com',
    'alice@example.com\nbcc: bob@example.com',
    '<alice@example.com>',
    'alice@müller.example',
    `alice@${'a'.repeat(64)}.example`,
    `${'a'.repeat(243)}@example.com`,
  ]
  test.each(bad)('rejects %j with an error that names the field', (text) => {
    expect(() => checkEmail(text)).toThrow('email: is not an e-mail address')
  })

  test('accepts the longest valid address', () => {
    const longest = `${'a'.repeat(242)}@example.com`
    expect(checkEmail(longest)).toBe(longest)
  })
})
