import { FFIType, ptr } from 'bun:ffi'
import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'
import { openLibc } from './libc.ts'

/** The lowest priority, used by kernels that have no idle policy. */
const NICENESS = 19
/** Policy for processes that run only when the processor is idle (sched(7), "SCHED_IDLE"). */
const SCHED_IDLE = 5

const { i32, ptr: pointer } = FFIType
const GROUP = { setpgid: { args: [i32, i32], returns: i32 } } as const
const POLICY = {
  sched_setscheduler: { args: [i32, i32, pointer], returns: i32 },
} as const

/**
 * True if `createProcessGroup` has an effect. The parent must then not start a session for the process: kernels that
 * divide processor time by session first (sched(7), "The autogroup feature") ignore policies across sessions.
 */
export const createsProcessGroup = process.platform === 'linux'

/** Moves this process into a new process group. On systems other than Linux, the parent process does this. */
export function createProcessGroup(): void {
  const libc = openLibc(GROUP)
  const itself = 0
  libc?.symbols.setpgid(itself, itself)
  libc?.close()
}

/**
 * Makes this process and its future children run only when the processor is otherwise idle. Systems other than Linux,
 * and musl, which doesn't implement policies, use the niceness instead. It is less effective, because Chromium raises its
 * own niceness if permitted.
 */
export function lowerPriority(): void {
  const libc = openLibc(POLICY)
  if (libc === null) return setPriority(NICENESS)
  const noPriority = new Int32Array(1)
  // The policy applies to individual threads, and the runtime has already started several.
  const results = readdirSync('/proc/self/task').map((thread) =>
    libc.symbols.sched_setscheduler(Number(thread), SCHED_IDLE, ptr(noPriority)),
  )
  libc.close()
  if (results.every((result) => result !== 0)) setPriority(NICENESS)
}
