import type { ErrorGuard } from './error-guard.ts'
import type { RunCommand } from './page-commands.ts'
import type { CommandQueue, EarlyCall, SharedWindow } from './shared-window.ts'
import type { CallRecorders } from './watch-transports.ts'

/** Removes and returns the requests that the snippet buffered. Null when the page has no snippet. */
export function takeEarly(window: SharedWindow): EarlyCall[] | null {
  const queue = window.tagwardenQueue
  const early = queue?.early ?? null
  if (queue && early) queue.early = null
  return early
}

/** Records the requests that were made before this script ran. */
export function replay(guard: ErrorGuard, seers: CallRecorders, early: readonly EarlyCall[]): void {
  for (const [name, self, args, at] of early) guard.run(() => seers[name]?.(self, args, at))
}

/**
 * Runs queued commands, then runs each new command immediately, even if it is added through the snippet's function or
 * list.
 */
export function takeCommands(window: SharedWindow, guard: ErrorGuard, run: RunCommand): void {
  const queue: CommandQueue = window.tagwardenQueue ?? []
  window.tagwardenQueue = queue
  const waiting = queue.splice(0)
  queue.push = (...commands) => {
    for (const command of commands) guard.run(() => run(command))
    return 0
  }
  window.tagwarden ??= (...command) => {
    queue.push(command)
  }
  for (const command of waiting) queue.push(command)
}
