import { readdirSync, readFileSync } from 'node:fs'

/** What `/proc` says of processes: for tests that end some of them. */

/** The processes that a process started, and those that they started. */
export function startedBy(pid: number): number[] {
  const children = pids().filter((child) => Number(statOf(child)[1]) === pid)
  return children.flatMap((child) => [child, ...startedBy(child)])
}

/** Its arguments, each with a NUL behind it; empty when it is gone. */
export const commandOf = (pid: number): string => textOf(pid, 'cmdline')

/** False also for one that has ended and waits for its parent. */
export const isAlive = (pid: number): boolean => !['Z', undefined].includes(statOf(pid)[0])

/** All processes. */
export const pids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

/** State, parent, group, and so on; empty when it is gone. */
function statOf(pid: number): string[] {
  // The name before them may have blanks and parentheses.
  return textOf(pid, 'stat').split(') ').at(-1)?.split(' ').filter(Boolean) ?? []
}

function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
