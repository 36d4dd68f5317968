import { createHash } from 'node:crypto'

/** Returns the hash that is stored instead of a customer id. `salt` is specific to the organization. */
export function hashCustomer(salt: string, customerId: string): string {
  return createHash('sha256').update(`${salt}\0${customerId}`).digest('hex').slice(0, 32)
}
