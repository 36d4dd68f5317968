import type { CaptureConfig } from '../capture/capture-config.ts'
import type { SessionMode } from '../domains/capture-settings.ts'
import { sha256 } from './sha256.ts'

/** A session ends after so long without a captured request. */
export const SESSION_IDLE_MS = 30 * 60_000
/** Where the id is kept in mode `sessionStorage`, and only there. */
export const STORAGE_KEY = 'tagwarden.session'

/** What is kept of a session across the pages of a tab. */
interface KeptSession {
  id: string
  seenAt: number
}

export interface Session {
  /** Id of the session that goes on at this instant; begins a new one after half an hour of silence. */
  idAt(now: number): string
  /** Nothing is stored before this was called with true; with false, what was stored is removed. */
  allowStorage(isAllowed: boolean): void
  /** As the page says, whatever the domain's settings are. */
  setMode(mode: SessionMode): void
  /** In mode `customer`. Only its hash leaves the page: it may be as good as a password. */
  setCustomerSession(id: string): void
}

/** 128 random bits, in hex. */
export function randomId(): string {
  const words = crypto.getRandomValues(new Uint32Array(4))
  return [...words].map((word) => word.toString(16).padStart(8, '0')).join('')
}

/** Whether a session is among the share that is captured. The same for every page and rate: a higher rate only adds. */
export function isSampled(sessionId: string, rate: number): boolean {
  return Number.parseInt(sessionId.slice(0, 8), 16) / 2 ** 32 < rate
}

/** `id` is the one to begin with. The mode of `config` may change at any time. */
export function makeSession(config: Pick<CaptureConfig, 'sessionMode'>, id: string, storage: () => Storage): Session {
  let declared: SessionMode | null = null
  let kept: KeptSession = { id, seenAt: 0 }
  let customerId: string | null = null
  let isAllowed = false
  /** 0: not since storage was allowed. */
  let storedAt = 0

  const modeNow = () => declared ?? config.sessionMode
  const forget = () => {
    storedAt = 0
    storage().removeItem(STORAGE_KEY)
  }
  const isOver = ({ seenAt }: KeptSession, now: number) => seenAt > 0 && now - seenAt >= SESSION_IDLE_MS
  return {
    idAt(now) {
      const mode = modeNow()
      if (storedAt > 0 && mode !== 'sessionStorage') forget()
      if (mode === 'customer' && customerId !== null) return customerId
      const isStored = isAllowed && mode === 'sessionStorage'
      const stored = isStored && storedAt === 0 ? read(storage) : null
      if (stored && !isOver(stored, now)) kept = stored
      if (isOver(kept, now)) kept = { id: randomId(), seenAt: now }
      kept.seenAt = now
      // Written at most once a second: it costs more than all the rest.
      if (isStored && now - storedAt >= 1000) {
        storedAt = now
        storage().setItem(STORAGE_KEY, JSON.stringify(kept))
      }
      return kept.id
    },
    allowStorage(allowed) {
      isAllowed = allowed
      if (!allowed && (storedAt > 0 || modeNow() === 'sessionStorage')) forget()
      storedAt = 0
    },
    setMode(mode) {
      declared = mode
    },
    setCustomerSession(id) {
      customerId = sha256(id).slice(0, 32)
    },
  }
}

/** Null when there is none, or something else stands in its place. */
function read(storage: () => Storage): KeptSession | null {
  try {
    const { id, seenAt } = JSON.parse(storage().getItem(STORAGE_KEY) ?? '{}')
    return typeof id === 'string' && /^[\da-f]{32}$/.test(id) && typeof seenAt === 'number' ? { id, seenAt } : null
  } catch {
    return null
  }
}
