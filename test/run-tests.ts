import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { generateClient } from '../src/build/generate-api-client.ts'
import { lowerPriority } from '../src/core/process-priority.ts'
import { temporaryFolder } from './run-program.ts'

const USAGE = `usage: ./run test/run-tests.ts [COMMAND]

Without a command: types, style and all tests except the long ones.

  all            types, style and all tests, including the long ones (*.long.test.ts)
  all --rest     only the tests that a run without a command omits
  check          types and style
  room ROOM …    the tests in src/ROOM and test/ROOM, except the long ones
  watch [PATH …] reruns tests when a file changes
  binary         the tests of the executable dist/tagwarden; requires npm run build`

/** Result of one step of a test run. */
interface Step {
  title: string
  passed: number
  failed: number
  /** Names of tests that can't run on this machine. */
  skipped: string[]
  seconds: number
  /** Files that failed when run in parallel but passed when run alone. */
  flaky?: readonly string[]
  /** The slowest files. Omitted for a step without test files. */
  slowest?: readonly (readonly [file: string, seconds: number])[]
}

const SLOWEST_SHOWN = 12
/**
 * Maximum number of failed files that are run again. If more files fail, the change is the likely cause rather than the
 * machine.
 */
const MAX_RETRIED_FILES = 5

const ROOT = resolve(import.meta.dir, '..')
const BUN = process.execPath
const EXECUTABLE = join(ROOT, 'dist/tagwarden')
const TSC = 'node_modules/typescript-native/bin/tsc'
/** Time limit for one test, as in the script `run`. Its only purpose is to stop tests that hang. */
const TEST_TIMEOUT_MS = 600_000

/** Slow tests, which run only with `npm run test:all`. */
const LONG_TESTS = '**/*.long.test.ts'
/**
 * Tests that start the program in a separate process. After the build, they test the executable, one file at a time.
 */
const EXECUTABLE_TESTS = ['test/binary/', 'test/crash/', 'test/web/tasks/', 'test/web/every-page/']

const ignoring = (...patterns: string[]) => patterns.map((pattern) => `--path-ignore-patterns=${pattern}`)
const NO_EXECUTABLE_TESTS = ignoring(...EXECUTABLE_TESTS.map((folder) => `${folder}**`))

/**
 * Uses one worker more than there are cores, because some tests wait for browsers and other programs. A worker loads
 * each module once for all of its files. Files listed in `timings.json` start first, so that no slow file is left for
 * the end.
 */
const PARALLEL = [`--parallel=${availableParallelism() + 1}`, '--no-isolate', '--timings=test/timings.json']

async function run(args: readonly string[]): Promise<boolean> {
  const child = Bun.spawn([BUN, ...args], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] })
  return (await child.exited) === 0
}

/**
 * Runs Bun's test runner with the same low priority as the browsers that the program starts. Those browsers run only
 * when the processor is otherwise idle, so tests with a higher priority would starve them. The test runner has a
 * separate session, because the kernel divides processor time evenly between sessions (sched(7), "The autogroup
 * feature"). Therefore, other programs on a busy machine starve neither the tests nor the browsers.
 */
async function runTests(args: readonly string[], env: Record<string, string>): Promise<boolean> {
  lowerPriority()
  const child = Bun.spawn([BUN, 'test', `--timeout=${TEST_TIMEOUT_MS}`, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  })
  const stop = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid)
  }
  process.once('exit', stop)
  const code = await child.exited
  process.off('exit', stop)
  return code === 0
}

async function timed(title: string, work: () => Promise<Omit<Step, 'title' | 'seconds'>>): Promise<Step> {
  console.log(`\n${title}`)
  const startedAt = performance.now()
  // Prints a line every minute, because otherwise only failures are printed and the run would appear to hang.
  const alive = setInterval(() => console.log(`… ${Math.round((performance.now() - startedAt) / 60_000)} min`), 60_000)
  const result = await work().finally(() => clearInterval(alive))
  return { title, ...result, seconds: (performance.now() - startedAt) / 1000 }
}

