/** The origin of a request. */
export interface Origin {
  /** The caller's IP address; null when it was not recorded, as in tests and for internal calls. */
  address: string | null
  /** The `user-agent`, truncated to 200 characters; null without one. */
  userAgent: string | null
}

const USER_AGENT_LENGTH_MAX = 200
const addresses = new WeakMap<Request, string>()

/** Records the address of a request's caller for `originOf`. */
export function noteAddress(request: Request, address: string): void {
  addresses.set(request, address)
}

export function originOf(request: Request): Origin {
  const userAgent = request.headers.get('user-agent')?.slice(0, USER_AGENT_LENGTH_MAX) ?? null
  return { address: addresses.get(request) ?? null, userAgent }
}
