import { describe, expect, spyOn, test } from 'bun:test'
import { hashPassword, verifyPassword } from './password-hash.ts'

describe('hashPassword', () => {
  test('returns an argon2id hash that only the same password matches', async () => {
    const hash = await hashPassword('correct horse')
    expect(hash).toStartWith('$argon2id$')
    expect(await Bun.password.verify('correct horse', hash)).toBe(true)
    expect(await Bun.password.verify('correct horsf', hash)).toBe(false)
  })

  test('treats different Unicode forms of the same password as equal', async () => {
    const hash = await hashPassword('pass phrase e\u0301')
    expect(await Bun.password.verify('pass phrase \u00e9', hash)).toBe(true)
  })

  const lengths: [string, number, string][] = [
    ['a'.repeat(9), 9, 'at least 10'],
    ['😀'.repeat(9), 9, 'at least 10'],
    ['', 0, 'at least 10'],
    ['a'.repeat(1001), 1001, 'at most 1000'],
  ]
  test.each(lengths)('rejects %j (%i characters)', async (password, _length, message) => {
    await expect(hashPassword(password)).rejects.toThrow(`password: must have ${message} characters`)
  })

  test('requires 10 user-perceived characters', async () => {
    expect(await hashPassword('😀🐴🔋🧷🌊🪁🎻🧭🥨🛶')).toStartWith('$argon2id$')
  })
})

describe('a new password that is easy to guess', () => {
  const known = ['ann.example@shop.example', 'Acme Europe']

  test.each([
    ['password123', 'is one of the most common passwords'],
    ['1234567890', 'is one of the most common passwords'],
    ['QWERTYUIOP', 'is one of the most common passwords'],
    ['qwertzuiop12', 'is easy to guess, because it is a variation of a common password, a repetition or a sequence'],
    ['Password123!', 'is easy to guess'],
    ['p4ssw0rd2024', 'is easy to guess'],
    ['aaaaaaaaaaaa', 'is easy to guess'],
    ['abcdefghij', 'is easy to guess'],
    ['a'.repeat(1000), 'is easy to guess'],
    ['tagwarden1', 'is too similar to your e-mail address or to a name'],
    ['acme europe', 'is too similar to your e-mail address or to a name'],
    ['ann.example@shop.example', 'is too similar to your e-mail address or to a name'],
  ])('is refused with the reason: %s', async (password, reason) => {
    await expect(hashPassword(password, { field: 'newPassword', known })).rejects.toThrow(`newPassword: ${reason}`)
  })

  test.each(['correct horse', 'a long pass phrase', 'xK4-qPz9vLm', 'owner-of-acme-1', 'ünïcödé wörds här'])(
    'does not include %s',
    async (password) => {
      expect(await hashPassword(password, { known })).toStartWith('$argon2id$')
    },
  )
})

describe('verifyPassword', () => {
  test('accepts only the same password, in any Unicode form', async () => {
    const hash = await hashPassword('pass phrase e\u0301')
    expect(await verifyPassword('pass phrase \u00e9', hash)).toBe(true)
    expect(await verifyPassword('pass phrase e\u0301', hash)).toBe(true)
    expect(await verifyPassword('pass phrase e', hash)).toBe(false)
  })

  test('returns false without a hash, after the same amount of work as with one', async () => {
    using verify = spyOn(Bun.password, 'verify')
    const cost = (hash: string) => hash.replace(/\$[^$]+\$[^$]+$/, '')
    const hash = await hashPassword('correct horse')
    expect(await verifyPassword('correct horsf', hash)).toBe(false)
    expect(await verifyPassword('correct horse', null)).toBe(false)
    const hashes = verify.mock.calls.map(([, hash]) => String(hash))
    expect(hashes.map(cost)).toEqual([cost(hash), cost(hash)])
    expect(cost(hash)).toBe('$argon2id$v=19$m=65536,t=2,p=1')
    // All hashes have the same length, so none is rejected before hashing starts.
    expect(new Set(hashes.map(({ length }) => length)).size).toBe(1)
  })
})

test('at most two passwords are hashed concurrently', async () => {
  let running = 0
  let most = 0
  const counted =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      most = Math.max(most, ++running)
      const result = await work(...args)
      running--
      return result
    }
  const { hash: realHash, verify: realVerify } = Bun.password
  using hash = spyOn(Bun.password, 'hash')
  using verify = spyOn(Bun.password, 'verify')
  hash.mockImplementation(counted(realHash))
  verify.mockImplementation(counted(realVerify))
  await Promise.all(Array.from({ length: 4 }, () => [hashPassword('correct horse'), verifyPassword('x', null)]).flat())
  expect(most).toBe(2)
})
