import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { childEnv } from '../core/child-env.ts'
import type { NativeFile } from './targets.ts'

const ROOT = resolve(import.meta.dir, '../..')
/** Packages for other platforms, which the package manager doesn't install. */
const CACHE = join(ROOT, '.generated/native')

/** A package in the lockfile. */
interface LockedPackage {
  /** Name in the top-level folder of packages, or the path of a nested package. */
  key: string
  name: string
  version: string
  /** Base64 of the SHA-512 of the package's archive. */
  sha512: string
}

/** Returns the packages in `bun.lock` (https://bun.com/docs/pm/lockfile). */
export function lockedPackages(): LockedPackage[] {
  const lines = readFileSync(join(ROOT, 'bun.lock'), 'utf8').split('\n')
  return lines.flatMap((line) => {
    const [, key, name, version, sha512] =
      /^ {4}"([^"]+)": \["(@?[^@"]+)@([^"]+)".*"sha512-([A-Za-z0-9+/=]+)"\],?$/.exec(line) ?? []
    return key && name && version && sha512 ? [{ key, name, version, sha512 }] : []
  })
}

/**
 * Returns the path of a file in a package for some platform. A package that is not installed is fetched with `npm pack`
 * from the configured registry, compared with the checksum in the lockfile, and kept in `.generated/native`. Throws if
 * that fails.
 */
export async function nativeFile({ package: name, path }: NativeFile): Promise<string> {
  const locked = lockedPackages().find(({ key }) => key === name)
  if (!locked) throw new Error(`bun.lock does not contain ${name}`)
  const { version, sha512 } = locked
  const installed = join(ROOT, 'node_modules', name)
  if (existsSync(join(installed, path))) return join(installed, path)
  const folder = join(CACHE, `${name.replaceAll('/', '+')}@${version}`)
  if (!existsSync(folder)) await fetchPackage(`${name}@${version}`, sha512, folder)
  return join(folder, path)
}

async function fetchPackage(spec: string, sha512: string, folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const draft = mkdtempSync(join(CACHE, 'draft-'))
  try {
    await run(['npm', 'pack', '--silent', '--prefer-offline', '--pack-destination', draft, spec])
    const archive = join(draft, readdirSync(draft)[0] ?? '')
    const found = createHash('sha512').update(readFileSync(archive)).digest('base64')
    if (found !== sha512) throw new Error(`${spec}: the checksum differs from the one in bun.lock`)
    await run(['tar', '-xzf', archive, '-C', draft])
    renameSync(join(draft, 'package'), folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Where npm finds its settings, its cache and the registry. */
function npmSettings(): Record<string, string> {
  const isSetting = (name: string) => /^(?:HOME|npm_config_\w+|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i.test(name)
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value && isSetting(name) ? [[name, value]] : [])),
  )
}

async function run(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { cwd: ROOT, env: childEnv(npmSettings()), stdout: 'ignore', stderr: 'pipe' })
  const [code, stderr] = await Promise.all([child.exited, new Response(child.stderr).text()])
  if (code !== 0) throw new Error(`${command.join(' ')}: ${stderr.trim() || `exit code ${code}`}`)
}
