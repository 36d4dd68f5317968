/** Who is signed in in this browser, and for which organization. */
export interface Session {
  /** A session token (`st_…`), shared by all tabs, or an API key (`ak_…`), which stays in its tab. */
  credential: string
  /** The organization to speak for; null when the credential belongs to one only. */
  orgId: string | null
}

/** What the pages know: a session, none, or one that ended while a page was open, which stays as it is behind the form. */
export type SessionState = { is: 'open'; session: Session } | { is: 'none' } | { is: 'ended' }

/** Where the browser keeps it. */
export const SESSION_KEY = 'tagwarden-session'
/** Stands in the place of a session that ended, so that other tabs keep what they show. */
export const ENDED_MARK = 'ended'

export const NONE: SessionState = { is: 'none' }
export const ENDED: SessionState = { is: 'ended' }

/** Reads the session that this browser keeps: of this tab, else of all tabs. */
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
