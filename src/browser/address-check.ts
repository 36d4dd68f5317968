import { atField } from '../core/error.ts'
import { addressGuard } from '../integrations/transport/address-guard.ts'

/**
 * Throws `invalid`, naming the field, when a browser may not open the address: its host is a literal private address
 * that `TAGWARDEN_OUTBOUND_ALLOW` does not list or this machine, or its port is reserved. Host names are resolved only
 * during the run.
 */
export type CheckAddress = (address: string, field: string) => void

/** @param outboundAllow `TAGWARDEN_OUTBOUND_ALLOW` */
export function addressCheck(outboundAllow: readonly string[]): CheckAddress {
  const guard = addressGuard(outboundAllow, { plainHttp: true })
  return (address, field) => {
    const url = URL.parse(address)
    // Credentials, path and length do not affect the connection.
    if (url && /^https?:$/.test(url.protocol)) atField(field, () => guard.checkUrl(`${url.protocol}//${url.host}/`))
  }
}
