import { expect, test } from 'bun:test'
import { chmodSync, chownSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { temporaryFolder, until } from '../run-program.ts'
import { installedChromium } from './installed-chromium.ts'

/** An unused user id. */
const USER = 64_123
const AS_USER = ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups']

const can = (...command: string[]) => Bun.which('setpriv') !== null && Bun.spawnSync([...AS_USER, ...command]).success

/** True if root can switch to another user who can create the namespaces for the sandbox. */
const canSandbox = process.getuid?.() === 0 && can('unshare', '--user', 'true') && can(process.execPath, '--version')

interface Process {
  pid: number
  /** Number of nested PID namespaces that contain the process. */
  depth: number
  isFiltered: boolean
}

/** Processes of the test's user. */
function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, 'utf8')
        const fieldOf = (field: string) => new RegExp(`^${field}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? ''
        if (!fieldOf('Uid').startsWith(`${USER}\t`) || fieldOf('State').startsWith('Z')) return []
        return { pid: Number(name), depth: fieldOf('NSpid').split('\t').length, isFiltered: fieldOf('Seccomp') === '2' }
      } catch {
        // The process has ended.
        return []
      }
    })
}

test.skipIf(!canSandbox)('pages are sandboxed when the server is not running as root', async () => {
  using folder = temporaryFolder()
  using site = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response('<title>Shop</title>', { headers: { 'content-type': 'text/html' } }),
  })
  const installed = await installedChromium()
  for (const path of [dirname(installed), join(dirname(installed), 'chromium')]) chmodSync(path, 0o755)
  const chromium = join(folder.path, 'chromium')
  // Without the zygote process Chromium has no sandbox.
  writeFileSync(chromium, readFileSync(installed, 'utf8').replace('--no-zygote', ''))
  for (const path of [folder.path, chromium]) chmodSync(path, 0o755)
  chownSync(folder.path, USER, USER)
  const options = { chromium, folder: join(folder.path, 'browsers'), url: `http://127.0.0.1:${site.port}/` }
  const task = [process.execPath, '--no-env-file', resolve(import.meta.dir, 'browsing-task.ts')]
  const server = Bun.spawn([...AS_USER, ...task, 'serve', JSON.stringify(options)], {
    env: { PATH: process.env.PATH, HOME: folder.path, TMPDIR: folder.path },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let title = ''
    for await (const chunk of server.stdout) {
      title = Buffer.from(chunk).toString().trim()
      break
    }
    expect(title).toBe('Shop')
    expect(processes().some(({ depth, isFiltered }) => depth > 1 && isFiltered)).toBe(true)
  } finally {
    server.kill('SIGKILL')
    await until('the end of all processes', () => processes().length === 0)
  }
})
