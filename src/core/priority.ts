import { dlopen, FFIType, ptr } from 'bun:ffi'
import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

/** The lowest there is, where the kernel has no policy for what may wait. */
const NICENESS = 19
/** Runs on what nobody else wants, and gives way at once (sched(7), "SCHED_IDLE"). */
const SCHED_IDLE = 5

const { i32, ptr: pointer } = FFIType
const GROUP = { setpgid: { args: [i32, i32], returns: i32 } } as const
const POLICY = {
  sched_setscheduler: { args: [i32, i32, pointer], returns: i32 },
} as const

/**
 * Whether `leaveGroup` makes the process group. Where it does, its parent must not start a session for it: a kernel that
 * shares the processor by session first ("The autogroup feature") would hold whole sessions against each other, and no policy
 * within one would count.
 */
export const makesOwnGroup = process.platform === 'linux'

/** Puts this process into a process group of its own; elsewhere than on Linux that is the parent's business. */
export function leaveGroup(): void {
  if (!makesOwnGroup) return
  const { symbols, close } = dlopen('libc.so.6', GROUP)
  const itself = 0
  symbols.setpgid(itself, itself)
  close()
}

/**
 * This process, and what it starts from now on, runs when nothing else of its session or container wants the processor. A
 * niceness would not be enough: Chromium raises its own where it may. Elsewhere than on Linux that is all there is.
 */
export function waitForOthers(): void {
  if (process.platform !== 'linux') return setPriority(NICENESS)
  const { symbols, close } = dlopen('libc.so.6', POLICY)
  const noPriority = new Int32Array(1)
  // A policy is a thread's, and its children's; the runtime has several by now.
  for (const thread of readdirSync('/proc/self/task'))
    symbols.sched_setscheduler(Number(thread), SCHED_IDLE, ptr(noPriority))
  close()
}
