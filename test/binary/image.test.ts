import { expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { BINARY, temporaryFolder } from '../run-program.ts'

const ROOT = resolve(import.meta.dir, '../..')

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
  const [command = ''] = /^RUN (\.\/run .+)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))?.slice(1) ?? []
  const build = Bun.spawn(['sh', '-c', command], { cwd: folder.path, stdout: 'ignore', stderr: 'pipe' })
  const [code, stderr] = await Promise.all([build.exited, new Response(build.stderr).text()])
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  expect(statSync(join(folder.path, 'dist/tagwarden')).size).toBeGreaterThan(1e8)
})
