import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { workerEnv } from '../core/child-env.ts'
import { SECOND_MS } from '../core/clock.ts'
import { createsProcessGroup } from '../core/process-priority.ts'
import { programCommand } from '../core/program-command.ts'
import { type BrowserPlace, BrowserPlaces } from './browser-place.ts'
import type { BrowsingOptions } from './browsing.ts'
import type { FromBrowsing, TaskName, ToBrowsing } from './browsing-process.ts'
import { findChromium, howToGetChromium } from './chromium.ts'
import { diskUseOf } from './disk.ts'
import { memoryOf, processesOf } from './memory.ts'

/** Why a run ended that failed for a fault of the server's; what it was is for the operator. */
export const FAULT_OF_OURS = 'the server could not carry it out; its log says why'

/** What a server has of its own for every browser. */
export type OwnBrowsing = Pick<
  BrowsingOptions,
  'chromium' | 'folder' | 'outboundAllow' | 'outboundProxy' | 'outboundCa'
>

export interface BrowsersOptions extends Omit<OwnBrowsing, 'folder'> {
  /** `TAGWARDEN_CHROMIUM`. */
  chromium: string
  /** Where browsers have their folders. What a kill left in it is removed at once. */
  folder: string
  /** `TAGWARDEN_FLOW_CONCURRENCY`: browsers at once. */
  concurrency: number
  /** What a browser with all its processes may take; default 2 GiB. */
  memoryBytes?: number
  /** What its profile with caches, stored data and temporary files may take; default 1 GiB. */
  diskBytes?: number
  /** Starts this program; replaced in tests. */
  command?: readonly string[]
}

export interface Asked<Plan, Message> {
  orgId: string
  task: TaskName
  /** Called when there is a place. */
  plan: (own: OwnBrowsing) => Plan
  /** How long the browser may run, its pauses included, the time in which it waits for a place not. */
  limitMs: number
  /** True when the task gives its place up while it waits. An organization has few of them at once. */
  pauses?: boolean
  /** Ends the run, or its waiting for a place. */
  stopping: AbortSignal
  /** Called when there is a place. */
  onStart(): void
  /** Called with what the task tells, in order. */
  onMessage(message: Message): void
}

const MEMORY_BYTES = 2 * 2 ** 30
const DISK_BYTES = 2 ** 30
const LOOK_EVERY_MS = SECOND_MS
/** How long a task that is told to stop may take to tell what it has. */
const GRACE_MS = SECOND_MS
/** How long processes that were killed may take to be gone. */
const GONE_MS = 10 * SECOND_MS
const GONE_POLL_MS = 10

/**
 * The browsers of a server: each runs in a process of its own, a few at once, and organizations take turns. A task that
 * waits gives its place up: its browser stays open, and goes on when there is a place again.
 */
export class Browsers {
  private readonly places: BrowserPlaces
  private started = 0

  constructor(private readonly options: BrowsersOptions) {
    this.places = new BrowserPlaces(options.concurrency)
    rmSync(options.folder, { recursive: true, force: true })
  }

  /** Returns why no browser can run, and what to do, as a sentence without its full stop; null: one can. */
  fault(): string | null {
    const { chromium } = this.options
    return findChromium(chromium) === null ? howToGetChromium(chromium) : null
  }

  /**
   * Runs a task in a browser of its own when there is a place. Returns why it ended before its time, as a sentence without its full stop, or
   * null. Never fails for what a browser or a page did; fails as `onStart`, `plan` and `onMessage` do. When it returns, the browser
   * and its files are gone.
   */
  async run<Plan, Message>(asked: Asked<Plan, Message>): Promise<{ error: string | null }> {
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
    asked: Asked<Plan, Message>,
    place: BrowserPlace,
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
    asked: Asked<Plan, Message>,
    { plan, folder, place }: { plan: Plan; folder: string; place: BrowserPlace },
  ): Promise<{ error: string | null }> {
    const { command = programCommand() } = this.options
    const ended = Promise.withResolvers<string | null>()
    const child = Bun.spawn([...command, 'browse'], {
      // A group of its own, by which its browser can be found and ended too, is made there or here.
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
      onExit: (_, code, signal) => ended.resolve(`the process of the browser ended (${signal ?? `exit code ${code}`})`),
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
      // A failure means that the task is stopped.
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
      // It may not have made its group yet.
      child.kill('SIGKILL')
      await endGroup(child.pid)
      await child.exited
    }
  }

  /** Calls `stop` with why when a browser takes more than it may. Returns what ends that. */
  private watchUse(group: number, folder: string, stop: (why: string) => void): () => void {
    const { memoryBytes = MEMORY_BYTES, diskBytes = DISK_BYTES } = this.options
    const sentence = (bytes: number, what: string) => `the browser took more than ${bytes / 2 ** 20} MiB of ${what}`
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

const STOPPED = 'it was stopped with the server'

/** A timer that runs from the start, and can be stopped and started again. */
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

/** Kills all processes of the group, and waits until they are gone. */
async function endGroup(group: number): Promise<void> {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // They have ended by themselves.
    return
  }
  const end = performance.now() + GONE_MS
  while (processesOf(group).length > 0 && performance.now() < end) await Bun.sleep(GONE_POLL_MS)
}
