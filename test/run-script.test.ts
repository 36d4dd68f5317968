import { expect, test } from 'bun:test'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './run-program.ts'

/**
 * Creates a project with a fake Bun as its only package. The fake Bun records its arguments. Returns a function that
 * runs the script `run` and returns the recorded lines.
 */
function project(path: string): (...args: string[]) => string[] {
  copyFileSync(join(import.meta.dir, '../run'), join(path, 'run'))
  const folder = join(path, 'node_modules/@oven/bun-linux-x64/bin')
  mkdirSync(folder, { recursive: true })
  const log = join(path, 'log')
  const version = /^version=(\S+)$/m.exec(readFileSync(join(path, 'run'), 'utf8'))?.[1]
  writeFileSync(join(folder, 'bun'), `#!/bin/sh\n[ "$1" = --version ] && echo ${version} || echo "$*" >> '${log}'\n`)
  chmodSync(join(folder, 'bun'), 0o755)
  return (...args) => {
    writeFileSync(log, '')
    const { exitCode } = Bun.spawnSync(['./run', ...args], { cwd: path })
    expect(exitCode).toBe(0)
    return readFileSync(log, 'utf8').trimEnd().split('\n')
  }
}

const EVERYTHING = 'install --frozen-lockfile --ignore-scripts --silent'
const PROGRAM = 'install --production --omit=peer --frozen-lockfile --ignore-scripts --silent'

test.each([[['src/main.ts', 'demo']], [['build.ts']]])(
  'for %j, packages required only by tests are not added, but are kept if already installed',
  (args) => {
    using folder = temporaryFolder()
    const run = project(folder.path)
    expect(run(...args)).toEqual([PROGRAM, `--no-env-file ${args.join(' ')}`])
    mkdirSync(join(folder.path, 'node_modules/@biomejs/biome'), { recursive: true })
    expect(run(...args)[0]).toBe(EVERYTHING)
  },
)

test.each([[['test']], [['test/run-tests.ts', 'check']], [['bench/index.ts']], [[]]])(
  'for %j, all packages are installed',
  (args) => {
    using folder = temporaryFolder()
    expect(project(folder.path)(...args)[0]).toBe(EVERYTHING)
  },
)

test('tests have a time limit of ten minutes', () => {
  using folder = temporaryFolder()
  expect(project(folder.path)('test', 'src/labels')[1]).toBe('--no-env-file test --timeout=600000 src/labels')
})
