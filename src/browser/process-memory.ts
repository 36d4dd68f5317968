import { readdirSync, readFileSync } from 'node:fs'

/**
 * Returns the memory usage of a process group in bytes. It includes private and shared memory, but not mapped files. 0
 * when the system does not report memory usage (no `/proc`) or the group has exited.
 */
export function memoryOf(group: number): number {
  return processesOf(group).reduce((sum, pid) => sum + privateBytes(pid), 0)
}

/** Returns the memory usage of one process in bytes, measured as in `memoryOf`. */
export const memoryOfProcess = (pid: number): number => privateBytes(pid)

/** Returns the ids of the processes in a group, without zombies. Empty when the system does not report them. */
export function processesOf(group: number): number[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isIn(group, pid))
}

function isIn(group: number, pid: number): boolean {
  // The fields after the name are the state, the parent and the group. The name may contain spaces and parentheses.
  const [state, , ofGroup] = textOf(pid, 'stat').split(') ').at(-1)?.split(' ') ?? []
  return Number(ofGroup) === group && state !== 'Z'
}

function privateBytes(pid: number): number {
  const sizes = [...textOf(pid, 'status').matchAll(/^(?:RssAnon|RssShmem):\s+(\d+) kB$/gm)]
  return sizes.reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Returns the content of the file; empty when the process has exited. */
function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
