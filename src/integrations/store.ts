import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Db } from '../store/database.ts'
import type { IntegrationRecord, IntegrationStatus, Provider, SplitSettings } from './integration.ts'

/** Names an integration of one organization. */
export interface IntegrationKey {
  orgId: string
  id: string
}

interface IntegrationRow extends Omit<IntegrationRecord, 'config'> {
  config: string
}

const COLUMNS = 'id, orgId, provider, label, status, config, createdAt'

const recordOf = (row: IntegrationRow): IntegrationRecord => ({ ...row, config: JSON.parse(row.config) })

export interface NewIntegrationRow extends SplitSettings {
  orgId: string
  provider: Provider
  label: string
  createdAt: Instant
}

/** Stores an integration; its secrets are sealed. */
export function createIntegration(db: Db, box: SecretBox, integration: NewIntegrationRow): IntegrationRecord {
  const { config, secrets, ...rest } = integration
  const record: IntegrationRecord = { ...rest, id: newId('int', rest.createdAt), status: 'connected', config }
  db.prepare(
    `INSERT INTO integration (id, orgId, provider, label, status, config, secrets, createdAt)
     VALUES (@id, @orgId, @provider, @label, @status, @config, @secrets, @createdAt)`,
  ).run({ ...record, config: JSON.stringify(config), secrets: box.seal(JSON.stringify(secrets)) })
  return record
}

/** Fails with `notFound` when the organization has none of that id. */
export function findIntegration(db: Db, { orgId, id }: IntegrationKey): IntegrationRecord {
  const row = db
    .prepare<[string, string], IntegrationRow>(`SELECT ${COLUMNS} FROM integration WHERE id = ? AND orgId = ?`)
    .get(id, orgId)
  if (!row) throw new AppError('notFound', 'no such integration')
  return recordOf(row)
}

/** The provider of an integration; null when the organization has none of that id. */
export function providerOf(db: Db, { orgId, id }: IntegrationKey): Provider | null {
  const find = db.prepare<[string, string], { provider: Provider }>(
    'SELECT provider FROM integration WHERE id = ? AND orgId = ?',
  )
  return find.get(id, orgId)?.provider ?? null
}

/**
 * Configuration and secrets together, for sending. Fails with `notFound`, with `conflict` when the secrets were lost, and
 * when they were sealed with another key.
 */
export function openSettings(db: Db, box: SecretBox, { orgId, id }: IntegrationKey): Record<string, unknown> {
  const row = db
    .prepare<[string, string], { config: string; secrets: Buffer }>(
      'SELECT config, secrets FROM integration WHERE id = ? AND orgId = ?',
    )
    .get(id, orgId)
  if (!row) throw new AppError('notFound', 'no such integration')
  if (row.secrets.length === 0)
    throw new AppError('conflict', 'the secrets of this integration were lost; configure it anew')
  return { ...JSON.parse(row.config), ...JSON.parse(box.open(row.secrets)) }
}

/** The sealed secrets of all integrations that have theirs. */
export function sealedIntegrations(db: Db): { id: string; orgId: string; secret: Buffer }[] {
  return db
    .prepare<[], { id: string; orgId: string; secret: Buffer }>(
      'SELECT id, orgId, secrets AS secret FROM integration WHERE length(secrets) > 0',
    )
    .all()
}

/** Lets go of secrets that can't be opened: nothing goes through the integration until it has new ones. */
export function forgetSecrets(db: Db, id: string): void {
  db.prepare(`UPDATE integration SET secrets = x'', status = 'failing' WHERE id = ?`).run(id)
}

/** False when its secrets were forgotten. Fails with `notFound`. */
export function hasSecrets(db: Db, { orgId, id }: IntegrationKey): boolean {
  const has = db
    .prepare<[string, string], number>('SELECT length(secrets) > 0 FROM integration WHERE id = ? AND orgId = ?')
    .pluck()
    .get(id, orgId)
  if (has === undefined) throw new AppError('notFound', 'no such integration')
  return has === 1
}

/** Oldest first, those after the place `after` (an id); at most `limit + 1`, so that the caller sees if more follow. */
export function listIntegrations(
  db: Db,
  orgId: string,
  { after, limit }: { after: string | number | null; limit: number },
): IntegrationRecord[] {
  return db
    .prepare<[object], IntegrationRow>(
      `SELECT ${COLUMNS} FROM integration WHERE orgId = @orgId AND (@after IS NULL OR id > @after)
       ORDER BY id LIMIT @limit + 1`,
    )
    .all({ orgId, after, limit })
    .map(recordOf)
}

/** Replaces label and settings. Fails with `notFound` when the organization has none of that id. */
export function updateIntegration(
  db: Db,
  box: SecretBox,
  { orgId, id }: IntegrationKey,
  { label, config, secrets }: SplitSettings & { label: string },
): IntegrationRecord {
  db.prepare(
    `UPDATE integration SET label = @label, config = @config, secrets = @secrets, status = 'connected'
     WHERE id = @id AND orgId = @orgId`,
  ).run({ id, orgId, label, config: JSON.stringify(config), secrets: box.seal(JSON.stringify(secrets)) })
  return findIntegration(db, { orgId, id })
}

/** What still waits to go through it will be refused and said so. Fails with `notFound`. */
export function deleteIntegration(db: Db, { orgId, id }: IntegrationKey): void {
  const { changes } = db.prepare('DELETE FROM integration WHERE id = ? AND orgId = ?').run(id, orgId)
  if (changes === 0) throw new AppError('notFound', 'no such integration')
}

/** Does nothing when the integration is gone. */
export function setIntegrationStatus(db: Db, id: string, status: IntegrationStatus): void {
  db.prepare('UPDATE integration SET status = ? WHERE id = ?').run(status, id)
}
