import { atField } from '../core/error.ts'
import { addressGuard } from '../transport/address-guard.ts'

/**
 * Throws `invalid`, naming the field, when a browser may not open the URL. Reserved ports, this machine, and literal
 * private addresses that `TAGWARDEN_OUTBOUND_ALLOW` does not list are blocked. Host names are resolved only during the
 * run.
 */
export type CheckAddress = (address: string, field: string) => void

/** @param outboundAllow value of `TAGWARDEN_OUTBOUND_ALLOW` */
export function addressCheck(outboundAllow: readonly string[]): CheckAddress {
  const guard = addressGuard(outboundAllow, { plainHttp: true })
  return (address, field) => {
    const url = URL.parse(address)
    // Credentials and path are removed, because they do not affect which connection is made.
    if (url && /^https?:$/.test(url.protocol)) atField(field, () => guard.checkUrl(`${url.protocol}//${url.host}/`))
  }
}
