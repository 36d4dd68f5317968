import { readdirSync, readFileSync } from 'node:fs'

/**
 * Returns the memory of a process group in bytes: what its processes have of their own and what they share with each other,
 * without the files that they have mapped. 0 where the system does not say (no `/proc`), and when the group has ended.
 */
export function memoryOf(group: number): number {
  return processesOf(group).reduce((sum, pid) => sum + privateBytes(pid), 0)
}

/** Returns the memory of one process in bytes, as `memoryOf` counts it. */
export const memoryOfProcess = (pid: number): number => privateBytes(pid)

/** The processes of a group; none where the system does not say. Those that have ended and wait for their parent do not count. */
export function processesOf(group: number): number[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isIn(group, pid))
}

function isIn(group: number, pid: number): boolean {
  // After the name, which may have blanks and parentheses: state, parent, group.
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

/** Empty when the process has ended meanwhile. */
function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
