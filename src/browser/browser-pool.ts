import { mkdirSync, rmSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { workerEnv } from '../core/child-env.ts'
import { SECOND_MS } from '../core/clock.ts'
import { createsProcessGroup } from '../core/process-priority.ts'
import { programCommand } from '../core/program-command.ts'
import { type BrowserSlot, BrowserSlots } from './browser-slots.ts'
import type { BrowsingOptions } from './browsing.ts'
import type { FromBrowsing, TaskName, ToBrowsing } from './browsing-process.ts'
import { findChromium, howToGetChromium } from './find-chromium.ts'
import { memoryOf, processesOf } from './process-memory.ts'

/** Error message of a run that failed because of an internal error. The details are in the log. */
export const INTERNAL_FAULT = 'internal error; see the server log'

/** Server options that apply to all browsers. */
export type ServerBrowsing = Pick<
  BrowsingOptions,
  'chromium' | 'folder' | 'outboundAllow' | 'outboundProxy' | 'outboundCa'
>

export interface BrowsersOptions extends Omit<ServerBrowsing, 'folder'> {
  /** Value of `TAGWARDEN_CHROMIUM`. */
  chromium: string
  /** Parent folder of the browsers' folders. At startup, folders left behind by a killed process are removed. */
  folder: string
  /** Value of `TAGWARDEN_FLOW_CONCURRENCY`: maximum number of concurrent browsers. */
  concurrency: number
  /** Maximum total memory of a browser's processes, in bytes. Default: 2 GiB. */
  memoryBytes?: number
  /**
   * Maximum size of a browser's profile in bytes, including caches, stored data and temporary files. Default: 1 GiB.
   */
  diskBytes?: number
  /** True while no browser may visit a site. Default: never. */
  isQuiet?(): boolean
  /** Command that starts this program. Replaced in tests. */
  command?: readonly string[]
}

export interface BrowserJob<Plan, Message> {
  orgId: string
  task: TaskName
  /** Returns the plan for the task. Called when a slot is free. */
  plan: (own: ServerBrowsing) => Plan
  /** Time limit for the browser in milliseconds. Includes pauses, but not the wait for a slot. */
  limitMs: number
  /** True when the task frees its slot while it waits. The number of such tasks is limited per organization. */
  pauses?: boolean
  /** Aborting this signal stops the run, or its wait for a slot. */
  stopping: AbortSignal
  /** Called when a slot is free and the browser is about to start. */
  onStart(): void
  /** Called with each message from the task, in order. */
  onMessage(message: Message): void
}

const MEMORY_BYTES = 2 * 2 ** 30
const DISK_BYTES = 2 ** 30
const LOOK_EVERY_MS = SECOND_MS
/** Time for a stopped task to send its remaining results. */
const GRACE_MS = SECOND_MS
/** Time for killed processes to exit. */
const GONE_MS = 10 * SECOND_MS
const GONE_POLL_MS = 10

/**
 * The browsers of a server. Each browser runs in a separate process. The number of concurrent browsers is limited, and
 * organizations take turns. While a task waits, its slot can be used by other tasks. Its browser stays open, and the
 * task continues when a slot is free again.
 */
export class Browsers {
  private readonly places: BrowserSlots
  private started = 0

  constructor(private readonly options: BrowsersOptions) {
    this.places = new BrowserSlots(options.concurrency)
    rmSync(options.folder, { recursive: true, force: true })
  }

  /** Number of running tasks and of tasks that wait for a browser. */
  get load(): { running: number; waiting: number } {
    return this.places.load
  }

  /** Returns why no browser can run and how to fix it, without a full stop. Null when browsers can run. */
  fault(): string | null {
    const { chromium, isQuiet } = this.options
    if (isQuiet?.())
      return 'this server is quiet, because its data folder was copied or restored; an operator must resume it'
    return findChromium(chromium) === null ? howToGetChromium(chromium) : null
  }

  /**
   * Runs a task in a new browser once a slot is free. Returns the reason why the task ended early, without a full stop;
   * null when it did not. Never rejects because of a browser or a page, but rejects with errors thrown by `onStart`,
   * `plan` and `onMessage`. By the time the promise settles, the browser has exited and its files have been deleted.
   */
  async run<Plan, Message>(asked: BrowserJob<Plan, Message>): Promise<{ error: string | null }> {
    const { orgId, stopping, pauses = false } = asked
    const place = this.places.of(orgId, stopping)
    const work = async () => {
      await place.enter()
      return this.browse(asked, place)
    }
    try {
      return await (pauses ? this.places.runPausing(orgId, work, stopping) : work())
    } catch (error) {
      if (!place.wasEntered && stopping.aborted) return { error: STOPPED }
      throw error
    } finally {
      place.end()
    }
  }

  private async browse<Plan, Message>(
    asked: BrowserJob<Plan, Message>,
    place: BrowserSlot,
  ): Promise<{ error: string | null }> {
    const { outboundAllow, outboundProxy, outboundCa } = this.options
    const chromium = findChromium(this.options.chromium)
    asked.onStart()
    if (chromium === null) return { error: howToGetChromium(this.options.chromium) }
    const folder = join(this.options.folder, String(++this.started))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    try {
      const plan = asked.plan({ chromium, folder, outboundAllow, outboundProxy, outboundCa })
      return await this.inProcess(asked, { plan, folder, place })
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  }

  private async inProcess<Plan, Message>(
    asked: BrowserJob<Plan, Message>,
    { plan, folder, place }: { plan: Plan; folder: string; place: BrowserSlot },
  ): Promise<{ error: string | null }> {
    const { command = programCommand() } = this.options
    const ended = Promise.withResolvers<string | null>()
    const child = Bun.spawn([...command, 'browse'], {
      // Either this option or the process itself creates a process group, so that the browser's processes can be found
      // and stopped as well.
      detached: !createsProcessGroup,
      env: workerEnv(),
      stdio: ['ignore', 'ignore', 'inherit'],
      ipc: (told: FromBrowsing) => {
        if (told.kind === 'ended') return ended.resolve(told.error)
        if (told.kind === 'leave') return place.pause()
        if (told.kind === 'enter') return void enter()
        try {
          asked.onMessage(told.message as Message)
        } catch (error) {
          ended.reject(error)
        }
      },
      onExit: (_, code, signal) => ended.resolve(`the browser process ended (${signal ?? `exit code ${code}`})`),
    })
    let cause: string | null = null
    const stop = (why: string, graceMs: number) => {
      cause ??= why
      if (graceMs > 0) child.send({ kind: 'stop' } satisfies ToBrowsing)
      setTimeout(() => ended.resolve(why), graceMs).unref()
    }
    const onStop = () => stop(STOPPED, GRACE_MS)
    const limit = new StoppableTimer(asked.limitMs, () =>
      stop(`it took longer than ${asked.limitMs / SECOND_MS} s`, GRACE_MS),
    )
    let isOver = false
    const enter = async () => {
      limit.stop()
      // `enter` rejects when the task is stopped.
      const isIn = await place.enter().then(
        () => true,
        () => false,
      )
      if (!isIn || isOver) return
      limit.start()
      child.send({ kind: 'entered' } satisfies ToBrowsing)
    }
    const unwatch = this.watchUse(child.pid, folder, (why) => stop(why, 0))
    asked.stopping.addEventListener('abort', onStop, { once: true })
    if (asked.stopping.aborted) onStop()
    try {
      child.send({ kind: 'begin', task: asked.task, plan } satisfies ToBrowsing)
      const error = await ended.promise
      return { error: cause ?? error }
    } finally {
      isOver = true
      limit.stop()
      unwatch()
      asked.stopping.removeEventListener('abort', onStop)
      // The process may not have created its group yet.
      child.kill('SIGKILL')
      await endGroup(child.pid)
      await child.exited
    }
  }

  /** Calls `stop` with the reason when a browser exceeds a limit. Returns a function that stops the checks. */
  private watchUse(group: number, folder: string, stop: (why: string) => void): () => void {
    const { memoryBytes = MEMORY_BYTES, diskBytes = DISK_BYTES } = this.options
    const sentence = (bytes: number, what: string) => `the browser used more than ${bytes / 2 ** 20} MiB of ${what}`
    let timer: Timer | null = null
    const look = async () => {
      if (memoryOf(group) > memoryBytes) return stop(sentence(memoryBytes, 'memory'))
      if ((await diskUseOf(folder)) > diskBytes) return stop(sentence(diskBytes, 'disk'))
      timer &&= setTimeout(look, LOOK_EVERY_MS)
    }
    timer = setTimeout(look, LOOK_EVERY_MS)
    return () => {
      clearTimeout(timer ?? undefined)
      timer = null
    }
  }
}

const STOPPED = 'it was stopped because the server shut down'

/** A timer that starts when it is created, and can be stopped and restarted. */
class StoppableTimer {
  private timer: Timer | undefined
  private startedAt = 0

  constructor(
    private leftMs: number,
    private readonly act: () => void,
  ) {
    this.start()
  }

  start(): void {
    this.startedAt = performance.now()
    this.timer = setTimeout(this.act, this.leftMs)
  }

  stop(): void {
    clearTimeout(this.timer)
    this.leftMs -= performance.now() - this.startedAt
  }
}

/** Kills all processes of the group and waits until they have exited. */
async function endGroup(group: number): Promise<void> {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // The processes have already exited.
    return
  }
  const end = performance.now() + GONE_MS
  while (processesOf(group).length > 0 && performance.now() < end) await Bun.sleep(GONE_POLL_MS)
}

const BLOCK_BYTES = 512

/**
 * Returns the disk usage of a folder in bytes; 0 when the folder does not exist. Files that are removed in the meantime
 * are ignored.
 */
async function diskUseOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  let bytes = 0
  for (const name of names) {
    const found = await lstat(join(folder, name)).catch(() => null)
    bytes += (found?.blocks ?? 0) * BLOCK_BYTES
  }
  return bytes
}
