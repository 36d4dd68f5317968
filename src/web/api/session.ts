import { useSyncExternalStore } from 'react'
import {
  ENDED,
  ENDED_MARK,
  SESSION_KEY as KEY,
  NONE,
  type Session,
  type SessionState,
  storedSession,
} from './stored-session.ts'

export type { Session, SessionState }

let state = storedSession()
const listeners = new Set<() => void>()

function change(next: SessionState): void {
  state = next
  for (const listener of listeners) listener()
}

// Another tab signed in or out.
window.addEventListener('storage', ({ key }) => {
  if (key === null || key === KEY) change(storedSession())
})

export const session = {
  state: (): SessionState => state,

  /** Keeps the session for all tabs, an API key for this one. */
  open(opened: Session): void {
    sessionStorage.removeItem(KEY)
    storeOf(opened).setItem(KEY, JSON.stringify(opened))
    change({ is: 'open', session: opened })
  },

  /** Forgets who was signed in, in all tabs. */
  close(): void {
    for (const store of [sessionStorage, localStorage]) {
      store.removeItem(KEY)
      forgetKept(store)
    }
    change(NONE)
  },

  /** Keeps a text as long as the session is open, where it is kept itself; for another organization it is not there. */
  keep(name: string, text: string): void {
    if (state.is === 'open') storeOf(state.session).setItem(`${KEY}-${name}`, `${state.session.orgId} ${text}`)
  },

  /** The text that was kept; null for none. */
  kept(name: string): string | null {
    if (state.is !== 'open') return null
    const { orgId } = state.session
    const text = storeOf(state.session).getItem(`${KEY}-${name}`)
    return text?.startsWith(`${orgId} `) ? text.slice(`${orgId} `.length) : null
  },

  /** The server no longer knows this credential: asks to sign in again over the open page. */
  end(credential: string): void {
    if (state.is !== 'open' || state.session.credential !== credential) return
    const store = storeOf(state.session)
    store.setItem(KEY, ENDED_MARK)
    forgetKept(store)
    change(ENDED)
  },

  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

function forgetKept(store: Storage): void {
  for (const key of Object.keys(store)) if (key.startsWith(`${KEY}-`)) store.removeItem(key)
}

/** All tabs have sessions in common; a key is of one. */
const storeOf = ({ credential }: Session): Storage => (credential.startsWith('st_') ? localStorage : sessionStorage)

export const useSessionState = (): SessionState => useSyncExternalStore(session.subscribe, session.state)
