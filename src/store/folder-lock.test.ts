import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockFolder } from './folder-lock.ts'

const root = mkdtempSync(join(tmpdir(), 'folder-lock-'))
afterAll(() => rmSync(root, { recursive: true }))
const newFolder = () => mkdtempSync(join(root, 'data-'))

const REFUSED = 'another tagwarden is running on the data folder'

/** A process that takes the lock, says so, and lives until it is ended. */
async function processHolding(folder: string) {
  const module = JSON.stringify(join(import.meta.dir, 'folder-lock.ts'))
  const script = `
    const { lockFolder } = await import(${module})
    try { lockFolder(${JSON.stringify(folder)}); console.log('held') } catch (error) { console.log(error.message) }
    setInterval(() => {}, 1000)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  return { child, said: new TextDecoder().decode(value).trim() }
}

describe('a folder that another process holds', () => {
  test('is refused while that one lives, and free once it was killed', async () => {
    const folder = newFolder()
    const { child, said } = await processHolding(folder)
    expect(said).toBe('held')
    expect(() => lockFolder(folder)).toThrow(`${REFUSED} ${folder}`)
    expect(() => lockFolder(folder)).toThrow(REFUSED)
    child.kill('SIGKILL')
    await child.exited
    lockFolder(folder)()
  })

  test('is refused to the second process too', async () => {
    const folder = newFolder()
    const unlock = lockFolder(folder)
    const { child, said } = await processHolding(folder)
    child.kill('SIGKILL')
    await child.exited
    expect(said).toStartWith(REFUSED)
    unlock()
  })
})

test('a folder is free after it was let go, and others are not touched', () => {
  const [mine, other] = [newFolder(), newFolder()]
  const unlock = lockFolder(mine)
  expect(() => lockFolder(mine)).toThrow(REFUSED)
  lockFolder(other)()
  unlock()
  lockFolder(mine)()
})

test('a folder that is not there is a plain error, not a running program', () => {
  expect(() => lockFolder(join(root, 'nowhere'))).toThrow(/^(?!another tagwarden)/)
})
