import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { lowerPriority } from '../src/core/process-priority.ts'
import { generateClient } from '../src/http/web-client.ts'
import { temporaryFolder } from './run-program.ts'

/** How one part of the run ended. */
interface Part {
  title: string
  passed: number
  failed: number
  /** Names of the tests that could not run here. */
  skipped: string[]
  seconds: number
  /** Files that failed beside others and passed alone. */
  unsteady?: readonly string[]
  /** The files that took longest, with their seconds; absent for what is no test run. */
  slowest?: readonly (readonly [file: string, seconds: number])[]
}

const SLOWEST_SHOWN = 12

const ROOT = resolve(import.meta.dir, '..')
const BUN = process.execPath
const BUILT = join(ROOT, 'dist/tagwarden')
const TSC = 'node_modules/typescript-native/bin/tsc'
/** The time limit of a test, as in `run`. It only ends what hangs. */
const TEST_TIMEOUT_MS = 600_000

async function run(args: readonly string[], env: Record<string, string> = {}): Promise<boolean> {
  const child = Bun.spawn([BUN, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return (await child.exited) === 0
}

async function timed(title: string, work: () => Promise<Omit<Part, 'title' | 'seconds'>>): Promise<Part> {
  console.log(`\n${title}`)
  const startedAt = performance.now()
  // Only failures are printed, and ten silent minutes look like a program that hangs.
  const alive = setInterval(() => console.log(`… ${Math.round((performance.now() - startedAt) / 60_000)} min`), 60_000)
  const result = await work().finally(() => clearInterval(alive))
  return { title, ...result, seconds: (performance.now() - startedAt) / 1000 }
}

function tool(title: string, ...args: string[]): Promise<Part> {
  return timed(title, async () => {
    const good = await run(args)
    return { passed: good ? 1 : 0, failed: good ? 0 : 1, skipped: [] }
  })
}

/**
 * Files run side by side, one more than there are cores, because some wait for browsers and other programs. Every worker goes
 * on with the modules that it has loaded. What takes longest comes first, so that no worker is left with it alone:
 * `timings.json` names the files of more than half a minute.
 */
const ON_ALL_CORES = [`--parallel=${availableParallelism() + 1}`, '--no-isolate', '--timings=test/timings.json']

/** A file system in memory, and the room that it must have for what tests write. */
const [MEMORY, ROOM_BYTES] = ['/dev/shm', 4 * 2 ** 30]

/**
 * Makes the folder for temporary files of tests, in memory where there is room for them: to wait for a disk costs some tests
 * half of their time and proves nothing. Returns null where that must be the system's: tests run programs from it.
 */
function folderInMemory(): string | null {
  const mount = existsSync('/proc/mounts') && readFileSync('/proc/mounts', 'utf8').split('\n').find(isMemory)
  if (process.env.TMPDIR !== undefined || !mount || mount.includes('noexec')) return null
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize < ROOM_BYTES) return null
  const folder = mkdtempSync(join(MEMORY, 'tagwarden-tests-'))
  // Tests that become another user have folders of that user within.
  chmodSync(folder, 0o711)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  process.once('SIGINT', () => process.exit(130))
  return folder
}

const inMemory = (): Record<string, string> => {
  const folder = folderInMemory()
  return folder === null ? {} : { TMPDIR: folder }
}

const isMemory = (mount: string) => mount.split(' ')[1] === MEMORY

interface TestRun {
  /** Files or folders; none: all. */
  paths?: readonly string[]
  flags?: readonly string[]
  /** Added to the environment. */
  env?: Record<string, string>
}

/** How the tests of one file ended. */
interface FileResult {
  tests: number
  failed: number
  skipped: number
  seconds: number
}

interface Report {
  /** False also when the run broke off. */
  isGood: boolean
  files: Map<string, FileResult>
  skipped: string[]
}

/**
 * Runs test files. A run that breaks off counts as one failure.
 *
 * A file that failed is run once more, alone: on a shared machine a browser or a server may get no turn for longer than a
 * test waits. What passes then counts as passed and is listed as unsteady, which is a fault of the test or of the program
 * that has to be found; what fails again has failed.
 */
function tests(title: string, run: TestRun): Promise<Part> {
  return timed(title, async () => {
    const { isGood, files, skipped } = await testOnce(run)
    const failing = [...files].filter(([, { failed }]) => failed > 0).map(([file]) => file)
    const unsteady: string[] = []
    for (const file of failing.length <= MOST_RUN_AGAIN ? failing : []) {
      console.log(`\n${file} is run again, alone`)
      const again = await testOnce({ ...run, flags: [], paths: [`./${file}`] })
      for (const [name, result] of again.files) files.set(name, result)
      if (again.isGood) unsteady.push(file)
    }
    const results = [...files.values()]
    const sum = (of: keyof FileResult) => results.reduce((total, result) => total + result[of], 0)
    const brokeOff = !isGood && failing.length === 0
    return {
      passed: sum('tests') - sum('failed') - sum('skipped'),
      failed: sum('failed') + (brokeOff ? 1 : 0),
      skipped,
      unsteady,
      slowest: [...files]
        .map(([file, { seconds }]) => [file, seconds] as const)
        .toSorted((a, b) => b[1] - a[1])
        .slice(0, SLOWEST_SHOWN),
    }
  })
}

/** When more files fail, it is not for the machine. */
const MOST_RUN_AGAIN = 5

async function testOnce({ paths = [], flags = [], env = {} }: TestRun): Promise<Report> {
  using folder = temporaryFolder()
  const report = join(folder.path, 'report.xml')
  const reporting = ['--only-failures', '--reporter=junit', `--reporter-outfile=${report}`]
  const isGood = await run(['test', `--timeout=${TEST_TIMEOUT_MS}`, ...reporting, ...flags, ...paths], env)
  const xml = existsSync(report) ? readFileSync(report, 'utf8') : ''
  // Groups within a file are suites too, which are named otherwise.
  const suites = xml.matchAll(
    /<testsuite name="([^"]*\.ts)"[^>]*? tests="(\d+)"[^>]*? failures="(\d+)"[^>]*? skipped="(\d+)"[^>]*? time="([\d.]+)"/g,
  )
  const files = new Map<string, FileResult>()
  for (const [, file = '', ...counts] of suites) {
    const [tests = 0, failed = 0, skipped = 0, seconds = 0] = counts.map(Number)
    if (!files.has(file)) files.set(file, { tests, failed, skipped, seconds })
  }
  const skipped = [...xml.matchAll(/<testcase name="([^"]*)" classname="([^"]*)"[^>]*>\s*<skipped/g)]
    // Hooks of what was skipped are listed too, without a name.
    .filter(([, name]) => name !== '(unnamed)')
    .map(([, name, group]) => plain([group, name].filter(Boolean).join(' > ')))
  return { isGood, files, skipped }
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** Text of an XML attribute as it was before it was escaped. */
function plain(escaped: string): string {
  return escaped.replace(/&(\w+);/g, (entity, name) => ENTITIES[name] ?? entity)
}

