import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockFolder, lockFolderToRead } from './folder-lock.ts'

const root = mkdtempSync(join(tmpdir(), 'folder-lock-'))
afterAll(() => rmSync(root, { recursive: true }))
const newFolder = () => mkdtempSync(join(root, 'data-'))

const REFUSED = 'another tagwarden process is using the data folder'

/** Starts a process that acquires the lock, prints a line, and runs until it is killed. */
async function processHolding(folder: string) {
  const module = JSON.stringify(join(import.meta.dir, 'folder-lock.ts'))
  const script = `
    const { lockFolder } = await import(${module})
    // The garbage collector could release an unreferenced lock.
    try { globalThis.unlock = lockFolder(${JSON.stringify(folder)}); console.log('held') } catch (error) { console.log(error.message) }
    setInterval(() => {}, 1000)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  return { child, output: new TextDecoder().decode(value).trim() }
}

describe('a folder locked by another process', () => {
  test("can't be locked while that process runs, but can be locked after the process is killed", async () => {
    const folder = newFolder()
    const { child, output } = await processHolding(folder)
    expect(output).toBe('held')
    expect(() => lockFolder(folder)).toThrow(`${REFUSED} ${folder}`)
    expect(() => lockFolder(folder)).toThrow(REFUSED)
    child.kill('SIGKILL')
    await child.exited
    lockFolder(folder)()
  })

  test("can't be locked by a second process either", async () => {
    const folder = newFolder()
    const unlock = lockFolder(folder)
    const { child, output } = await processHolding(folder)
    child.kill('SIGKILL')
    await child.exited
    expect(output).toStartWith(REFUSED)
    unlock()
  })
})

test('a folder can be locked again after its lock is released, and other folders are not affected', () => {
  const [mine, other] = [newFolder(), newFolder()]
  const unlock = lockFolder(mine)
  expect(() => lockFolder(mine)).toThrow(REFUSED)
  lockFolder(other)()
  unlock()
  lockFolder(mine)()
})

test('a missing folder causes an ordinary error, not `FolderInUse`', () => {
  expect(() => lockFolder(join(root, 'nowhere'))).toThrow(/^(?!another tagwarden)/)
})

describe('a lock for reading', () => {
  test('creates no file, and several processes can hold it', () => {
    const folder = newFolder()
    const [first, second] = [lockFolderToRead(folder), lockFolderToRead(folder)]
    expect(readdirSync(folder)).toEqual([])
    for (const unlock of [first, second]) unlock()
  })

  test("can't be held together with the other lock", () => {
    const folder = newFolder()
    const unlock = lockFolder(folder)
    expect(() => lockFolderToRead(folder)).toThrow(REFUSED)
    unlock()
    const readers = [lockFolderToRead(folder), lockFolderToRead(folder)]
    expect(() => lockFolder(folder)).toThrow(REFUSED)
    for (const release of readers) release()
    lockFolder(folder)()
  })
})
