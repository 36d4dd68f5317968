import type { RunCommand } from './commands.ts'
import type { Guard } from './guard.ts'
import type { CommandQueue, EarlyCall, SharedWindow } from './shared-window.ts'
import type { Seers } from './transports.ts'

/** Takes over what the snippet kept of requests. Null: there is no snippet on this page. */
export function takeEarly(window: SharedWindow): EarlyCall[] | null {
  const queue = window.tagwardenQueue
  const early = queue?.early ?? null
  if (queue && early) queue.early = null
  return early
}

/** Puts down the requests that were made before this script came. */
export function replay(guard: Guard, seers: Seers, early: readonly EarlyCall[]): void {
  for (const [name, self, args, at] of early) guard.run(() => seers[name]?.(self, args, at))
}

/** Carries out the commands that wait, and from now on each as it comes, whoever holds which function or list. */
export function takeCommands(window: SharedWindow, guard: Guard, run: RunCommand): void {
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