const check = () => [
  () => timed('client', () => generateClient().then(() => ({ passed: 1, failed: 0, skipped: [] }))),
  () => tool('types', TSC, '-p', '.', '--singleThreaded'),
  () => tool('types of the pages', TSC, '-p', 'src/web', '--singleThreaded'),
  () => tool('style', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'),
]

/**
 * Tests that start the program themselves: whole tasks, every page of the demo, kills. They are played on the executable,
 * which is what users start, and which starts in a fraction of the time; one after the other, because kills and pages of a
 * whole server take both cores.
 */
const OF_THE_EXECUTABLE = ['test/binary/', 'test/crash/', 'test/web/tasks/', 'test/web/every-page/']

const RUNS: Record<string, () => (() => Promise<Part>)[]> = {
  all: () => [
    ...check(),
    () =>
      tests('tests', {
        flags: [...ON_ALL_CORES, ...OF_THE_EXECUTABLE.map((folder) => `--path-ignore-patterns=${folder}**`)],
        env: inMemory(),
      }),
  ],
  check,
  binary: () => [
    () =>
      tests('tests of the executable', {
        paths: OF_THE_EXECUTABLE,
        env: { TAGWARDEN_BINARY: BUILT, ...inMemory() },
      }),
  ],
}

// The program's browsers wait for others. Beside tests that don't they would hardly have their turn.
lowerPriority()
const [wanted = 'all'] = process.argv.slice(2)
const parts: Part[] = []
for (const step of RUNS[wanted]?.() ?? []) parts.push(await step())

console.log()
for (const { title, passed, failed, skipped, seconds, slowest = [], unsteady = [] } of parts) {
  for (const [file, time] of slowest) console.log(`slowest: ${file} ${time.toFixed(0)} s`)
  for (const file of unsteady) console.log(`unsteady, failed beside others and passed alone: ${file}`)
  for (const name of skipped) console.log(`skipped: ${name}`)
  console.log(`${title}: ${passed} passed, ${failed} failed, ${skipped.length} skipped, ${seconds.toFixed(0)} s`)
}
const sum = (of: (part: Part) => number) => parts.reduce((total, part) => total + of(part), 0)
const failed = sum((part) => part.failed)
console.log(`${sum((part) => part.passed)} passed, ${failed} failed`)
process.exitCode = parts.length > 0 && failed === 0 ? 0 : 1
