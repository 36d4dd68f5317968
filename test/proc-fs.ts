import { readdirSync, readFileSync } from 'node:fs'

/* Reads `/proc`, for tests that kill processes. */

/** Returns the ids of all descendants of a process. */
export function descendantsOf(pid: number): number[] {
  const children = pids().filter((child) => Number(statOf(child)[1]) === pid)
  return children.flatMap((child) => [child, ...descendantsOf(child)])
}

/** Returns the arguments of a process, each followed by NUL. Empty if the process has exited. */
export const commandOf = (pid: number): string => textOf(pid, 'cmdline')

/** True when a process is running. False for a zombie. */
export const isAlive = (pid: number): boolean => !['Z', undefined].includes(statOf(pid)[0])

/** Returns the ids of all processes. */
export const pids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

/** Returns the fields of `/proc/PID/stat`, starting with the process state. Empty if the process has exited. */
function statOf(pid: number): string[] {
  // The process name before these fields can contain spaces and parentheses.
  return textOf(pid, 'stat').split(') ').at(-1)?.split(' ').filter(Boolean) ?? []
}

function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
