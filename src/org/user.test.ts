import { describe, expect, test } from 'bun:test'
import { checkEmail, hashPassword } from './user.ts'

describe('checkEmail', () => {
  const good: [string, string][] = [
    ['alice@example.com', 'alice@example.com'],
    ['  alice@example.com\n', 'alice@example.com'],
    ['alice+tags@mail.example.co.uk', 'alice+tags@mail.example.co.uk'],
    ['admin@localhost', 'admin@localhost'],
    ["o'brien@example.com", "o'brien@example.com"],
    ['_@1.example', '_@1.example'],
  ]
  test.each(good)('%j is taken as %j', (text, address) => {
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
  test.each(bad)('%j is refused by name', (text) => {
    expect(() => checkEmail(text)).toThrow('email: is not an e-mail address')
  })

  test('the longest address that fits is taken', () => {
    const longest = `${'a'.repeat(242)}@example.com`
    expect(checkEmail(longest)).toBe(longest)
  })
})

describe('hashPassword', () => {
  test('makes an argon2id hash that only the same password opens', async () => {
    const hash = await hashPassword('correct horse')
    expect(hash).toStartWith('$argon2id$')
    expect(await Bun.password.verify('correct horse', hash)).toBe(true)
    expect(await Bun.password.verify('correct horsf', hash)).toBe(false)
  })

  test('takes both Unicode spellings of one text for one password', async () => {
    const hash = await hashPassword('pass phrase e\u0301')
    expect(await Bun.password.verify('pass phrase \u00e9', hash)).toBe(true)
  })

  const lengths: [string, number, string][] = [
    ['a'.repeat(9), 9, 'at least 10'],
    ['😀'.repeat(9), 9, 'at least 10'],
    ['', 0, 'at least 10'],
    ['a'.repeat(1001), 1001, 'at most 1000'],
  ]
  test.each(lengths)('refuses %j (%i characters)', async (password, _length, message) => {
    await expect(hashPassword(password)).rejects.toThrow(`password: must have ${message} characters`)
  })

  test('takes 10 characters, counted as a person counts them', async () => {
    expect(await hashPassword('😀'.repeat(10))).toStartWith('$argon2id$')
  })
})
