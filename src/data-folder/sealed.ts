import { existsSync, renameSync, statSync } from 'node:fs'
import type { Clock } from '../core/clock.ts'
import { type SecretBox, secretBox } from '../core/secret-box.ts'
import { forgetSecrets, sealedIntegrations } from '../integrations/store.ts'
import { writeAuditEntry } from '../org/audit-log.ts'
import { rotateWebhookSecret, sealedOrgs } from '../org/store.ts'
import { type Db, tx } from '../store/database.ts'
import { KEY_BYTES, masterKey } from '../store/master-key.ts'
import type { FolderPaths } from './paths.ts'
import { closedKey, lostKey } from './refusal.ts'

/** What is sealed in a database: the webhook secrets of organizations, the secrets of integrations. */
export interface Sealed {
  orgs: { id: string; secret: Buffer }[]
  integrations: { id: string; orgId: string; secret: Buffer }[]
}

/** How much of each. */
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

/** What of the sealed the box does not open. */
function closedTo(box: SecretBox, { orgs, integrations }: Sealed): Sealed {
  const isClosed = ({ secret }: { secret: Buffer }) => {
    try {
      box.open(secret)
      return false
    } catch {
      // Sealed with another key, or changed since.
      return true
    }
  }
  return { orgs: orgs.filter(isClosed), integrations: integrations.filter(isClosed) }
}

/**
 * Fails with `FolderError` when the key is gone, is none, or does not open what is sealed: a lost secret would show when
 * it is needed, and too late. No key is fine where nothing is sealed yet.
 */
export function checkKey(paths: FolderPaths, db: Db): void {
  const sealed = sealedIn(db)
  const problem = keyProblem(paths)
  if (problem === null) {
    const closed = countsOf(closedTo(secretBox(masterKey(paths.key)), sealed))
    if (total(closed) > 0) throw closedKey(paths, { closed, sealed: countsOf(sealed) })
  } else if (existsSync(paths.key) || total(countsOf(sealed)) > 0) {
    throw lostKey(paths, problem, countsOf(sealed))
  }
}

/** What seals and opens secrets in this folder. A key is made where nothing is sealed yet. Fails as `checkKey` does. */
export function openBox(paths: FolderPaths, db: Db): SecretBox {
  checkKey(paths, db)
  return secretBox(masterKey(paths.key))
}

/** Why the file can't be a key; null when it can. */
function keyProblem({ key }: FolderPaths): string | null {
  if (!existsSync(key)) return 'is not there'
  const bytes = statSync(key).size
  return bytes === KEY_BYTES ? null : `is not a master key: it has ${bytes} bytes instead of ${KEY_BYTES}`
}

/**
 * Goes on without what the key does not open: organizations get new webhook secrets, integrations need theirs anew, and
 * the audit log of each organization says so. A key is made where there is none; a file that is no key is set aside.
 */
export function forgetLost(paths: FolderPaths, db: Db, clock: Clock): SealedCounts {
  const aside = `${paths.key}.damaged-${clock.now()}`
  if (keyProblem(paths) && existsSync(paths.key)) renameSync(paths.key, aside)
  const box = secretBox(masterKey(paths.key))
  const closed = closedTo(box, sealedIn(db))
  tx(db, () => {
    for (const { id } of closed.orgs) {
      rotateWebhookSecret(db, box, id)
      writeAuditEntry(db, clock, { orgId: id, act: 'forgetSecrets', target: id, note: { newWebhookSecret: true } })
    }
    for (const { id, orgId } of closed.integrations) {
      forgetSecrets(db, id)
      writeAuditEntry(db, clock, { orgId, act: 'forgetSecrets', target: id, note: { needsSecretsAnew: true } })
    }
  })
  return countsOf(closed)
}

/** What an operator is told of a key that others on the machine can read; null when nobody else can. */
export function keyModeWarning({ key }: FolderPaths): string | null {
  const mode = statSync(key).mode & 0o777
  if ((mode & 0o077) === 0) return null
  return `${key} can be read by other users of this machine (mode ${mode.toString(8)}): whoever has it and the database knows every secret; "chmod 600 ${key}" mends it`
}
