import { createContext, useContext } from 'react'
import { listSignInMethods, redeemSignIn } from '#client/sdk.gen'
import type { SignedIn, SignInMethods } from '#client/types.gen'
import { errorMessage } from './api-error.ts'
import { session } from './session.ts'

/** What the address brought: parts of its fragment, which is not sent to servers. Read once, before the first drawing. */
export interface LinkParams {
  setUp: string | null
  invite: string | null
  reset: string | null
  /** Why signing in at the provider failed; null when it did not. */
  failure: string | null
}

const OIDC_KEY = 'tagwarden-oidc-began'

/** Keeps the session of an answer. Who belongs to several organizations begins in the first. */
export function keepSession({ token, orgs }: Pick<SignedIn, 'token' | 'orgs'>): void {
  session.open({ credential: token, orgId: orgs.length > 1 ? (orgs[0]?.id ?? null) : null })
}

/** Remembers that this tab goes to the provider, and from where. */
export const beginAtProvider = (): void => sessionStorage.setItem(OIDC_KEY, location.pathname + location.search)

/** Reads the fragment, removes it from the address, and signs in where it says so. */
export async function bootstrap(): Promise<LinkParams> {
  const given = new URLSearchParams(location.hash.slice(1))
  const arrival: LinkParams = {
    ...{ setUp: given.get('setup'), invite: given.get('invite'), reset: given.get('reset') },
    failure: null,
  }
  if ([...given.keys()].length > 0) history.replaceState(null, '', location.pathname + location.search)
  // Only in the demo: elsewhere a link with a key could sign a user in as its sender (login CSRF).
  const key = given.has('demo') ? given.get('key') : null
  if (key && (await fetch('/demo/inbox')).status === 200) session.open({ credential: key, orgId: null })
  await arriveFromProvider(given, arrival)
  // Older links lead to the start page.
  if (location.pathname === '/') {
    if (arrival.setUp) history.replaceState(null, '', '/setup')
    if (arrival.invite) history.replaceState(null, '', '/invite')
    if (arrival.reset) history.replaceState(null, '', '/reset')
  }
  return arrival
}

/** Only if this tab began the sign-in, for the same reason as above. */
async function arriveFromProvider(given: URLSearchParams, arrival: LinkParams): Promise<void> {
  const beganAt = sessionStorage.getItem(OIDC_KEY)
  sessionStorage.removeItem(OIDC_KEY)
  if (beganAt === null) return
  // A sentence of the API, which begins with a small letter.
  arrival.failure = given.get('signin-error')?.replace(/^./u, (letter) => letter.toUpperCase()) ?? null
  const code = given.get('signin')
  if (code === null) return
  try {
    const { data } = await redeemSignIn({ body: { code }, throwOnError: true })
    keepSession(data)
    history.replaceState(null, '', beganAt)
  } catch (error) {
    arrival.failure = errorMessage(error)
  }
}

/** How one signs in here. */
export async function signInMethods(): Promise<SignInMethods> {
  return (await listSignInMethods({ throwOnError: true })).data
}

export const LinkParamsContext = createContext<LinkParams>({ setUp: null, invite: null, reset: null, failure: null })

/** What the address brought when the page was opened. */
export const useLinkParams = (): LinkParams => useContext(LinkParamsContext)
