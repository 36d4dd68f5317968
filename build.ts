import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { version } from './package.json'
import { buildExecutable, sharedReplacements } from './src/build/executable.ts'
import { hostTarget, TARGETS, type TargetName } from './src/build/targets.ts'
import { billOfMaterials, thirdPartyLicenses } from './src/build/third-party.ts'
import { scriptBundle } from './src/capture/script-bundle.ts'
import type { BuildInfo } from './src/core/build-info.ts'

const USAGE = `usage: ./run build.ts [--target TARGET]…

Builds the program, its runtime and all dependencies into one file: dist/tagwarden for this machine, or
dist/tagwarden-TARGET for each given target. "all" stands for all targets:
  ${Object.keys(TARGETS).join(', ')}`

const DIST = join(import.meta.dir, 'dist')

/** Returns the commit of the sources. Outside a repository, the variables BUILD_COMMIT and BUILD_DATE can name it. */
function buildInfo(): BuildInfo {
  const git = (...args: string[]) => {
    const { exitCode, stdout } = Bun.spawnSync(['git', '-C', import.meta.dir, ...args], { stderr: 'ignore' })
    return exitCode === 0 ? stdout.toString().trim() : null
  }
  const { BUILD_COMMIT, BUILD_DATE } = process.env
  if (BUILD_COMMIT) return { version, commit: BUILD_COMMIT, date: BUILD_DATE || null }
  const commit = git('rev-parse', '--short=12', 'HEAD')
  if (commit === null) return { version, commit: null, date: null }
  const isModified = git('status', '--porcelain') !== ''
  const seconds = Number(git('show', '-s', '--format=%ct', 'HEAD'))
  return {
    version,
    commit: isModified ? `${commit}-modified` : commit,
    date: new Date(seconds * 1000).toISOString().slice(0, 10),
  }
}

/** Returns the targets to build with the names of their files. Throws for an unknown target. */
function outputs(): { target: TargetName; file: string }[] {
  const { values } = parseArgs({ options: { target: { type: 'string', multiple: true } } })
  const host = hostTarget()
  if (!values.target) {
    if (host === null) throw new Error(`no executable can be built for this machine\n\n${USAGE}`)
    return [{ target: host, file: `tagwarden${TARGETS[host].extension}` }]
  }
  const names = values.target.flatMap((name) => (name === 'all' ? Object.keys(TARGETS) : [name]))
  return [...new Set(names)].map((name) => {
    if (!Object.hasOwn(TARGETS, name)) throw new Error(`--target: unknown target "${name}"\n\n${USAGE}`)
    const target = name as TargetName
    return { target, file: `tagwarden-${target}${TARGETS[target].extension}` }
  })
}

async function main(): Promise<void> {
  const wanted = outputs()
  const info = buildInfo()
  mkdirSync(DIST, { recursive: true })
  const shared = await sharedReplacements(await scriptBundle())
  for (const { target, file } of wanted) {
    const outfile = join(DIST, file)
    await buildExecutable(target, { outfile, info, shared })
    console.log(`dist/${file}: ${(statSync(outfile).size / 1e6).toFixed(0)} MB`)
  }
  writeFileSync(join(DIST, 'THIRD_PARTY_LICENSES'), thirdPartyLicenses())
  writeFileSync(join(DIST, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(info), null, 2)}\n`)
  const files = [...wanted.map(({ file }) => file), 'THIRD_PARTY_LICENSES', 'sbom.cdx.json'].sort()
  const sums = files.map(
    (file) =>
      `${createHash('sha256')
        .update(readFileSync(join(DIST, file)))
        .digest('hex')}  ${file}`,
  )
  writeFileSync(join(DIST, 'SHA256SUMS'), `${sums.join('\n')}\n`)
}

try {
  await main()
} catch (error) {
  console.error(error instanceof AggregateError ? error : `build: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
