/** The credential and organization that this browser uses. */
export interface Session {
  /** A session token (`st_…`), shared by all tabs, or an API key (`ak_…`), used by one tab. */
  credential: string
  /** The selected organization; null when the credential belongs to only one organization. */
  orgId: string | null
}

/** `ended`: the session expired while a page was open. The page stays visible behind the sign-in form. */
export type SessionState = { is: 'open'; session: Session } | { is: 'none' } | { is: 'ended' }

/** Key in `sessionStorage` and `localStorage`. */
export const SESSION_KEY = 'tagwarden-session'
/** Stored in place of an expired session, so that other tabs keep their pages open behind the sign-in form. */
export const ENDED_MARK = 'ended'

export const NONE: SessionState = { is: 'none' }
export const ENDED: SessionState = { is: 'ended' }

/** Returns the session of this tab, or else the session shared by all tabs. */
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
