import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Browsers } from '../../src/browser/browsers.ts'
import { processesOf } from '../../src/browser/memory.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy.ts'
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
/** Ends the pause of tasks that pause. */
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
    ...{ chromium, folder: inFolder, concurrency: 1, outboundAllow: ['127.0.0.1'], command: COMMAND, ...none },
    ...options,
  })
}

interface Asked {
  after?: TestPlan['after']
  orgId?: string
  pauses?: boolean
  limitMs?: number
  stopping?: AbortSignal
  onMessage?: (title: string) => void
}

async function run(of: Browsers, asked: Asked) {
  const { after = 'end', orgId = 'org_1', pauses = false, limitMs = 60_000, stopping, onMessage } = asked
  const told: string[] = []
  const { error } = await of.run<TestPlan, string>({
    ...{ orgId, task: 'walk', pauses },
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
      told.push(title)
      onMessage?.(title)
    },
  })
  return { told, error }
}

/** Processes of browsers of these tests that run: all that name the folder. */
function processes(): number[] {
  return pids()
    .filter((pid) => commandOf(pid).includes(inFolder) || commandOf(pid).includes('browsing-task.ts\0browse'))
    .filter((pid) => isAlive(pid))
}

const runner = () => processes().find((pid) => commandOf(pid).includes('browsing-task.ts\0browse'))
const browser = () => processes().find((pid) => commandOf(pid).includes(`--user-data-dir=${inFolder}`))

/** What a run that is under way leads to when `act` is done in its midst. */
async function inMidst(act: () => void, asked: Asked = {}) {
  const running = run(browsers(), { after: 'wait', ...asked, onMessage: act })
  return await running
}

async function expectNothingLeft() {
  await until('the end of all processes', () => processes().length === 0)
  expect(existsSync(inFolder) ? readdirSync(inFolder) : []).toEqual([])
}

