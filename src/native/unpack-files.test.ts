import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolders, unpack } from './unpack-files.ts'

let root = ''
let next = 0
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tagwarden-'))
  writeFileSync(join(root, 'a.bin'), Bun.zstdCompressSync('the library'))
  writeFileSync(join(root, 'b.bin'), Bun.zstdCompressSync('the addon'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const files = () => [
  { name: 'lib.so', source: join(root, 'a.bin'), bytes: 'the library'.length },
  { name: 'addon.node', source: join(root, 'b.bin'), bytes: 'the addon'.length },
]
/** Returns a folder that does not exist yet. */
const fresh = () => join(root, `cache-${next++}`)
/** Returns a path that must not be used. */
const nowhere = () => join(root, 'missing')
const contents = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
const whole = { 'lib.so': 'the library', 'addon.node': 'the addon' }

test('the first start writes the files, and later starts reuse them', () => {
  const base = join(fresh(), 'deep', 'tagwarden')
  const folder = join(base, 'v1')
  expect(unpack(files(), 'v1', { folders: [base], spare: nowhere() }, (path) => path)).toBe(folder)
  expect(contents(folder)).toEqual(whole)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  const written = statSync(join(folder, 'lib.so'))
  expect(written.mode & 0o777).toBe(0o700)
  expect(unpack(files(), 'v1', { folders: [base], spare: nowhere() }, contents)).toEqual(whole)
  expect(statSync(join(folder, 'lib.so')).ino).toBe(written.ino)
  // Another version is unpacked to the same folder.
  expect(unpack(files(), 'v2', { folders: [base], spare: nowhere() }, (path) => path)).toBe(join(base, 'v2'))
})

test('a truncated file is written again', () => {
  const base = fresh()
  const folder = unpack(files(), 'v1', { folders: [base], spare: nowhere() }, (path) => path)
  writeFileSync(join(folder, 'lib.so'), 'the li')
  expect(unpack(files(), 'v1', { folders: [base], spare: nowhere() }, contents)).toEqual(whole)
})

describe('an untrusted folder is not used', () => {
  const spoil: Record<string, (base: string) => void> = {
    'a link': (base) => {
      const elsewhere = fresh()
      mkdirSync(elsewhere)
      symlinkSync(elsewhere, base)
    },
    'a file': (base) => writeFileSync(base, ''),
    'writable by its group': (base) => {
      mkdirSync(base)
      chmodSync(base, 0o720)
    },
    'writable by all users': (base) => {
      mkdirSync(base)
      chmodSync(base, 0o1777)
    },
    'writable by all users, one level down': (base) => {
      mkdirSync(join(base, 'v1'), { recursive: true })
      chmodSync(join(base, 'v1'), 0o707)
    },
  }
  test.each(Object.keys(spoil))('when it is %s', (name) => {
    const [bad, good] = [fresh(), fresh()]
    spoil[name]?.(bad)
    expect(unpack(files(), 'v1', { folders: [bad, good], spare: nowhere() }, (path) => path)).toBe(join(good, 'v1'))
    // If there is no other folder, a temporary folder is created for this start.
    expect(unpack(files(), 'v1', { folders: [bad], spare: root }, contents)).toEqual(whole)
    expect(readdirSync(root).filter((left) => left.startsWith('tagwarden-'))).toEqual([])
  })

  test.skipIf(process.getuid?.() !== 0)('when it is owned by another user (requires root)', () => {
    const [bad, good] = [fresh(), fresh()]
    mkdirSync(bad)
    chownSync(bad, 12_345, 12_345)
    expect(unpack(files(), 'v1', { folders: [bad, good], spare: nowhere() }, (path) => path)).toBe(join(good, 'v1'))
  })
})

test("the next folder is tried when the library can't be loaded from the first one", () => {
  const [noexec, good] = [fresh(), fresh()]
  const tried: string[] = []
  const folder = unpack(files(), 'v1', { folders: [noexec, good], spare: nowhere() }, (path) => {
    tried.push(path)
    if (path.startsWith(noexec)) throw new Error('failed to map segment from shared object')
    return path
  })
  expect(folder).toBe(join(good, 'v1'))
  expect(tried).toEqual([join(noexec, 'v1'), folder])
})

test('an unreadable source file throws an error and leaves no files behind', () => {
  const base = fresh()
  const missing = [{ name: 'lib.so', source: join(root, 'missing'), bytes: 11 }]
  expect(() => unpack(missing, 'v1', { folders: [base], spare: root }, contents)).toThrow(
    'the bundled libraries could not be unpacked to any folder',
  )
  expect(readdirSync(join(base, 'v1'))).toEqual([])
  expect(readdirSync(root).filter((left) => left.startsWith('tagwarden-'))).toEqual([])
})

test("the user's cache folder is tried first, then the folder for temporary files", () => {
  const temporary = join(tmpdir(), `tagwarden-${process.getuid?.()}`)
  expect(cacheFolders({ XDG_CACHE_HOME: '/cache' })).toEqual({
    folders: ['/cache/tagwarden', temporary],
    spare: tmpdir(),
  })
  for (const env of [{}, { XDG_CACHE_HOME: '' }, { XDG_CACHE_HOME: 'not/absolute' }]) {
    expect(cacheFolders(env).folders).toEqual([join(homedir(), '.cache', 'tagwarden'), temporary])
  }
})
