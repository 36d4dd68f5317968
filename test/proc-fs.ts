import { readdirSync, readFileSync } from 'node:fs'

/* Reads `/proc`, for tests that kill processes. */

/** Descendants of a process. */
export function startedBy(pid: number): number[] {
  const children = pids().filter((child) => Number(statOf(child)[1]) === pid)
  return children.flatMap((child) => [child, ...startedBy(child)])
}

/** Arguments of a process, each followed by NUL. Empty if the process has exited. */
export const commandOf = (pid: number): string => textOf(pid, 'cmdline')

/** Whether a process runs. False for a zombie. */
export const isAlive = (pid: number): boolean => !['Z', undefined].includes(statOf(pid)[0])

/** Ids of all processes. */
export const pids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

/** Fields of `/proc/PID/stat` from the state on. Empty if the process has exited. */
function statOf(pid: number): string[] {
  // The name before them can contain blanks and parentheses.
  return textOf(pid, 'stat').split(') ').at(-1)?.split(' ').filter(Boolean) ?? []
}

function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
