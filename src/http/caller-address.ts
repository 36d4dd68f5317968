import {
  type Address,
  type Cidr,
  contains,
  formatAddress,
  parseAddress,
  unmapped,
  unmappedBlock,
} from '../core/ip-address.ts'

/**
 * Returns the caller's normalized IP address; null when the peer is unknown. `peer` is the other end of the connection,
 * `forwardedFor` the `X-Forwarded-For` header.
 */
export type CallerAddress = (peer: string | null, forwardedFor: string | null) => string | null

/**
 * @param trusted proxies whose entries in `X-Forwarded-For` are trusted. Each proxy appends the address of its client,
 * so the header is read from the end, as long as each entry was written by a trusted proxy. Reading stops at an entry
 * that is not an IP address, because it is unknown who wrote the entries before it. The header is ignored for all other
 * peers.
 */
export function callerAddress(trusted: readonly Cidr[]): CallerAddress {
  const blocks = trusted.map(unmappedBlock)
  const isTrusted = (address: Address) => blocks.some((block) => contains(block, address))
  return (peer, forwardedFor) => {
    const end = peer === null ? null : parseAddress(peer)
    if (!end) return null
    let caller = unmapped(end)
    const entries = forwardedFor?.split(',') ?? []
    while (isTrusted(caller)) {
      const next = entryOf(entries.pop() ?? '')
      if (!next) break
      caller = next
    }
    return spelled(caller)
  }
}

/** Parses an entry. Some proxies include the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function entryOf(entry: string): Address | null {
  const text = entry.trim()
  const bare = /^(\[.*\]|[\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text
  const address = parseAddress(bare)
  return address && unmapped(address)
}

/** Formats an address as in URLs. IPv6 addresses follow https://www.rfc-editor.org/rfc/rfc5952. */
function spelled(address: Address): string {
  const text = formatAddress(address)
  return address.family === 4 ? text : new URL(`http://[${text}]`).hostname.slice(1, -1)
}