describe('browsers', () => {
  test('run a task in a process of its own, and tell what it tells', async () => {
    expect(await run(browsers(), {})).toEqual({ told: ['Shop'], error: null })
    await expectNothingLeft()
  })

  test.skipIf(process.platform !== 'linux')('wait while others want the processor', async () => {
    const policies: string[] = []
    await inMidst(() => {
      const [group = 0] = [runner()]
      // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: policy, the 41st field, the 39th behind the name.
      for (const pid of processesOf(group))
        policies.push(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[38] ?? '')
      process.kill(group, 'SIGKILL')
    })
    expect(policies.length).toBeGreaterThan(3)
    // SCHED_IDLE
    expect(new Set(policies)).toEqual(new Set(['5']))
    await expectNothingLeft()
  })

  test('say why a task failed', async () => {
    expect(await run(browsers(), { after: 'fail' })).toEqual({ told: ['Shop'], error: 'as planned' })
    await expectNothingLeft()
  })

  test.each<[string, () => number | undefined, RegExp]>([
    ['browser', browser, /^the browser ended \(SIGKILL\)$/],
    ['runner', runner, /^the process of the browser ended \(SIGKILL\)$/],
  ])('end when the %s is killed, and the next one runs', async (_, find, why) => {
    const { told, error } = await inMidst(() => process.kill(find() ?? 0, 'SIGKILL'))
    expect(told).toEqual(['Shop'])
    expect(error).toMatch(why)
    await expectNothingLeft()
    expect(await run(browsers(), {})).toEqual({ told: ['Shop'], error: null })
  })

  test('end a task that does not hear', async () => {
    const { error } = await run(browsers(), { after: 'hang', limitMs: 3000 })
    expect(error).toBe('it took longer than 3 s')
    await expectNothingLeft()
  })

  test('end with the server', async () => {
    const stopping = new AbortController()
    const { error } = await inMidst(() => stopping.abort(), { stopping: stopping.signal })
    expect(error).toBe('it was stopped with the server')
    await expectNothingLeft()
  })

  test.each(['SIGKILL', 'SIGTERM'] as const)('end with a server that %s ends', async (signal) => {
    const asked = { chromium, folder: inFolder, url: `http://127.0.0.1:${site.port}/` }
    const server = Bun.spawn([...COMMAND, 'serve', JSON.stringify(asked)], { stdio: ['ignore', 'pipe', 'inherit'] })
    // Its first line: the browser shows the page.
    for await (const _ of server.stdout) break
    expect(browser()).toBeDefined()
    server.kill(signal)
    await server.exited
    await until('the end of all processes', () => processes().length === 0)
    // The next start removes its files.
    browsers()
    expect(existsSync(inFolder)).toBe(false)
  })

  test('end when they take too much memory', async () => {
    const of = browsers({ memoryBytes: 400 * 2 ** 20 })
    const { error } = await run(of, { after: 'take memory' })
    expect(error).toBe('the browser took more than 400 MiB of memory')
    await expectNothingLeft()
  })

  test('end when they take too much of the disk', async () => {
    const of = browsers({ diskBytes: 32 * 2 ** 20 })
    const { error } = await run(of, { after: 'take disk' })
    expect(error).toBe('the browser took more than 32 MiB of disk')
    await expectNothingLeft()
  })

  test('say what is to be done where there is no Chromium, or one that does not start', async () => {
    const missing = browsers({ chromium: '/nowhere/chromium' })
    const why = 'TAGWARDEN_CHROMIUM names /nowhere/chromium, which is no executable file: name one, or leave it empty'
    expect(missing.fault()).toBe(why)
    expect(await run(missing, {})).toEqual({ told: [], error: why })
    const { told, error } = await run(browsers({ chromium: '/bin/false' }), {})
    expect(told).toEqual([])
    expect(error).toStartWith('Chromium did not start: ')
    expect(browsers().fault()).toBeNull()
  })

  test('take turns by organization', async () => {
    const of = browsers({ command: ['/bin/false'] })
    const order: string[] = []
    const asked = ['a', 'a', 'a', 'b', 'b'].map((orgId) =>
      of.run({
        ...{ orgId, task: 'walk', limitMs: 1000, stopping: new AbortController().signal },
        plan: () => null,
        onStart: () => order.push(orgId),
        onMessage: () => undefined,
      }),
    )
    for (const { error } of await Promise.all(asked)) expect(error).toStartWith('the process of the browser ended')
    // Whoever used less browser time goes first, and these runs take about as long as each other.
    expect([['a', 'b', 'a', 'b', 'a'].join(), ['a', 'b', 'b', 'a', 'a'].join()]).toContain(order.join())
  })

  test('run others while one pauses, which goes on after them', async () => {
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
    // The next one has the place when the pause ends.
    const began = Promise.withResolvers<void>()
    const next = run(of, {
      ...{ orgId: 'b', after: 'wait', limitMs: 2000 },
      onMessage(title) {
        order.push(`b: ${title}`)
        began.resolve()
      },
    })
    await began.promise
    resumed.resolve()
    expect((await next).error).toBe('it took longer than 2 s')
    order.push('b: ended')
    expect(await paused).toEqual({ told: ['Shop', 'went on'], error: null })
    expect(order).toEqual(['a: Shop', 'b: Shop', 'b: Shop', 'b: ended', 'a: went on'])
    await expectNothingLeft()
  })

  test.each<[string, (stop: AbortController) => void]>([
    ['stopped', (stopping) => stopping.abort()],
    ['killed', () => process.kill(runner() ?? 0, 'SIGKILL')],
  ])('end one that pauses and is %s, and its place is free', async (_, end) => {
    resumed = Promise.withResolvers()
    const of = browsers()
    // More than may pause at once.
    for (let n = 0; n < 5; n++) {
      const shown = Promise.withResolvers<void>()
      const stopping = new AbortController()
      const asked = {
        after: 'pause',
        pauses: true,
        stopping: stopping.signal,
        onMessage: () => shown.resolve(),
      } as const
      const paused = run(of, asked)
      await shown.promise
      end(stopping)
      expect((await paused).told).toEqual(['Shop'])
      await expectNothingLeft()
    }
    expect(await run(of, {})).toEqual({ told: ['Shop'], error: null })
  })

  test('leave no process, file or descriptor, however many run', async () => {
    const of = browsers()
    await run(of, {})
    const before = readdirSync('/proc/self/fd').length
    for (let n = 0; n < RUNS; n++) expect(await run(of, {})).toEqual({ told: ['Shop'], error: null })
    await expectNothingLeft()
    await until('descriptors to be closed', () => readdirSync('/proc/self/fd').length <= before)
  })

  test('a group that has ended has no processes', () => {
    expect(processesOf(2 ** 30)).toEqual([])
  })
})
