import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { masterKey } from './master-key.ts'
import { makeWholeFile } from './private-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'tagwarden-key-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a key file', () => {
  test('is created once, readable only by its owner, and reused from then on', () => {
    const path = join(folder, 'master.key')
    const key = masterKey(path)
    expect(key.length).toBe(32)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(masterKey(path).equals(key)).toBe(true)
    expect(masterKey(join(folder, 'other.key')).equals(key)).toBe(false)
  })

  test.each([0, 31, 33, 64])('of %d bytes is rejected', (length) => {
    const path = join(folder, `${length}.key`)
    writeFileSync(path, Buffer.alloc(length))
    expect(() => masterKey(path)).toThrow(`is not a master key: it has ${length} bytes instead of 32`)
    expect(statSync(path).size).toBe(length)
  })
  test('created by another process in the meantime is preserved, and no temporary file remains', () => {
    const own = join(folder, 'raced')
    mkdirSync(own)
    const path = join(own, 'master.key')
    const first = masterKey(path)
    makeWholeFile(path, Buffer.alloc(32, 9))
    expect(masterKey(path).equals(first)).toBe(true)
    expect(readdirSync(own)).toEqual(['master.key'])
  })
})
