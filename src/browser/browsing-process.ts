import { messageOf } from '../core/error.ts'
import { createProcessGroup, lowerPriority } from '../core/process-priority.ts'
import type { Slot, Task } from './browser-task.ts'

export type TaskName = 'walk' | 'crawl'

/** Messages from the server to the browser process. `entered` is the response to `enter`. */
export type ToBrowsing = { kind: 'begin'; task: TaskName; plan: unknown } | { kind: 'entered' } | { kind: 'stop' }

/**
 * Messages from the browser process to the server. `leave` frees its slot, and `enter` requests a new one. After
 * `ended`, the process waits until the pipe is closed.
 */
export type FromBrowsing =
  | { kind: 'message'; message: unknown }
  | { kind: 'leave' }
  | { kind: 'enter' }
  | { kind: 'ended'; error: string | null }

/**
 * Entry point of the browser process. Executes the task it receives, at low priority, and exits when the pipe closes.
 * Never resolves.
 * @param tasks functions that load each task on demand
 */
export function browseForParent(tasks: Partial<Record<TaskName, () => Promise<Task>>>): Promise<never> {
  createProcessGroup()
  lowerPriority()
  const stopping = new AbortController()
  const tell = (told: FromBrowsing) => process.send?.(told)
  let entered: () => void = () => undefined
  const place: Slot = {
    leave: () => tell({ kind: 'leave' }),
    enter: () =>
      new Promise((resolve, reject) => {
        if (stopping.signal.aborted) reject(stopping.signal.reason)
        entered = resolve
        stopping.signal.addEventListener('abort', () => reject(stopping.signal.reason), { once: true })
        tell({ kind: 'enter' })
      }),
  }
  process.on('message', (told: ToBrowsing) => {
    if (told.kind === 'entered') return entered()
    if (told.kind === 'stop') return stopping.abort(new Error('it was stopped'))
    const load = tasks[told.task]
    if (!load) return tell({ kind: 'ended', error: `unknown task ${told.task}` })
    void load()
      .then((task) => task(told.plan, (message) => tell({ kind: 'message', message }), stopping.signal, place))
      .then(
        () => tell({ kind: 'ended', error: null }),
        (error) => tell({ kind: 'ended', error: messageOf(error) }),
      )
  })
  process.once('disconnect', () => {
    // Stops the browser, which may not notice that this process ends.
    stopping.abort(new Error('the server has disconnected'))
    process.exit()
  })
  // Signals are ignored, because the server stops this process by closing the pipe. A signal sent to the whole process
  // group would hide the reason.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  // Puppeteer rejects the promises of closed tabs, and not all of these promises are awaited.
  process.on('unhandledRejection', () => undefined)
  return new Promise(() => {})
}
