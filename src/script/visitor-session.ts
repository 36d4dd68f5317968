import type { CaptureConfig } from '../capture/capture-config.ts'
import type { SessionMode } from '../domains/capture-settings.ts'
import { hexOf, sha256 } from './sha256.ts'

/** A session ends when no request has been captured for this time. */
export const SESSION_IDLE_MS = 30 * 60_000
/** Key of the id in `sessionStorage`. Used only in mode `sessionStorage`. */
export const STORAGE_KEY = 'tagwarden.session'

/** The stored session, which spans the pages of a tab. */
interface StoredSession {
  id: string
  seenAt: number
}

export interface Session {
  /** Returns the id of the session at this time. Starts a new session after half an hour without requests. */
  idAt(now: number): string
  /** Allows the use of storage, which is not used until then. If `isAllowed` is false, deletes the stored data. */
  allowStorage(isAllowed: boolean): void
  /** Sets the mode chosen by the page, which overrides the domain's settings. */
  setMode(mode: SessionMode): void
  /** Sets the id for mode `customer`. Only its hash is sent, because the id may be a secret. */
  setCustomerSession(id: string): void
}

/** Returns 128 random bits in hex. */
export function randomId(): string {
  return hexOf(crypto.getRandomValues(new Uint32Array(4)))
}

/** True when the session is in the captured sample. Deterministic: a higher rate only adds sessions. */
export function isSampled(sessionId: string, rate: number): boolean {
  return Number.parseInt(sessionId.slice(0, 8), 16) / 2 ** 32 < rate
}

/** Creates a session. `id` is the first session id. The mode in `config` may change at any time. */
export function makeSession(config: Pick<CaptureConfig, 'sessionMode'>, id: string, storage: () => Storage): Session {
  let declared: SessionMode | null = null
  let kept: StoredSession = { id, seenAt: 0 }
  let customerId: string | null = null
  let isAllowed = false
  /** Time of the most recent write; 0 before the first write after storage has been allowed. */
  let storedAt = 0

  const modeNow = () => declared ?? config.sessionMode
  const forget = () => {
    storedAt = 0
    storage().removeItem(STORAGE_KEY)
  }
  const isOver = ({ seenAt }: StoredSession, now: number) => seenAt > 0 && now - seenAt >= SESSION_IDLE_MS
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
      // Stored at most once a second, because writing costs more than everything else in this function.
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

/** Returns the stored session; null when there is none or it is invalid. */
function read(storage: () => Storage): StoredSession | null {
  try {
    const { id, seenAt } = JSON.parse(storage().getItem(STORAGE_KEY) ?? '{}')
    return typeof id === 'string' && /^[\da-f]{32}$/.test(id) && typeof seenAt === 'number' ? { id, seenAt } : null
  } catch {
    return null
  }
}
