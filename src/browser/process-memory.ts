import { readdirSync, readFileSync } from 'node:fs'

/**
 * Returns the memory of a process group in bytes: the private and shared memory of its processes without mapped files.
 * 0 when the system does not report it (no `/proc`) or the group has exited.
 */
export function memoryOf(group: number): number {
  return processesOf(group).reduce((sum, pid) => sum + privateBytes(pid), 0)
}

/** Returns the memory of one process in bytes, counted like `memoryOf`. */
export const memoryOfProcess = (pid: number): number => privateBytes(pid)

/** Returns the processes of a group; none when the system does not report them. Zombies do not count. */
export function processesOf(group: number): number[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isIn(group, pid))
}

function isIn(group: number, pid: number): boolean {
  // After the name, which may contain spaces and parentheses: state, parent, group.
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

/** Returns the text; empty when the process has exited meanwhile. */
function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
