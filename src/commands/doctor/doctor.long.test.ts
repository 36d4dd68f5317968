import { expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { migrations } from '../../../migrations/index.ts'
import { bytesOf, killedFolder } from '../../../test/hostile/killed-server-folder.ts'
import {
  call,
  initialize,
  PROGRAM,
  runProgram,
  startServer,
  temporaryFolder,
  until,
} from '../../../test/run-program.ts'

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
  const others = lines.filter((line) => !/Chromium runs without|^\w+ +browser: /.test(line))
  expect(others.map((line) => /^(ok|WARN|WRONG) +([\w ]+): ./.exec(line)?.slice(1))).toEqual([
    ['ok', 'folder'],
    ['ok', 'database'],
    ['ok', 'key'],
    ['ok', 'files'],
    ['ok', 'spool'],
    ['ok', 'disk'],
    ['ok', 'server'],
    ['ok', 'flush'],
    ['ok', 'evaluation'],
    ['ok', 'deliveries'],
    ['WARN', 'backup'],
    ['ok', 'clock'],
    ['ok', 'temporary folder'],
    ['WARN', 'settings'],
    ['WARN', 'settings'],
    ['ok', 'versions'],
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
  const unit = readFileSync(resolve(import.meta.dir, '../../../ops/tagwarden.service'), 'utf8')
  // systemd.exec(5): the mode of a state directory is 0755 unless StateDirectoryMode= specifies another.
  const mode = /^StateDirectoryMode=(\d+)$/m.exec(unit)?.[1] ?? '0755'
  using root = temporaryFolder()
  const { path } = await killedFolder(join(root.path, 'data'))
  chmodSync(path, Number.parseInt(mode, 8))
  expect(await check(path)).toMatchObject({ code: 0 })
})

/** The names, sizes and times of all files in a folder. */
const listed = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const { size, mtimeMs, uid } = statSync(join(folder, name))
      return [name, size, mtimeMs, uid]
    })

const isRoot = process.getuid?.() === 0
/** An unused user id. */
const USER = 64_125

test.skipIf(!isRoot)('the folder of another user is checked without writing to it', async () => {
  using root = temporaryFolder()
  const { path } = await killedFolder(join(root.path, 'data'))
  for (const name of ['.', ...readdirSync(path, { recursive: true, encoding: 'utf8' })])
    chownSync(join(path, name), USER, USER)
  const before = listed(path)
  const { code, lines } = await check(path)
  expect({ code, lines }).toEqual({
    code: 0,
    lines: expect.arrayContaining([
      `WARN  folder: ${path} belongs to another user (uid ${USER}), as which the server must run; it was checked without writing to it`,
      'ok    database: intact, schema 56'.replace('56', String(migrations.length)),
    ]),
  })
  expect(lines.find((line) => line.includes(' files: '))).toMatch(/^ok/)
  expect(listed(path)).toEqual(before)
  expect(await check(path, '--rebuild')).toMatchObject({ code: 1, stderr: expect.stringContaining("can't be changed") })
})

const canMount = isRoot && Bun.which('unshare') !== null && Bun.spawnSync(['unshare', '-m', 'true']).success

/** Runs the doctor after a script that changes the mounts of this process. */
async function checkMounted(script: string, data: string, env: Record<string, string> = {}) {
  const program = ['unshare', '-m', 'sh', '-c', `set -e; ${script}; exec "$@"`, 'sh', ...PROGRAM]
  const { code, stdout } = await runProgram(['doctor', '--data', data], { program, env })
  return { code, lines: stdout.trimEnd().split('\n') }
}

test.skipIf(!canMount)('a read-only mount is checked without writing to it', async () => {
  using root = temporaryFolder()
  const { path } = await killedFolder(join(root.path, 'data'))
  // Without these files, SQLite would have to create them.
  for (const name of ['tagwarden.db-wal', 'tagwarden.db-shm']) {
    const db = new Database(join(path, 'tagwarden.db'))
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
    rmSync(join(path, name), { force: true })
  }
  const before = listed(path)
  const { code, lines } = await checkMounted(`mount --bind ${path} ${path}; mount -o remount,ro,bind ${path}`, path)
  expect({ code, lines }).toEqual({
    code: 0,
    lines: expect.arrayContaining([expect.stringMatching(/^WARN {2}folder: \S+ is read-only/)]),
  })
  expect(lines.filter((line) => /^ok +(?:database|key|files|spool):/.test(line))).toHaveLength(4)
  expect(listed(path)).toEqual(before)
})

test.skipIf(!canMount)('a temporary folder in which nothing can be executed is reported', async () => {
  using root = temporaryFolder()
  const data = join(root.path, 'data')
  const tmp = join(root.path, 'tmp')
  mkdirSync(tmp)
  await initialize(data)
  const { code, lines } = await checkMounted(`mount -t tmpfs -o noexec none ${tmp}`, data, { TMPDIR: tmp })
  expect({ code, line: lines.find((line) => line.includes('temporary folder')) }).toEqual({
    code: 0,
    line: expect.stringMatching(/^WARN .+: programs cannot be executed in .+ set TMPDIR/),
  })
})

test('a temporary folder that does not exist is reported', async () => {
  using root = temporaryFolder()
  const data = join(root.path, 'data')
  await initialize(data)
  const { code, stdout } = await runProgram(['doctor', '--data', data], { env: { TMPDIR: join(root.path, 'no') } })
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/^WRONG folder: .+ENOENT; set TMPDIR/) })
})

test.skipIf(!isRoot || Bun.which('setpriv') === null)('a folder that this user cannot read is reported', async () => {
  using root = temporaryFolder()
  const data = join(root.path, 'data')
  await initialize(data)
  for (const path of [root.path, data]) chmodSync(path, 0o755)
  const program = ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', ...PROGRAM]
  const { code, stdout, stderr } = await runProgram(['doctor', '--data', data], { program })
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: expect.stringMatching(/^WRONG folder: \S+ can't be read by this user.+sudo --user '#0' tagwarden/),
    stderr: '',
  })
})

test('while a server is running, the command only reads', async () => {
  using root = temporaryFolder()
  const { path } = await killedFolder(join(root.path, 'data'))
  await using server = await startServer(path)
  await until('the first evaluation', async () => (await call('GET', `${server.url}/readyz`)).body.lastEvaluationAgeMs)
  const { code, lines } = await check(path, '--listen', new URL(server.url).host)
  expect(code).toBe(0)
  expect(lines).toContain('ok    server: running and ready')
  for (const name of ['flush', 'evaluation'])
    expect(lines.find((line) => line.includes(` ${name}: `))).toMatch(/^ok .+ last run \d+ s ago; /)
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
