/** The credential and organization of this browser. */
export interface Session {
  /** A session token (`st_…`), shared by all tabs, or an API key (`ak_…`) of one tab. */
  credential: string
  /** The selected organization; null when the credential belongs to only one. */
  orgId: string | null
}

/** `ended`: the session expired while a page was open. The page stays behind the sign-in form. */
export type SessionState = { is: 'open'; session: Session } | { is: 'none' } | { is: 'ended' }

/** Key in `sessionStorage` and `localStorage`. */
export const SESSION_KEY = 'tagwarden-session'
/** Stored in place of an expired session, so that other tabs keep their pages. */
export const ENDED_MARK = 'ended'

export const NONE: SessionState = { is: 'none' }
export const ENDED: SessionState = { is: 'ended' }

/** Reads the session of this tab, or else the one of all tabs. */
export function storedSession(): SessionState {
  const text = sessionStorage.getItem(SESSION_KEY) ?? localStorage.getItem(SESSION_KEY)
  if (text === null) return NONE
  if (text === ENDED_MARK) return ENDED
  try {
    const { credential, orgId } = JSON.parse(text)
    return { is: 'open', session: { credential: String(credential), orgId: orgId ?? null } }
  } catch {
    return NONE
  }
}
