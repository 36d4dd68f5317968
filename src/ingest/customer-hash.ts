import { createHash } from 'node:crypto'

/** Returns the hash by which a customer is stored. `salt`: of the organization. */
export function hashCustomer(salt: string, customerId: string): string {
  return createHash('sha256').update(`${salt}\0${customerId}`).digest('hex').slice(0, 32)
}
