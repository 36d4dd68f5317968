/** Where a request comes from. */
export interface Origin {
  /** The caller's network address; null where nobody said it (in tests, and for calls from inside). */
  address: string | null
  /** As the caller's program names itself, cut to 200 characters; null when it does not. */
  userAgent: string | null
}

const USER_AGENT_LENGTH_MAX = 200
const addresses = new WeakMap<Request, string>()

/** Remembers for `originOf` from where a request came. */
export function noteAddress(request: Request, address: string): void {
  addresses.set(request, address)
}

export function originOf(request: Request): Origin {
  const userAgent = request.headers.get('user-agent')?.slice(0, USER_AGENT_LENGTH_MAX) ?? null
  return { address: addresses.get(request) ?? null, userAgent }
}
