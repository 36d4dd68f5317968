/** The list is loaded at the first lookup, because it is not needed at startup. */
const list = () => require('third-party-web/nostats-subset') as typeof import('third-party-web/nostats-subset')

/**
 * Owners of the hosts that have been looked up. They are cached, because pages send requests to the same few hosts
 * repeatedly.
 */
const known = new Map<string, string | null>()
const MAX_KNOWN = 10_000
/** Maximum length of a host name: https://www.rfc-editor.org/rfc/rfc1035#section-2.3.4 */
const MAX_HOST_LENGTH = 253

/**
 * Returns the owner of a host according to third-party-web (https://github.com/patrickhulce/third-party-web); null when
 * unknown. `host` must be in lower case, without a port.
 */
export function thirdPartyOf(host: string): string | null {
  if (host.length > MAX_HOST_LENGTH) return null
  const found = known.get(host)
  if (found !== undefined) return found
  const name = list().getEntity(`https://${host}/`)?.name ?? null
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(host, name)
  return name
}
