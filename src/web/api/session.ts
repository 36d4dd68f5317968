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

  /** Stores a session for all tabs, or an API key for this tab. */
  open(opened: Session): void {
    sessionStorage.removeItem(KEY)
    storeOf(opened).setItem(KEY, JSON.stringify(opened))
    change({ is: 'open', session: opened })
  },

  /** Signs out in all tabs. */
  close(): void {
    for (const store of [sessionStorage, localStorage]) {
      store.removeItem(KEY)
      forgetStored(store)
    }
    change(NONE)
  },

  /** Stores a string for the session and organization. */
  keep(name: string, text: string): void {
    if (state.is === 'open') storeOf(state.session).setItem(`${KEY}-${name}`, `${state.session.orgId} ${text}`)
  },

  /** Returns the string stored for the session and organization; null if there is none. */
  kept(name: string): string | null {
    if (state.is !== 'open') return null
    const { orgId } = state.session
    const text = storeOf(state.session).getItem(`${KEY}-${name}`)
    return text?.startsWith(`${orgId} `) ? text.slice(`${orgId} `.length) : null
  },

  /** Marks the session as expired, which opens the sign-in form over the page. */
  end(credential: string): void {
    if (state.is !== 'open' || state.session.credential !== credential) return
    const store = storeOf(state.session)
    store.setItem(KEY, ENDED_MARK)
    forgetStored(store)
    change(ENDED)
  },

  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

function forgetStored(store: Storage): void {
  for (const key of Object.keys(store)) if (key.startsWith(`${KEY}-`)) store.removeItem(key)
}

/** Sessions are shared by all tabs; API keys are not. */
const storeOf = ({ credential }: Session): Storage => (credential.startsWith('st_') ? localStorage : sessionStorage)

export const useSessionState = (): SessionState => useSyncExternalStore(session.subscribe, session.state)
