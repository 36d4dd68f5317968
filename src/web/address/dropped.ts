import { messages } from '../messages.ts'
import { notices } from '../shell/notices.ts'
import type { Dropped } from './search.ts'

const told = new Set<string>()

/** Tells once what was left out of an address. */
export function reportDropped(dropped: readonly Dropped[]): void {
  const parts = dropped.map(({ name, text }) => `${name}=${text}`).filter((part) => !told.has(part))
  if (parts.length === 0) return
  for (const part of parts) told.add(part)
  // The router reads addresses while it draws.
  queueMicrotask(() => notices.say(messages.shell.ignoredFilters(parts.join(', '))))
}
