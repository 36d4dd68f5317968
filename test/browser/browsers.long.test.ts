import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Browsers } from '../../src/browser/browser-pool.ts'
import { processesOf } from '../../src/browser/process-memory.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { commandOf, isAlive, pids } from '../proc-fs.ts'
import { temporaryFolder, until } from '../run-program.ts'
import type { TestPlan } from './browsing-task.ts'
import { installedChromium } from './installed-chromium.ts'

const COMMAND = [process.execPath, '--no-env-file', resolve(import.meta.dir, 'browsing-task.ts')]
const RUNS = 8

const site = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch({ url }) {
    if (url.endsWith('/resumed')) await resumed.promise
    return new Response('<title>Shop</title>', { headers: { 'content-type': 'text/html' } })
  },
})
/** Resolves when paused tasks may resume. */
let resumed = Promise.withResolvers<void>()
const folder = temporaryFolder()
const inFolder = join(folder.path, 'browsers')
let chromium: string

beforeAll(async () => {
  chromium = await installedChromium()
})
afterAll(async () => {
  await site.stop(true)
  folder[Symbol.dispose]()
})

function browsers(options: Partial<ConstructorParameters<typeof Browsers>[0]> = {}): Browsers {
  const none = { outboundProxy: '', outboundCa: '' }
  return new Browsers({
    chromium,
    folder: inFolder,
    concurrency: 1,
    outboundAllow: ['127.0.0.1'],
    command: COMMAND,
    ...none,
    ...options,
  })
}

interface RunOptions {
  after?: TestPlan['after']
  orgId?: string
  pauses?: boolean
  limitMs?: number
  stopping?: AbortSignal
  onMessage?: (title: string) => void
}

async function run(of: Browsers, options: RunOptions) {
  const { after = 'end', orgId = 'org_1', pauses = false, limitMs = 60_000, stopping, onMessage } = options
  const messages: string[] = []
  const { error } = await of.run<TestPlan, string>({
    orgId,
    task: 'walk',
    pauses,
    plan: (own) => ({
      browsing: {
        ...own,
        device: 'desktop',
        vendorRequests: 'answer',
        secrets: [],
        privacy: PLAIN_PRIVACY,
        userAgentSuffix: '',
      },
      url: `http://127.0.0.1:${site.port}/`,
      after,
    }),
    limitMs,
    stopping: stopping ?? new AbortController().signal,
    onStart: () => undefined,
    onMessage: (title) => {
      messages.push(title)
      onMessage?.(title)
    },
  })
  return { messages, error }
}

/** Running processes of these tests' browsers, identified by the folder in their command line. */
function processes(): number[] {
  return pids()
    .filter((pid) => commandOf(pid).includes(inFolder) || commandOf(pid).includes('browsing-task.ts\0browse'))
    .filter((pid) => isAlive(pid))
}

const runner = () => processes().find((pid) => commandOf(pid).includes('browsing-task.ts\0browse'))
const browser = () => processes().find((pid) => commandOf(pid).includes(`--user-data-dir=${inFolder}`))

/** Starts a run, calls `act` during the run, and returns its result. */
async function runAndInterrupt(act: () => void, options: RunOptions = {}) {
  const running = run(browsers(), { after: 'wait', ...options, onMessage: act })
  return await running
}

async function expectNothingLeft() {
  await until('the end of all processes', () => processes().length === 0)
  expect(existsSync(inFolder) ? readdirSync(inFolder) : []).toEqual([])
}

