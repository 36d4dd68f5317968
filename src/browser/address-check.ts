import { atField } from '../core/error.ts'
import { addressGuard } from '../integrations/transport/address-guard.ts'

/**
 * Fails with `invalid`, naming the field, when a browser may not open the address: its host is a literal private address
 * that `TAGWARDEN_OUTBOUND_ALLOW` does not list, this machine, or its port is reserved. A name is resolved at the run only.
 */
export type CheckAddress = (address: string, field: string) => void

/** @param outboundAllow `TAGWARDEN_OUTBOUND_ALLOW` */
export function addressCheck(outboundAllow: readonly string[]): CheckAddress {
  const guard = addressGuard(outboundAllow, { plainHttp: true })
  return (address, field) => {
    const url = URL.parse(address)
    // Credentials, path and length are no matter of the connection.
    if (url && /^https?:$/.test(url.protocol)) atField(field, () => guard.checkUrl(`${url.protocol}//${url.host}/`))
  }
}
