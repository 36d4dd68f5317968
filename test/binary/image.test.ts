import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { chownSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { BINARY, runProgram, temporaryFolder, until } from '../run-program.ts'

const ROOT = resolve(import.meta.dir, '../..')
const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')

/**
 * True when `.dockerignore` excludes a path from the build context. The last pattern that matches the path or a parent
 * folder decides, and `!` includes the path again (https://docs.docker.com/build/concepts/context/#dockerignore-files).
 */
function isIgnored(path: string, patterns: readonly string[]): boolean {
  const parts = path.split('/')
  const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  return patterns.reduce((ignored, pattern) => {
    const isException = pattern.startsWith('!')
    const glob = new Bun.Glob(isException ? pattern.slice(1) : pattern)
    return prefixes.some((prefix) => glob.match(prefix)) ? !isException : ignored
  }, false)
}

test.skipIf(BINARY === null)('.dockerignore excludes nothing that the image build requires', async () => {
  using folder = temporaryFolder()
  const patterns = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n').filter(Boolean)
  const tracked = Bun.spawnSync(['git', 'ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
    .stdout.toString()
    .split('\n')
    .filter(Boolean)
  const copied = tracked.filter((path) => !isIgnored(path, patterns))
  expect(copied.some((path) => path.startsWith('test/'))).toBe(false)
  for (const path of copied) {
    mkdirSync(join(folder.path, dirname(path)), { recursive: true })
    cpSync(join(ROOT, path), join(folder.path, path))
  }
  const [command = ''] = /^RUN (\.\/run .+)$/m.exec(DOCKERFILE)?.slice(1) ?? []
  const { commit, date } = JSON.parse((await runProgram(['--version', '--json'])).stdout)
  // The test runner sets NODE_ENV, which the bundler inserts.
  const { NODE_ENV: _, ...inherited } = process.env
  const env = { ...inherited, BUILD_COMMIT: commit ?? '', BUILD_DATE: date ?? '' }
  const build = Bun.spawn(['sh', '-c', command], { cwd: folder.path, env, stdout: 'ignore', stderr: 'pipe' })
  const [code, stderr] = await Promise.all([build.exited, new Response(build.stderr).text()])
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  // The same sources give the same bytes in any folder.
  expect(checksumOf(join(folder.path, 'dist/tagwarden'))).toBe(checksumOf(BINARY ?? ''))
})

const checksumOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

/** The loader and the C and C++ libraries, which the base image contains. */
const LIBRARIES = ['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'libstdc++.so.6', 'libgcc_s.so.1']
const UID = 10_001

/** True if this machine can run a program in another root folder, as another user, with read-only files. */
const canChangeRoot = process.platform === 'linux' && process.getuid?.() === 0 && Bun.which('unshare') !== null

/** Creates the file system of the image, except for what the server doesn't use. */
function makeRoot(root: string): void {
  for (const path of ['usr/local/bin', 'lib64', 'lib', 'proc', 'dev', 'etc', 'data', 'var/cache/tagwarden'])
    mkdirSync(join(root, path), { recursive: true })
  cpSync(BINARY ?? '', join(root, 'usr/local/bin/tagwarden'))
  const cache = Bun.spawnSync(['ldconfig', '-p']).stdout.toString()
  for (const name of [...LIBRARIES, 'ld-linux-x86-64.so.2']) {
    const line = cache.split('\n').find((one) => one.trim().startsWith(`${name} (libc6,x86-64`))
    const path = line?.replace(/^.*=> /, '') ?? ''
    cpSync(path, join(root, name.startsWith('ld-') ? 'lib64' : 'lib', name), { dereference: true })
  }
  writeFileSync(join(root, 'etc/passwd'), `tagwarden:x:${UID}:${UID}::/nonexistent:/usr/sbin/nologin\n`)
  for (const path of ['data', 'var/cache/tagwarden']) chownSync(join(root, path), UID, UID)
}

/** Returns the URL that the server prints; null if it ends first. */
async function listeningUrl(output: ReadableStream<Uint8Array>): Promise<string | null> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const part of output) {
    text += decoder.decode(part, { stream: true })
    const [, url] = /listening on (\S+)\n/.exec(text) ?? []
    if (url) return url
  }
  return null
}

test.skipIf(BINARY === null || !canChangeRoot)(
  'the image serves as an unprivileged user from a read-only root (requires root)',
  async () => {
    using folder = temporaryFolder()
    const root = join(folder.path, 'root')
    makeRoot(root)
    const env = Object.fromEntries(
      [...(/^ENV (.+)$/m.exec(DOCKERFILE)?.[1]?.matchAll(/(\S+)=(\S+)/g) ?? [])].map(([, name, value]) => [
        name,
        value,
      ]),
    )
    expect(env.TAGWARDEN_DATA).toBe('/data')
    const inRoot = (mounts: string, args: string) =>
      Bun.spawn(
        [
          ...['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-euc'],
          `mount --bind ${root} ${root}
           mount --bind ${root}/data ${root}/data
           mount -t proc proc ${root}/proc
           ${mounts}
           exec chroot --userspec=${UID}:${UID} ${root} /usr/local/bin/tagwarden ${args}`,
        ],
        { env: { ...env, PATH: process.env.PATH }, stdout: 'pipe', stderr: 'pipe' },
      )
    const prepared = inRoot('', /^RUN tagwarden (.+)$/m.exec(DOCKERFILE)?.[1] ?? '')
    expect([await prepared.exited, await new Response(prepared.stderr).text()]).toEqual([0, ''])
    const readOnly = `mount -o remount,ro,bind ${root}`
    const server = inRoot(readOnly, 'serve --listen 127.0.0.1:0')
    try {
      const url = await listeningUrl(server.stdout)
      expect(url ?? (await new Response(server.stderr).text())).toStartWith('http://127.0.0.1:')
      await until('the server to be ready', async () => (await fetch(`${url}/readyz`)).ok)
      expect((await fetch(url ?? '')).status).toBe(200)
    } finally {
      // `unshare` ignores the default signal.
      server.kill('SIGKILL')
      await server.exited
    }
  },
)
