import { dlopen, FFIType, ptr } from 'bun:ffi'
import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

/** The lowest priority, for kernels without an idle policy. */
const NICENESS = 19
/** Runs only when the processor is idle (sched(7), "SCHED_IDLE"). */
const SCHED_IDLE = 5

const { i32, ptr: pointer } = FFIType
const GROUP = { setpgid: { args: [i32, i32], returns: i32 } } as const
const POLICY = {
  sched_setscheduler: { args: [i32, i32, pointer], returns: i32 },
} as const

/**
 * Whether `createProcessGroup` has an effect. Where it has, the parent must not start a session for the process: a kernel
 * that divides the processor by session first (sched(7), "The autogroup feature") ignores policies across sessions.
 */
export const createsProcessGroup = process.platform === 'linux'

/** Moves this process into a new process group. On systems other than Linux the parent does that. */
export function createProcessGroup(): void {
  if (!createsProcessGroup) return
  const { symbols, close } = dlopen('libc.so.6', GROUP)
  const itself = 0
  symbols.setpgid(itself, itself)
  close()
}

/**
 * Makes this process and its future children run only when the processor is otherwise idle. On systems other than Linux
 * it sets the niceness, which is weaker: Chromium raises its own where it is permitted to.
 */
export function lowerPriority(): void {
  if (process.platform !== 'linux') return setPriority(NICENESS)
  const { symbols, close } = dlopen('libc.so.6', POLICY)
  const noPriority = new Int32Array(1)
  // The policy applies per thread, and the runtime has several by now.
  for (const thread of readdirSync('/proc/self/task'))
    symbols.sched_setscheduler(Number(thread), SCHED_IDLE, ptr(noPriority))
  close()
}