function tool(title: string, ...args: string[]): Promise<Step> {
  return timed(title, async () => {
    const passed = await run(args)
    return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: [] }
  })
}

const MEMORY_MOUNT = '/dev/shm'
const MIN_FREE_BYTES = 4 * 2 ** 30

/**
 * Returns environment variables that place temporary files in memory, which makes some tests twice as fast. Empty if
 * /dev/shm is too small or does not allow executing programs, which some tests place there.
 */
function memoryEnv(): Record<string, string> {
  const mount = existsSync('/proc/mounts') && readFileSync('/proc/mounts', 'utf8').split('\n').find(isMemoryMount)
  if (process.env.TMPDIR !== undefined || !mount || mount.includes('noexec')) return {}
  const { bavail, bsize } = statfsSync(MEMORY_MOUNT)
  if (bavail * bsize < MIN_FREE_BYTES) return {}
  const folder = mkdtempSync(join(MEMORY_MOUNT, 'tagwarden-tests-'))
  // Some tests switch to another user, who must be able to reach subfolders of this folder.
  chmodSync(folder, 0o711)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return { TMPDIR: folder }
}

const isMemoryMount = (mount: string) => mount.split(' ')[1] === MEMORY_MOUNT

interface TestRun {
  /** Files, folders or parts of paths. If empty, all tests run. */
  paths?: readonly string[]
  flags?: readonly string[]
  env?: Record<string, string>
}

/** Results of the tests in one file. */
interface FileResult {
  tests: number
  failed: number
  skipped: number
  seconds: number
}

interface Report {
  /** False when a test failed or the run was aborted. */
  passed: boolean
  files: Map<string, FileResult>
  skipped: string[]
}

/**
 * Runs test files. An aborted run counts as one failure.
 *
 * Failed files are run again alone, because on a busy machine a browser or server may get no processor time for longer
 * than a test waits. A file that then passes is counted as passed and listed as flaky, which is a bug in the test or in
 * the program.
 */
function tests(title: string, testRun: TestRun): Promise<Step> {
  return timed(title, async () => {
    const env = { ...memoryEnv(), ...testRun.env }
    const { passed, files, skipped } = await testOnce({ ...testRun, env })
    const failing = [...files].filter(([, { failed }]) => failed > 0).map(([file]) => file)
    const flaky: string[] = []
    for (const file of failing.length <= MAX_RETRIED_FILES ? failing : []) {
      console.log(`\nRetrying ${file} alone`)
      const retry = await testOnce({ env, paths: [`./${file}`] })
      for (const [name, result] of retry.files) files.set(name, result)
      if (retry.passed) flaky.push(file)
    }
    const results = [...files.values()]
    const sum = (of: keyof FileResult) => results.reduce((total, result) => total + result[of], 0)
    const brokeOff = !passed && failing.length === 0
    return {
      passed: sum('tests') - sum('failed') - sum('skipped'),
      failed: sum('failed') + (brokeOff ? 1 : 0),
      skipped,
      flaky,
      slowest: [...files]
        .map(([file, { seconds }]) => [file, seconds] as const)
        .toSorted((a, b) => b[1] - a[1])
        .slice(0, SLOWEST_SHOWN),
    }
  })
}

