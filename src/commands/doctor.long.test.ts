import { expect, test } from 'bun:test'
import { chmodSync, cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bytesOf, killedFolder } from '../../test/hostile/killed-server-folder.ts'
import { runProgram, startServer, temporaryFolder } from '../../test/run-program.ts'

/** Returns the lines that the doctor prints for a folder, and its exit code. */
async function check(data: string, ...flags: string[]) {
  const { code, stdout, stderr } = await runProgram(['doctor', '--data', data, ...flags])
  return { code, stderr, lines: stdout.trimEnd().split('\n') }
}

/** Returns checksums of all files, except those that only exist while SQLite is reading. */
const stored = (data: string) =>
  [...bytesOf(data)].flatMap(([name, bytes]) => (/-shm$|^lock/.test(name) ? [] : [`${name} ${Bun.hash(bytes)}`]))

test('for an intact folder, each check prints a line and nothing is changed', async () => {
  using root = temporaryFolder()
  const { path } = await killedFolder(join(root.path, 'data'))
  const before = stored(path)
  const { code, stderr, lines } = await check(path)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  // The result for Chromium depends on the machine.
  expect(lines.at(-1)).toContain('flow tests and audits')
  expect(lines.slice(0, -1).map((line) => /^(ok|note|WRONG) +(\w+): ./.exec(line)?.slice(1))).toEqual([
    ['ok', 'folder'],
    ['ok', 'database'],
    ['ok', 'key'],
    ['ok', 'files'],
    ['ok', 'spool'],
    ['ok', 'disk'],
    ['note', 'settings'],
    ['note', 'settings'],
    ['note', 'backup'],
  ])
  expect(stored(path)).toEqual(before)
})

test.each<[string, (data: string, files: string[]) => void, RegExp]>([
  ['a missing file', (data, [path = '']) => rmSync(join(data, path)), /^WRONG files: \S+ is listed but missing/],
  ['a truncated file', (data, [path = '']) => truncateSync(join(data, path), 100), /^WRONG files: \S+ is unreadable/],
  [
    'an unknown file',
    (data, [path = '']) => cpSync(join(data, path), join(data, 'events/copy.parquet')),
    /^WRONG files: 1 files are not listed \(copy\.parquet\).+doctor --data \S+ --rebuild/,
  ],
  [
    'a missing event folder',
    (data) => rmSync(join(data, 'events'), { recursive: true }),
    /^WRONG files: \S+events is missing, but the database lists \d+ files? in it\..+doctor --data \S+ --rebuild/,
  ],
  ['a folder that other users can open', (data) => chmodSync(data, 0o755), /^WRONG folder: other users.+chmod 700/],
])('%s is reported as a problem', async (_, damage, expected) => {
  using root = temporaryFolder()
  const { path } = await killedFolder(join(root.path, 'data'))
  damage(
    path,
    [...bytesOf(path).keys()].filter((name) => /^events\/[^/]+\.parquet$/.test(name)),
  )
  const { code, lines } = await check(path)
  expect(code).toBe(1)
  expect(lines.filter((line) => line.startsWith('WRONG'))).toEqual([expect.stringMatching(expected)])
})

test('the data folder of the systemd unit has no problems', async () => {
  const unit = readFileSync(resolve(import.meta.dir, '../../ops/tagwarden.service'), 'utf8')
  // systemd.exec(5): the mode of a state directory is 0755 unless StateDirectoryMode= specifies another.
  const mode = /^StateDirectoryMode=(\d+)$/m.exec(unit)?.[1] ?? '0755'
  using root = temporaryFolder()
  const { path } = await killedFolder(join(root.path, 'data'))
  chmodSync(path, Number.parseInt(mode, 8))
  expect(await check(path)).toMatchObject({ code: 0 })
})

test('while a server is running, the command only reads', async () => {
  using root = temporaryFolder()
  const { path } = await killedFolder(join(root.path, 'data'))
  await using server = await startServer(path)
  const { code, lines } = await check(path)
  expect(code).toBe(0)
  expect(lines.find((line) => line.includes('files: '))).toContain('a running server')
  for (const flag of ['--rebuild', '--forget-secrets']) {
    const refused = await check(path, flag)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('another tagwarden process is using') })
  }
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})

test('a missing folder is a usage error and is not created', async () => {
  using root = temporaryFolder()
  const data = join(root.path, 'nowhere')
  expect(await check(data)).toMatchObject({ code: 2, stderr: `tagwarden: doctor: data folder not found: ${data}\n` })
  expect([...bytesOf(root.path)]).toEqual([])
})

test.each([
  ['/bin/sh', 0, 'ok    settings: flow tests and audits use /bin/sh'],
  [
    '/nowhere/chromium',
    1,
    'WRONG settings: flow tests and audits cannot run: TAGWARDEN_CHROMIUM is /nowhere/chromium, w',
  ],
])('the Chromium check reports the expected result for %s', async (path, expected, line) => {
  using root = temporaryFolder()
  const data = join(root.path, 'data')
  await runProgram(['init', '--data', data, '--org', 'Acme', '--email', 'a@example.com'])
  const { code, stdout } = await runProgram(['doctor', '--data', data], { env: { TAGWARDEN_CHROMIUM: path } })
  expect({ code, last: stdout.trimEnd().split('\n').at(-1)?.slice(0, line.length) }).toEqual({
    code: expected,
    last: line,
  })
  // The browser only runs without a sandbox for root.
  const isUnsafe = expected === 0 && process.getuid?.() === 0
  expect(stdout.includes('Chromium runs without its sandbox')).toBe(isUnsafe)
})

test.each([
  ['5.0.0.0,5.0.0.255,DE\n', 0, /^ok {4}settings: countries of IP addresses are read from \S+; ranges: 1$/m],
  ['5.0.0.0,5.0.0.255\n', 1, /^WRONG settings: TAGWARDEN_COUNTRY_FILE: \S+\.csv:1: is not the beginning of /m],
])('the country file %j is checked', async (content, expected, line) => {
  using root = temporaryFolder()
  const data = join(root.path, 'data')
  const file = join(root.path, 'countries.csv')
  writeFileSync(file, content)
  await runProgram(['init', '--data', data, '--org', 'Acme', '--email', 'a@example.com'])
  const { code, stdout } = await runProgram(['doctor', '--data', data], { env: { TAGWARDEN_COUNTRY_FILE: file } })
  expect(code).toBe(expected)
  expect(stdout).toMatch(line)
})
