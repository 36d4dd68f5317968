import { useSyncExternalStore } from 'react'

/** Who is signed in in this browser, and for which organization. */
export interface Session {
  /** A session token (`st_…`), shared by all tabs, or an API key (`ak_…`), which stays in its tab. */
  credential: string
  /** The organization to speak for; null when the credential belongs to one only. */
  orgId: string | null
}

const KEY = 'tagwarden-session'
/** Stands in the place of a session that ended, so that other tabs keep what they show. */
const ENDED_MARK = 'ended'

/** What the pages know: a session, none, or one that ended while a page was open, which stays as it is behind the form. */
export type SessionState = { is: 'open'; session: Session } | { is: 'none' } | { is: 'ended' }

const NONE: SessionState = { is: 'none' }
const ENDED: SessionState = { is: 'ended' }

let state = read()
const listeners = new Set<() => void>()

function read(): SessionState {
  const text = sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY)
  if (text === null) return NONE
  if (text === ENDED_MARK) return ENDED
  try {
    const { credential, orgId } = JSON.parse(text)
    return { is: 'open', session: { credential: String(credential), orgId: orgId ?? null } }
  } catch {
    return NONE
  }
}

function change(next: SessionState): void {
  state = next
  for (const listener of listeners) listener()
}

// Another tab signed in or out.
window.addEventListener('storage', ({ key }) => {
  if (key === null || key === KEY) change(read())
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