async function testOnce({ paths = [], flags = [], env = {} }: TestRun): Promise<Report> {
  using folder = temporaryFolder()
  const report = join(folder.path, 'report.xml')
  const reporting = ['--only-failures', '--reporter=junit', `--reporter-outfile=${report}`]
  const passed = await runTests([...reporting, ...flags, ...paths], env)
  const xml = existsSync(report) ? readFileSync(report, 'utf8') : ''
  // Groups within a file are also reported as suites, but their names are not file names.
  const suites = xml.matchAll(
    /<testsuite name="([^"]*\.ts)"[^>]*? tests="(\d+)"[^>]*? failures="(\d+)"[^>]*? skipped="(\d+)"[^>]*? time="([\d.]+)"/g,
  )
  const files = new Map<string, FileResult>()
  for (const [, file = '', ...counts] of suites) {
    const [tests = 0, failed = 0, skipped = 0, seconds = 0] = counts.map(Number)
    if (!files.has(file)) files.set(file, { tests, failed, skipped, seconds })
  }
  const skipped = [...xml.matchAll(/<testcase name="([^"]*)" classname="([^"]*)"[^>]*>\s*<skipped/g)]
    // The hooks of a skipped group are listed without a name.
    .filter(([, name]) => name !== '(unnamed)')
    .map(([, name, group]) => unescapeXml([group, name].filter(Boolean).join(' > ')))
  return { passed, files, skipped }
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

const unescapeXml = (text: string) => text.replace(/&(\w+);/g, (entity, name) => ENTITIES[name] ?? entity)

const check = () => [
  () =>
    timed('client', async () => {
      generateClient()
      return { passed: 1, failed: 0, skipped: [] }
    }),
  () => tool('types', TSC, '-p', '.', '--singleThreaded'),
  () => tool('types of the pages', TSC, '-p', 'src/web', '--singleThreaded'),
  () => tool('style', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'),
  () => tool('unused exports and packages', 'node_modules/knip/bin/knip.js', '--no-progress'),
]

const quick = () => tests('tests', { flags: [...PARALLEL, ...NO_EXECUTABLE_TESTS, ...ignoring(LONG_TESTS)] })

const long = () => tests('long tests', { flags: [...PARALLEL, ...NO_EXECUTABLE_TESTS], paths: ['long.test.ts'] })

function room(...rooms: string[]): Promise<Step> {
  const folders = rooms
    .flatMap((name) => [`src/${name}`, `test/${name}`])
    .filter((path) => existsSync(join(ROOT, path)))
  const files = rooms.map((name) => `src/${name}.test.ts`).filter((path) => existsSync(join(ROOT, path)))
  const paths = [...folders.map((folder) => `./${folder}/`), ...files.map((file) => `./${file}`)]
  if (paths.length === 0)
    throw new Error(`no such folder: ${rooms.join(', ')}; specify the name of a folder in src or test`)
  return tests(`tests of ${rooms.join(', ')}`, { flags: [...PARALLEL, ...ignoring(LONG_TESTS)], paths })
}

const executable = () =>
  tests('tests of the executable', { paths: EXECUTABLE_TESTS, env: { TAGWARDEN_BINARY: EXECUTABLE } })

const [command = 'quick', ...args] = process.argv.slice(2)
const COMMANDS: Record<string, () => (() => Promise<Step>)[]> = {
  quick: () => [...check(), quick],
  all: () => (args.includes('--rest') ? [long] : [...check(), quick, long]),
  check,
  room: () => [() => room(...args)],
  binary: () => [executable],
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
if (command === 'watch') {
  const flags = ['--watch', '--only-failures', ...ignoring(LONG_TESTS)]
  process.exit((await runTests([...flags, ...args], memoryEnv())) ? 0 : 1)
}
const steps = COMMANDS[command]?.()
if (steps === undefined) {
  console.error(USAGE)
  process.exit(2)
}
const results: Step[] = []
for (const step of steps) results.push(await step())

console.log()
for (const { title, passed, failed, skipped, seconds, slowest = [], flaky = [] } of results) {
  for (const [file, time] of slowest) console.log(`slowest: ${file} ${time.toFixed(0)} s`)
  for (const file of flaky) console.log(`flaky (failed in parallel, passed alone): ${file}`)
  for (const name of skipped) console.log(`skipped: ${name}`)
  console.log(`${title}: ${passed} passed, ${failed} failed, ${skipped.length} skipped, ${seconds.toFixed(0)} s`)
}
const sum = (of: (step: Step) => number) => results.reduce((total, step) => total + of(step), 0)
const failed = sum((step) => step.failed)
console.log(`${sum((step) => step.passed)} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
