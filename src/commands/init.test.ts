import { describe, expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram, temporaryFolder } from '../../test/run-program.ts'
import { systemClock } from '../core/clock.ts'
import { authenticator } from '../org/authenticate.ts'
import { openDatabase } from '../store/database.ts'

const args = (data: string, ...more: string[]) => [
  'init',
  '--data',
  data,
  '--org',
  'Acme',
  '--email',
  'a@example.com',
  ...more,
]
const mode = (path: string) => statSync(path).mode & 0o777

describe('the init command', () => {
  test('creates an owner and a working key once, in a private folder', async () => {
    using folder = temporaryFolder()
    const data = join(folder.path, 'deep', 'data')
    const { code, stdout, stderr } = await runProgram(args(data, '--json'))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const made = JSON.parse(stdout)
    expect(Object.keys(made)).toEqual(['orgId', 'userId', 'apiKey'])
    expect([mode(data), mode(join(data, 'master.key'))]).toEqual([0o700, 0o600])

    const db = openDatabase(join(data, 'tagwarden.db'))
    const authenticate = authenticator({ db, clock: systemClock })
    const principal = authenticate(new Headers({ authorization: `Bearer ${made.apiKey}` }))
    expect(principal).toMatchObject({ orgId: made.orgId, userId: made.userId, role: 'owner', readOnly: false })
    db.close()

    const again = await runProgram(args(data, '--json'))
    expect(again).toEqual({ code: 2, stdout: '', stderr: 'tagwarden: an owner already exists\n' })
  })

  test('prints text without --json', async () => {
    using folder = temporaryFolder()
    const { code, stdout } = await runProgram(args(folder.path))
    expect(code).toBe(0)
    expect(stdout).toMatch(/^organization org_\w+\nowner {8}usr_\w+\nAPI key {6}ak_\S+ {2}\(shown only once\)\n$/)
  })

  test.each<[string, boolean]>([
    ['correct horse battery\n', true],
    ['correct horse battery\r\n', true],
    [' spaces stay ', true],
    ['too short', false],
    ['too short\n', false],
    ['', false],
  ])('accepts the password %j from standard input: %p', async (password, isTaken) => {
    using folder = temporaryFolder()
    const { code, stderr } = await runProgram(args(folder.path, '--password-stdin'), {}, password)
    expect({ code, stderr }).toEqual(
      isTaken
        ? { code: 0, stderr: '' }
        : { code: 2, stderr: 'tagwarden: password: must have at least 10 characters\n' },
    )
    if (!isTaken) {
      expect(readdirSync(folder.path)).toEqual([])
      return
    }
    const db = openDatabase(join(folder.path, 'tagwarden.db'))
    const hash = db.prepare('SELECT passwordHash FROM user').pluck().get() as string | undefined
    db.close()
    expect(await Bun.password.verify(password.replace(/\r?\n$/, ''), hash ?? '')).toBe(true)
  })

  test.each<[string, string, string]>([
    ['Acme', 'nobody', 'email: is not an e-mail address'],
    [' ', 'a@example.com', 'orgName: must not be blank'],
  ])('rejects --org %j --email %j before it creates anything', async (org, email, reason) => {
    using folder = temporaryFolder()
    const data = join(folder.path, 'data')
    const { code, stderr } = await runProgram(['init', '--data', data, '--org', org, '--email', email])
    expect({ code, stderr }).toEqual({ code: 2, stderr: `tagwarden: ${reason}\n` })
    expect(readdirSync(folder.path)).toEqual([])
  })
})
