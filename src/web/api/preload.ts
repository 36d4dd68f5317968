import { type Session, storedSession } from './stored-session.ts'

// Optimisation: see docs/develop/tuning.md

/** Responses to requests sent before the main script loaded, by URL. Each response is used once. */
interface Preloaded {
  by: Session
  at: number
  answers: Map<string, Promise<Answer>>
}

/** A response whose body has been read. */
interface Answer {
  status: number
  headers: Headers
  text: string
}

declare global {
  interface Window {
    /** Set by `before-render.ts`, which is bundled separately. */
    tagwardenPreload?: Preloaded
  }
}

/** Preloaded responses older than this are discarded. */
const FRESH_MS = 10_000

/** Sends the first requests of the page while its script loads. Does nothing without a session. */
export function preloadRequests(addresses: readonly string[]): void {
  const state = storedSession()
  if (state.is !== 'open') return
  const { credential, orgId } = state.session
  const headers = { authorization: `Bearer ${credential}`, ...(orgId !== null && { 'x-org-id': orgId }) }
  const answers = addresses.map((address) => {
    const answer = ask(address, headers)
    // The code that uses the response reports the error.
    answer.catch(() => {})
    return [address, answer] as const
  })
  window.tagwardenPreload = { by: state.session, at: Date.now(), answers: new Map(answers) }
}

async function ask(address: string, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(address, { headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Uses the preloaded response for this request and session, or sends the request. */
export async function fetchPreloaded(request: Request): Promise<Response> {
  const ahead = takePreloaded(request)
  if (ahead === undefined) return fetch(request)
  const { text, ...rest } = await ahead
  return new Response(text, rest)
}

function takePreloaded({ method, url, headers }: Request): Promise<Answer> | undefined {
  const ahead = window.tagwardenPreload
  if (method !== 'GET' || ahead === undefined || Date.now() - ahead.at > FRESH_MS) return undefined
  const isSame =
    headers.get('authorization') === `Bearer ${ahead.by.credential}` && headers.get('x-org-id') === ahead.by.orgId
  const address = url.slice(location.origin.length)
  const answer = isSame ? ahead.answers.get(address) : undefined
  ahead.answers.delete(address)
  return answer
}
