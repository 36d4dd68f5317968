import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { makeWholeFile } from './private-file.ts'

export const KEY_BYTES = 32

/**
 * Reads the 32-byte key file, or creates it (mode 600). A new key is synced to disk before it is returned, because data
 * encrypted with a lost key is lost as well. Throws if the file is not exactly 32 bytes long.
 */
export function masterKey(path: string): Buffer {
  if (!existsSync(path)) makeWholeFile(path, randomBytes(KEY_BYTES))
  const key = readFileSync(path)
  if (key.length !== KEY_BYTES) {
    throw new Error(`${path} is not a master key: it has ${key.length} bytes instead of ${KEY_BYTES}`)
  }
  return key
}