describe('browsers', () => {
  test('run a task in a separate process, and forward its messages', async () => {
    expect(await run(browsers(), {})).toEqual({ messages: ['Shop'], error: null })
    await expectNothingLeft()
  })

  test.skipIf(process.platform !== 'linux')('have idle CPU priority', async () => {
    const policies: string[] = []
    await runAndInterrupt(() => {
      const [group = 0] = [runner()]
      // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: the policy is field 41, which is the 39th field
      // after the name.
      for (const pid of processesOf(group))
        policies.push(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[38] ?? '')
      process.kill(group, 'SIGKILL')
    })
    expect(policies.length).toBeGreaterThan(3)
    // SCHED_IDLE
    expect(new Set(policies)).toEqual(new Set(['5']))
    await expectNothingLeft()
  })

  test('report why a task failed', async () => {
    expect(await run(browsers(), { after: 'fail' })).toEqual({ messages: ['Shop'], error: 'as planned' })
    await expectNothingLeft()
  })

  test.each<[string, () => number | undefined, RegExp]>([
    ['browser', browser, /^the browser ended \(SIGKILL\)$/],
    ['runner', runner, /^the browser process ended \(SIGKILL\)$/],
  ])('end when the %s is killed, and the next run succeeds', async (_, find, why) => {
    const { messages, error } = await runAndInterrupt(() => process.kill(find() ?? 0, 'SIGKILL'))
    expect(messages).toEqual(['Shop'])
    expect(error).toMatch(why)
    await expectNothingLeft()
    expect(await run(browsers(), {})).toEqual({ messages: ['Shop'], error: null })
  })

  test('kill a task that does not respond', async () => {
    const { error } = await run(browsers(), { after: 'hang', limitMs: 3000 })
    expect(error).toBe('it took longer than 3 s')
    await expectNothingLeft()
  })

  test('end when the server stops', async () => {
    const stopping = new AbortController()
    const { error } = await runAndInterrupt(() => stopping.abort(), { stopping: stopping.signal })
    expect(error).toBe('it was stopped because the server shut down')
    await expectNothingLeft()
  })

  test.each(['SIGKILL', 'SIGTERM'] as const)('end with a server that is stopped by %s', async (signal) => {
    const options = { chromium, folder: inFolder, url: `http://127.0.0.1:${site.port}/` }
    const server = Bun.spawn([...COMMAND, 'serve', JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] })
    // The first line of output means that the browser shows the page.
    for await (const _ of server.stdout) break
    expect(browser()).toBeDefined()
    server.kill(signal)
    await server.exited
    await until('the end of all processes', () => processes().length === 0)
    // The next start deletes the files that the previous server left behind.
    browsers()
    expect(existsSync(inFolder)).toBe(false)
  })

  test('end when they use too much memory', async () => {
    const of = browsers({ memoryBytes: 400 * 2 ** 20 })
    const { error } = await run(of, { after: 'take memory' })
    expect(error).toBe('the browser used more than 400 MiB of memory')
    await expectNothingLeft()
  })

  test('end when they use too much disk space', async () => {
    const of = browsers({ diskBytes: 32 * 2 ** 20 })
    const { error } = await run(of, { after: 'take disk' })
    expect(error).toBe('the browser used more than 32 MiB of disk')
    await expectNothingLeft()
  })

  test('report what to do when Chromium is missing or does not start', async () => {
    const missing = browsers({ chromium: '/nowhere/chromium' })
    const why =
      'TAGWARDEN_CHROMIUM is /nowhere/chromium, which is not an executable file: set it to the executable of Chromium, or leave it empty'
    expect(missing.fault()).toBe(why)
    expect(await run(missing, {})).toEqual({ messages: [], error: why })
    const { messages, error } = await run(browsers({ chromium: '/bin/false' }), {})
    expect(messages).toEqual([])
    expect(error).toStartWith('Chromium did not start: ')
    expect(browsers().fault()).toBeNull()
  })

  test('alternate between organizations', async () => {
    const of = browsers({ command: ['/bin/false'] })
    const order: string[] = []
    const runs = ['a', 'a', 'a', 'b', 'b'].map((orgId) =>
      of.run({
        orgId,
        task: 'walk',
        limitMs: 1000,
        stopping: new AbortController().signal,
        plan: () => null,
        onStart: () => order.push(orgId),
        onMessage: () => undefined,
      }),
    )
    for (const { error } of await Promise.all(runs)) expect(error).toStartWith('the browser process ended')
    // The organization that has used less browser time goes first. These runs take about equally long, so both orders
    // are possible.
    expect([['a', 'b', 'a', 'b', 'a'].join(), ['a', 'b', 'b', 'a', 'a'].join()]).toContain(order.join())
  })

  test('run other tasks while one is paused, and then resume it', async () => {
    resumed = Promise.withResolvers()
    const of = browsers()
    const order: string[] = []
    const shown = Promise.withResolvers<void>()
    const onMessage = (title: string) => {
      order.push(`a: ${title}`)
      shown.resolve()
    }
    const paused = run(of, { after: 'pause', orgId: 'a', pauses: true, onMessage })
    await shown.promise
    await run(of, { orgId: 'b', onMessage: (title) => order.push(`b: ${title}`) })
    // Another run occupies the slot when the pause ends.
    const began = Promise.withResolvers<void>()
    const next = run(of, {
      orgId: 'b',
      after: 'wait',
      limitMs: 2000,
      onMessage(title) {
        order.push(`b: ${title}`)
        began.resolve()
      },
    })
    await began.promise
    resumed.resolve()
    expect((await next).error).toBe('it took longer than 2 s')
    order.push('b: ended')
    expect(await paused).toEqual({ messages: ['Shop', 'went on'], error: null })
    expect(order).toEqual(['a: Shop', 'b: Shop', 'b: Shop', 'b: ended', 'a: went on'])
    await expectNothingLeft()
  })

  test.each<[string, (stop: AbortController) => void]>([
    ['stopped', (stopping) => stopping.abort()],
    ['killed', () => process.kill(runner() ?? 0, 'SIGKILL')],
  ])('end a paused run that is %s, and free its slot', async (_, end) => {
    resumed = Promise.withResolvers()
    const of = browsers()
    // More iterations than the maximum number of paused runs.
    for (let n = 0; n < 5; n++) {
      const shown = Promise.withResolvers<void>()
      const stopping = new AbortController()
      const options = {
        after: 'pause',
        pauses: true,
        stopping: stopping.signal,
        onMessage: () => shown.resolve(),
      } as const
      const paused = run(of, options)
      await shown.promise
      end(stopping)
      expect((await paused).messages).toEqual(['Shop'])
      await expectNothingLeft()
    }
    expect(await run(of, {})).toEqual({ messages: ['Shop'], error: null })
  })

  test('leave behind no process, file or descriptor after many runs', async () => {
    const of = browsers()
    await run(of, {})
    const before = readdirSync('/proc/self/fd').length
    for (let n = 0; n < RUNS; n++) expect(await run(of, {})).toEqual({ messages: ['Shop'], error: null })
    await expectNothingLeft()
    await until('descriptors to be closed', () => readdirSync('/proc/self/fd').length <= before)
  })

  test('have no processes left in a process group that has ended', () => {
    expect(processesOf(2 ** 30)).toEqual([])
  })
})
