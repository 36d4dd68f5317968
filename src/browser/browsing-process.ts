import { messageOf } from '../core/error.ts'
import { createProcessGroup, lowerPriority } from '../core/process-priority.ts'
import type { Slot, Task } from './task.ts'

export type TaskName = 'walk' | 'crawl'

/** Messages of the server to the process of a browser. `entered` answers `enter`. */
export type ToBrowsing = { kind: 'begin'; task: TaskName; plan: unknown } | { kind: 'entered' } | { kind: 'stop' }

/**
 * Messages of the process. `leave` and `enter` are those of its slot. After `ended` it waits for the pipe to be closed.
 */
export type FromBrowsing =
  | { kind: 'message'; message: unknown }
  | { kind: 'leave' }
  | { kind: 'enter' }
  | { kind: 'ended'; error: string | null }

/**
 * Main function of a browser's process: executes the task it receives and exits when the pipe closes; yields the
 * processor to other programs. Never resolves.
 *
 * @param tasks loaded when they start
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
    if (!load) return tell({ kind: 'ended', error: `there is no task ${told.task}` })
    void load()
      .then((task) => task(told.plan, (message) => tell({ kind: 'message', message }), stopping.signal, place))
      .then(
        () => tell({ kind: 'ended', error: null }),
        (error) => tell({ kind: 'ended', error: messageOf(error) }),
      )
  })
  process.once('disconnect', () => {
    // Ends the browser in case it does not notice the end of this process.
    stopping.abort(new Error('the server has disconnected'))
    process.exit()
  })
  // The server ends this process by closing the pipe. A signal to the whole group would lose the reason.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  // Puppeteer rejects promises of closed tabs, some of which nothing awaits.
  process.on('unhandledRejection', () => undefined)
  return new Promise(() => {})
}
