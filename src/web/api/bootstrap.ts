import { createContext, useContext } from 'react'
import { redeemSignIn } from '#client/sdk.gen'
import type { SignedIn } from '#client/types.gen'
import { PAGE_PATHS } from '../../contract/page-paths.ts'
import { errorMessage } from './api-error.ts'
import { session } from './session.ts'

/** Parameters from the fragment of the URL that opened the page. Read once, before the first render. */
export interface LinkParams {
  setUp: string | null
  invite: string | null
  reset: string | null
  /** Error message from the OIDC sign-in; null if there was no error. */
  failure: string | null
}

const OIDC_KEY = 'tagwarden-oidc-began'

/** Stores the session from a sign-in response. Members of several organizations start in the first organization. */
export function keepSession({ token, orgs }: Pick<SignedIn, 'token' | 'orgs'>): void {
  session.open({ credential: token, orgId: orgs.length > 1 ? (orgs[0]?.id ?? null) : null })
}

/** Records that this tab started an OIDC sign-in, and on which page. */
export const beginAtProvider = (): void => sessionStorage.setItem(OIDC_KEY, location.pathname + location.search)

/** Reads and removes the URL fragment, and signs in if it contains a credential. */
export async function bootstrap(): Promise<LinkParams> {
  const given = new URLSearchParams(location.hash.slice(1))
  const arrival: LinkParams = {
    setUp: given.get('setup'),
    invite: given.get('invite'),
    reset: given.get('reset'),
    failure: null,
  }
  if ([...given.keys()].length > 0) history.replaceState(null, '', location.pathname + location.search)
  // Demo only. Elsewhere, anyone could send a link that signs the user in with the sender's key (login CSRF).
  const key = given.has('demo') ? given.get('key') : null
  if (key && (await fetch('/demo/inbox')).status === 200) session.open({ credential: key, orgId: null })
  await arriveFromProvider(given, arrival)
  // Links from older versions point to `/`.
  if (location.pathname === PAGE_PATHS.overview.overview) {
    const { setup, invite, reset } = PAGE_PATHS['sign-in']
    if (arrival.setUp) history.replaceState(null, '', setup)
    if (arrival.invite) history.replaceState(null, '', invite)
    if (arrival.reset) history.replaceState(null, '', reset)
  }
  return arrival
}

/** Redeems the code only in the tab that started the sign-in, to prevent login CSRF. */
async function arriveFromProvider(given: URLSearchParams, arrival: LinkParams): Promise<void> {
  const beganAt = sessionStorage.getItem(OIDC_KEY)
  sessionStorage.removeItem(OIDC_KEY)
  if (beganAt === null) return
  // API messages start with a lowercase letter.
  arrival.failure = given.get('signin-error')?.replace(/^./u, (letter) => letter.toUpperCase()) ?? null
  const code = given.get('signin')
  if (code === null) return
  try {
    const { data } = await redeemSignIn({ body: { code } })
    keepSession(data)
    history.replaceState(null, '', beganAt)
  } catch (error) {
    arrival.failure = errorMessage(error)
  }
}

export const LinkParamsContext = createContext<LinkParams>({ setUp: null, invite: null, reset: null, failure: null })

/** Parameters of the link that opened the page. */
export const useLinkParams = (): LinkParams => useContext(LinkParamsContext)
