import { existsSync, renameSync, statSync } from 'node:fs'
import type { Clock } from '../core/clock.ts'
import { type SecretBox, secretBox } from '../core/secret-box.ts'
import { dropUnreadableSecrets } from '../flows/store.ts'
import { enqueueSecurityMail } from '../integrations/delivery/internal-outbox.ts'
import { clearSecrets, sealedIntegrations } from '../integrations/store.ts'
import { writeAuditEntry } from '../org/audit-log.ts'
import { dropUnreadableSecondFactors } from '../org/second-factor.ts'
import { notifyOfSecurityEvent, type QueueSecurityMail } from '../org/security-mail.ts'
import { auditEverywhere } from '../org/sign-in.ts'
import { rotateWebhookSecret, sealedOrgs } from '../org/store.ts'
import { type Db, tx } from '../store/database.ts'
import { KEY_BYTES, masterKey } from '../store/master-key.ts'
import { closedKey, lostKey } from './folder-errors.ts'
import type { FolderPaths } from './folder-paths.ts'

/** Encrypted secrets in a database: organizations' webhook secrets and the secrets of integrations. */
interface Sealed {
  orgs: { id: string; secret: Buffer }[]
  integrations: { id: string; orgId: string; secret: Buffer }[]
}

/** Number of secrets by kind. */
export interface SealedCounts {
  orgs: number
  integrations: number
}

function sealedIn(db: Db): Sealed {
  return { orgs: sealedOrgs(db), integrations: sealedIntegrations(db) }
}

function countsOf({ orgs, integrations }: Sealed): SealedCounts {
  return { orgs: orgs.length, integrations: integrations.length }
}

const total = ({ orgs, integrations }: SealedCounts) => orgs + integrations

/** Returns the secrets that the box can't decrypt. */
function unopenable(box: SecretBox, { orgs, integrations }: Sealed): Sealed {
  const isClosed = ({ secret }: { secret: Buffer }) => {
    try {
      box.open(secret)
      return false
    } catch {
      // The secret is damaged or was encrypted with another key.
      return true
    }
  }
  return { orgs: orgs.filter(isClosed), integrations: integrations.filter(isClosed) }
}

/**
 * Throws `FolderError` if the key is missing or invalid, or can't decrypt the stored secrets. Otherwise, the problem
 * would become apparent only when a secret is used. No key is required while no secrets are stored.
 */
export function checkKey(paths: FolderPaths, db: Db): void {
  const sealed = sealedIn(db)
  const problem = keyProblem(paths)
  if (problem === null) {
    const closed = countsOf(unopenable(secretBox(masterKey(paths.key)), sealed))
    if (total(closed) > 0) throw closedKey(paths, { closed, sealed: countsOf(sealed) })
  } else if (existsSync(paths.key) || total(countsOf(sealed)) > 0) {
    throw lostKey(paths, problem, countsOf(sealed))
  }
}

/**
 * Returns the box that encrypts and decrypts secrets in this folder. Creates a key if no secrets are stored yet. Throws
 * the same errors as `checkKey`.
 */
export function openBox(paths: FolderPaths, db: Db): SecretBox {
  checkKey(paths, db)
  return secretBox(masterKey(paths.key))
}

/** Returns the reason why the key file can't be used; null if it is valid. */
function keyProblem({ key }: FolderPaths): string | null {
  if (!existsSync(key)) return 'is missing'
  const bytes = statSync(key).size
  return bytes === KEY_BYTES ? null : `is not a master key: it has ${bytes} bytes instead of ${KEY_BYTES}`
}

/**
 * Deletes the secrets that the key can't decrypt. Organizations get new webhook secrets; secrets of integrations and
 * flow tests must be entered again, and second factors set up again, of which their users are notified by e-mail. Adds
 * an entry to the audit log of each organization. Creates a missing key, and renames an invalid key file.
 */
export function forgetLost(paths: FolderPaths, db: Db, clock: Clock): SealedCounts {
  const aside = `${paths.key}.damaged-${clock.now()}`
  if (keyProblem(paths) && existsSync(paths.key)) renameSync(paths.key, aside)
  const box = secretBox(masterKey(paths.key))
  const closed = unopenable(box, sealedIn(db))
  tx(db, () => {
    for (const { id } of closed.orgs) {
      rotateWebhookSecret(db, box, id)
      writeAuditEntry(db, clock, { orgId: id, act: 'forgetSecrets', target: id, note: { newWebhookSecret: true } })
    }
    for (const { id, orgId } of closed.integrations) {
      clearSecrets(db, id)
      writeAuditEntry(db, clock, { orgId, act: 'forgetSecrets', target: id, note: { needsSecretsAnew: true } })
    }
    const queueSecurityMail: QueueSecurityMail = (notice) => enqueueSecurityMail({ db, box, clock }, notice)
    for (const { userId, wasEnabled } of dropUnreadableSecondFactors(db, box)) {
      const entry = { act: 'forgetSecrets', target: userId, note: { needsSecondFactorAnew: true } }
      auditEverywhere({ db, audit: (entry) => writeAuditEntry(db, clock, entry) }, userId, entry)
      const event = { kind: 'secondFactorRemoved' } as const
      if (wasEnabled) notifyOfSecurityEvent({ db, clock, queueSecurityMail }, userId, event, null)
    }
    for (const { id, orgId } of dropUnreadableSecrets(db, box)) {
      writeAuditEntry(db, clock, { orgId, act: 'forgetSecrets', target: id, note: { needsSecretsAnew: true } })
    }
  })
  return countsOf(closed)
}

/** Returns a warning if other users of the machine can read the key; otherwise null. */
export function keyModeWarning({ key }: FolderPaths): string | null {
  const mode = statSync(key).mode & 0o777
  if ((mode & 0o077) === 0) return null
  return `${key} is readable by other users of this machine (mode ${mode.toString(8)}), who could decrypt every secret in the database; run "chmod 600 ${key}"`
}
