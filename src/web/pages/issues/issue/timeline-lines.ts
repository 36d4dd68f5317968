import type { IssueDetail } from '#client/types.gen'

export type Entry = IssueDetail['history'][number]

/** A line of the history. Consecutive firings and suppressed notifications are combined. */
export interface Line {
  /** Time of the first entry. */
  at: number
  /** The most recent firing, or the first entry if none fired. */
  entry: Entry
  /** Number of firings; 0 for other entries. */
  fired: number
  heldBack: number
  /** Time of the last entry. */
  until: number
}

/** True for a notification that a maintenance window withheld, which is shown on its own line. */
export const isWithheld = ({ kind, payload }: Entry) => kind === 'held_back' && payload?.reason === 'maintenance'

const isFiring = (entry: Entry) => (entry.kind === 'fired' || entry.kind === 'held_back') && !isWithheld(entry)

/** The history in chronological order. */
export function linesOf(history: readonly Entry[]): Line[] {
  const lines: Line[] = []
  for (const entry of history) {
    const last = lines.at(-1)
    const fired = Number(entry.kind === 'fired')
    const heldBack = Number(entry.kind === 'held_back' && !isWithheld(entry))
    if (last && isFiring(entry) && isFiring(last.entry)) {
      lines[lines.length - 1] = {
        ...last,
        entry: fired ? entry : last.entry,
        fired: last.fired + fired,
        heldBack: last.heldBack + heldBack,
        until: entry.createdAt,
      }
    } else lines.push({ at: entry.createdAt, entry, fired, heldBack, until: entry.createdAt })
  }
  return lines
}

/** A string from an entry's payload; null when the payload has no string with this name. */
export function textOf({ payload }: Entry, name: string): string | null {
  const value = payload?.[name]
  return typeof value === 'string' ? value : null
}

/** The hosts that were muted or unmuted; empty for all, and for other entries. */
export function hostsOf({ payload }: Entry): string[] {
  const hosts = payload?.hosts
  return Array.isArray(hosts) ? hosts.filter((host) => typeof host === 'string') : []
}

interface EntryChannel {
  type: string
  target: string
}

/** The channel of a notification entry; null for other entries. */
export const channelOf = ({ payload }: Entry): EntryChannel | null => readChannel(payload?.channel)

/** The channels of an escalation entry; empty if they are hidden from the user, and for other entries. */
export function channelsOf({ payload }: Entry): EntryChannel[] {
  const channels = payload?.channels
  return Array.isArray(channels) ? channels.map(readChannel).filter((channel) => channel !== null) : []
}

function readChannel(value: unknown): EntryChannel | null {
  const { type, target } = Object(value) as { type?: unknown; target?: unknown }
  return typeof type === 'string' ? { type, target: typeof target === 'string' ? target : '' } : null
}
