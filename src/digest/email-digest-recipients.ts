import { findIntegration, type IntegrationKey, integrationsOf, updateConfig } from '../integrations/store.ts'
import { type Db, tx } from '../store/database.ts'
import { type EmailDigestConfig, isSame } from './email-digest.ts'

/** A recipient of an integration's digest. */
interface DigestRecipient extends IntegrationKey {
  address: string
  context: string
  hourUtc: number
}

/** Returns the recipients of all organizations' digests. */
export function digestRecipients(db: Db): DigestRecipient[] {
  return integrationsOf(db, 'email_digest')
    .filter(({ status }) => status === 'connected' || status === 'failing')
    .flatMap(({ orgId, id, config }) => {
      const { to, context, hourUtc } = config as unknown as EmailDigestConfig
      return to.map((address) => ({ orgId, id, address, context, hourUtc }))
    })
}

/**
 * Removes an e-mail address from an integration. The integration becomes `disabled` if no address remains. Returns
 * false if the address was not listed. Fails with `notFound` if the integration does not exist.
 */
export function removeRecipient(db: Db, key: IntegrationKey, address: string): boolean {
  return tx(db, () => {
    const { config, status } = findIntegration(db, key)
    const { to } = config as unknown as EmailDigestConfig
    const left = to.filter((one) => !isSame(one, address))
    if (left.length === to.length) return false
    updateConfig(db, key, { config: { ...config, to: left }, status: left.length === 0 ? 'disabled' : status })
    return true
  })
}
