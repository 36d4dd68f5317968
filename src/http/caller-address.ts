import {
  type Address,
  type Cidr,
  contains,
  formatAddress,
  parseAddress,
  unmapped,
  unmappedBlock,
} from '../core/network.ts'

/**
 * The address of whoever a request comes from, in one spelling. `peer` is the other end of the connection,
 * `forwardedFor` the header `X-Forwarded-For`. Null when the peer is unknown.
 */
export type CallerAddress = (peer: string | null, forwardedFor: string | null) => string | null

/**
 * @param trusted proxies that write down truthfully whom a request came from. Each appends what it saw, so the header
 * is read from its end for as long as the one who wrote it is trusted; what is no address ends the walk, because
 * nobody can tell who wrote what stands before it. From anybody else the header counts nothing.
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

/** Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function entryOf(entry: string): Address | null {
  const text = entry.trim()
  const bare = /^(\[.*\]|[\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text
  const address = parseAddress(bare)
  return address && unmapped(address)
}

/** IPv6 as https://www.rfc-editor.org/rfc/rfc5952 writes it, which is how URLs do. */
function spelled(address: Address): string {
  const text = formatAddress(address)
  return address.family === 4 ? text : new URL(`http://[${text}]`).hostname.slice(1, -1)
}
