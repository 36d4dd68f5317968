import { sealTarget, unsealTarget } from '../alerts/encrypt-channel-target.ts'
import type { ProviderType } from '../contract/products.ts'
import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { type SecretBox, secretHash } from '../core/secret-box.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { type Db, prepared } from '../store/database.ts'
import { deleteOrgRow, findOrgRow } from '../store/org-rows.ts'
import type { Outcome } from './delivery-outcome.ts'
import { DEFAULT_LABEL, type IntegrationRecord, type IntegrationStatus, type SplitSettings } from './integration.ts'

/** Key of an integration. */
export interface IntegrationKey {
  orgId: string
  id: string
}

interface IntegrationRow extends Omit<IntegrationRecord, 'config'> {
  config: string
}

const MISSING = 'the integration does not exist'

const COLUMNS = 'id, orgId, provider, label, status, config, createdAt'

const recordOf = (row: IntegrationRow): IntegrationRecord => ({ ...row, config: JSON.parse(row.config) })

interface NewIntegrationRow extends SplitSettings {
  orgId: string
  provider: ProviderType
  label: string
  createdAt: Instant
  /** Default: `connected`. */
  status?: IntegrationStatus
  /** Origin of the integration's calls. Absent or null: the origin of `config.url`. */
  origin?: string | null
}

/** Encrypts `url`, because a receiver's URL alone is often enough to post to it. */
const sealUrl = (box: SecretBox, config: Record<string, unknown>) =>
  typeof config.url === 'string' ? { ...config, url: sealTarget(box, config.url) } : config

/** Inserts an integration with its secrets and URL encrypted. */
export function insertIntegration(db: Db, box: SecretBox, integration: NewIntegrationRow): IntegrationRecord {
  const { config, secrets, origin = null, status = 'connected', ...rest } = integration
  const id = newId('int', rest.createdAt)
  const record: IntegrationRecord = { ...rest, id, status, config: sealUrl(box, config) }
  db.prepare(
    `INSERT INTO integration (id, orgId, provider, label, status, config, secrets, origin, createdAt)
     VALUES (@id, @orgId, @provider, @label, @status, @config, @secrets, @origin, @createdAt)`,
  ).run({ ...record, origin, config: JSON.stringify(record.config), secrets: box.seal(JSON.stringify(secrets)) })
  return record
}

/** Returns an integration. Fails with `notFound` if the organization has no integration with this id. */
export function findIntegration(db: Db, key: IntegrationKey): IntegrationRecord {
  return recordOf(findOrgRow<IntegrationRow>(db, `SELECT ${COLUMNS} FROM integration`, key, MISSING))
}

/** Provider of an integration. Null if the organization has no integration with this id. */
export function providerOf(db: Db, { orgId, id }: IntegrationKey): ProviderType | null {
  const find = db.prepare<[string, string], { provider: ProviderType }>(
    'SELECT provider FROM integration WHERE id = ? AND orgId = ?',
  )
  return find.get(id, orgId)?.provider ?? null
}

/** Replaces the settings that are not secret, and the status. */
export function updateConfig(db: Db, key: IntegrationKey, to: Pick<IntegrationRecord, 'config' | 'status'>): void {
  prepared<[object]>(
    db,
    'UPDATE integration SET config = @config, status = @status WHERE id = @id AND orgId = @orgId',
  ).run({ ...key, status: to.status, config: JSON.stringify(to.config) })
}

/** Settings of an integration without its secrets. Empty if there is no such integration. */
export function configOf(db: Db, id: string): Record<string, unknown> {
  const row = prepared<[string], { config: string }>(db, 'SELECT config FROM integration WHERE id = ?').get(id)
  return row ? JSON.parse(row.config) : {}
}

/** Key under which the provider's own tokens are stored among the sealed secrets. */
const TOKENS = 'tokens'

/** An integration with its secrets decrypted. */
export interface UnsealedIntegration extends IntegrationKey {
  provider: ProviderType
  label: string
  status: IntegrationStatus
  /** Configuration and secrets merged. */
  settings: Record<string, unknown>
  /** Tokens obtained by the provider itself. */
  tokens: Record<string, unknown>
  /** State saved by the provider. Null until it saves one. */
  state: unknown
  /** Sealed secrets as stored. */
  sealed: Buffer
}

type StoredIntegrationRow = IntegrationKey &
  Pick<UnsealedIntegration, 'provider' | 'label' | 'status'> & { config: string; secrets: Buffer; state: string | null }

/**
 * Reads an integration and decrypts its secrets. Null if the organization has no integration with this id. Fails with
 * `conflict` if the secrets were lost or encrypted with another key.
 */
export function openIntegration(db: Db, box: SecretBox, { orgId, id }: IntegrationKey): UnsealedIntegration | null {
  const row = prepared<[string, string], StoredIntegrationRow>(
    db,
    'SELECT id, orgId, provider, label, status, config, secrets, state FROM integration WHERE id = ? AND orgId = ?',
  ).get(id, orgId)
  if (!row) return null
  const { config, secrets: sealed, state, ...rest } = row
  if (sealed.length === 0)
    throw new AppError('conflict', 'the secrets of this integration were lost; configure it again')
  const { [TOKENS]: tokens = {}, ...secrets } = JSON.parse(box.open(sealed))
  const settings = { ...JSON.parse(config), ...secrets }
  if (typeof settings.url === 'string') settings.url = unsealTarget(box, settings.url)
  return { ...rest, settings, tokens, state: state === null ? null : JSON.parse(state), sealed }
}

/** Names of secrets that were entered or generated. Empty if they cannot be decrypted. */
export function secretNamesOf(db: Db, box: SecretBox, { orgId, id }: IntegrationKey): string[] {
  const sql = 'SELECT secrets FROM integration WHERE id = ? AND orgId = ?'
  const sealed = prepared<[string, string], { secrets: Buffer }>(db, sql).get(id, orgId)?.secrets
  try {
    const { [TOKENS]: _, ...secrets } = JSON.parse(sealed?.length ? box.open(sealed) : '{}')
    return Object.keys(secrets)
  } catch {
    // The user must then enter the secrets again.
    return []
  }
}

const sealedOf = (box: SecretBox, secrets: object, tokens: object) =>
  box.seal(JSON.stringify(Object.keys(tokens).length === 0 ? secrets : { ...secrets, [TOKENS]: tokens }))

/** Saves the provider's tokens, unless the secrets have changed since `integration` was read. */
export function saveTokens(db: Db, box: SecretBox, { id, sealed }: UnsealedIntegration, tokens: object): void {
  const { [TOKENS]: _, ...secrets } = JSON.parse(box.open(sealed))
  const sql = 'UPDATE integration SET secrets = ? WHERE id = ? AND secrets = ?'
  prepared(db, sql).run(sealedOf(box, secrets, tokens), id, sealed)
}

/** Maximum size of provider state. It is enough for keys and cursors, but not for messages. */
const MAX_MEMORY_BYTES = 64 * 1024

/** Serializes provider state. Fails with `invalid` if it exceeds 64 KiB. */
export function memoryJson(memory: unknown): string {
  const text = JSON.stringify(memory) ?? 'null'
  if (Buffer.byteLength(text) <= MAX_MEMORY_BYTES) return text
  throw new AppError('invalid', `provider state exceeds ${MAX_MEMORY_BYTES} bytes`)
}

/** Saves the provider's state for an integration. Fails with `invalid` if it exceeds 64 KiB. */
export function saveState(db: Db, id: string, state: unknown): void {
  prepared(db, 'UPDATE integration SET state = ? WHERE id = ?').run(memoryJson(state), id)
}

/** Sets the token for inbound calls. Only its hash is stored. */
export function saveInboundToken(db: Db, id: string, token: string): void {
  prepared(db, 'UPDATE integration SET inboundHash = ? WHERE id = ?').run(secretHash(token), id)
}

/** Finds an integration of the provider by the token of an inbound call. Null if there is none. */
export function findByInboundToken(db: Db, provider: string, token: string): IntegrationKey | null {
  const sql = 'SELECT id, orgId FROM integration WHERE inboundHash = ? AND provider = ?'
  return prepared<[Buffer, string], IntegrationKey>(db, sql).get(secretHash(token), provider) ?? null
}

/** Integrations of a provider in all organizations, oldest first. */
export function integrationsOf(db: Db, provider: string): IntegrationRecord[] {
  const sql = `SELECT ${COLUMNS} FROM integration WHERE provider = ? ORDER BY id`
  return prepared<[string], IntegrationRow>(db, sql).all(provider).map(recordOf)
}

export const countIntegrations = (db: Db, orgId: string): number =>
  prepared<[string], { count: number }>(db, 'SELECT count(*) AS count FROM integration WHERE orgId = ?').get(orgId)
    ?.count ?? 0

/** Sealed secrets of all integrations that have secrets. */
export function sealedIntegrations(db: Db): { id: string; orgId: string; secret: Buffer }[] {
  return db
    .prepare<[], { id: string; orgId: string; secret: Buffer }>(
      'SELECT id, orgId, secrets AS secret FROM integration WHERE length(secrets) > 0',
    )
    .all()
}

/** Deletes secrets that cannot be decrypted. The integration is unusable until new secrets are entered. */
export function clearSecrets(db: Db, id: string): void {
  db.prepare(`UPDATE integration SET secrets = x'', status = 'failing' WHERE id = ?`).run(id)
}

/** False if the integration's secrets were deleted. Fails with `notFound`. */
export function hasSecrets(db: Db, key: IntegrationKey): boolean {
  const select = 'SELECT length(secrets) AS length FROM integration'
  return findOrgRow<{ length: number }>(db, select, key, MISSING).length > 0
}

/** Returns a page of integrations, oldest first. */
export function listIntegrations(db: Db, orgId: string, page: PageRequest): Page<IntegrationRecord> {
  const sql = `SELECT ${COLUMNS} FROM integration WHERE orgId = @orgId`
  return readPage(db, page, { sql, values: { orgId }, sortBy: 'id', itemOf: recordOf })
}

interface NewSettings extends SplitSettings {
  label: string
  status: IntegrationStatus
  /** The provider's own tokens, if they are still valid. */
  tokens: object
  /** Null: the origin of `config.url`. */
  origin: string | null
}

/** Replaces an integration's label and settings. Fails with `notFound`. */
export function updateIntegration(
  db: Db,
  box: SecretBox,
  { orgId, id }: IntegrationKey,
  { config, secrets, tokens, ...rest }: NewSettings,
): IntegrationRecord {
  db.prepare(
    `UPDATE integration SET label = @label, config = @config, secrets = @secrets, status = @status, origin = @origin
     WHERE id = @id AND orgId = @orgId`,
  ).run({ ...rest, id, orgId, config: JSON.stringify(sealUrl(box, config)), secrets: sealedOf(box, secrets, tokens) })
  return findIntegration(db, { orgId, id })
}

/** Deletes an integration. Its pending deliveries will fail and state the reason. Fails with `notFound`. */
export function deleteIntegration(db: Db, key: IntegrationKey): void {
  deleteOrgRow(db, 'DELETE FROM integration', key, MISSING)
}

/**
 * Marks an integration as complete. `name` replaces the label if it is still the default. Returns the label. Fails with
 * `notFound`.
 */
export function completeIntegration(db: Db, { orgId, id }: IntegrationKey, name: string): string {
  const sql = `UPDATE integration SET status = 'connected', label = CASE label WHEN ? THEN ? ELSE label END
    WHERE id = ? AND orgId = ? RETURNING label`
  const row = prepared<unknown[], { label: string }>(db, sql).get(DEFAULT_LABEL, name, id, orgId)
  if (!row) throw new AppError('notFound', MISSING)
  return row.label
}

/** Sets the status. Does nothing if the integration was deleted. */
export function setIntegrationStatus(db: Db, id: string, status: IntegrationStatus): void {
  db.prepare('UPDATE integration SET status = ? WHERE id = ?').run(status, id)
}

/** Records the result of the last attempt. A status that requires user action is not changed. */
export function setLastAttemptStatus(db: Db, id: string, status: 'connected' | 'failing'): void {
  const sql = `UPDATE integration SET status = ? WHERE id = ? AND status IN ('connected', 'failing') AND status <> ?`
  prepared(db, sql).run(status, id, status)
}

/** A usable integration. `version` changes whenever the integration is reconfigured. */
export interface UsableIntegration extends IntegrationKey {
  version: string
}

/** Usable integrations of a provider in all organizations, oldest first. */
export function usableIntegrations(db: Db, provider: string): UsableIntegration[] {
  const sql = `SELECT id, orgId, config || hex(secrets) AS version FROM integration
    WHERE provider = ? AND status IN ('connected', 'failing') ORDER BY id`
  return prepared<[string], UsableIntegration>(db, sql).all(provider)
}

/**
 * Sets the status of an integration to `connected` or `failing` after an attempt. A status that requires user action is
 * cleared only by a successful test. Does nothing if the id is null, as for a direct address.
 */
export function updateIntegrationStatus(db: Db, id: string | null, outcome: Outcome, { isTest = false } = {}): void {
  if (id === null || outcome.verdict === 'wait' || outcome.verdict === 'stopped') return
  if (outcome.verdict === 'broken' && outcome.status) return setIntegrationStatus(db, id, outcome.status)
  if (outcome.verdict !== 'delivered') return setLastAttemptStatus(db, id, 'failing')
  if (isTest) return setIntegrationStatus(db, id, 'connected')
  setLastAttemptStatus(db, id, 'connected')
}

interface RecordRow {
  key: string
  value: string
}

/** Value that a provider stored under a key. Null if there is none. */
export function findRecord(db: Db, integrationId: string, key: string): unknown {
  const sql = 'SELECT value FROM integrationRecord WHERE integrationId = ? AND key = ?'
  const row = prepared<[string, string], { value: string }>(db, sql).get(integrationId, key)
  return row ? JSON.parse(row.value) : null
}

/** All records of an integration, ordered by key. */
export function listRecords(db: Db, integrationId: string): { key: string; value: unknown }[] {
  const sql = 'SELECT key, value FROM integrationRecord WHERE integrationId = ? ORDER BY key'
  return prepared<[string], RecordRow>(db, sql)
    .all(integrationId)
    .map(({ key, value }) => ({ key, value: JSON.parse(value) }))
}

/**
 * Stores a value under a key. Does nothing if the integration was deleted. Fails with `invalid` if the value exceeds 64
 * KiB as JSON.
 */
export function saveRecord(db: Db, integrationId: string, key: string, value: unknown): void {
  prepared<[object]>(
    db,
    `INSERT INTO integrationRecord (integrationId, key, value) SELECT id, @key, @value FROM integration WHERE id = @integrationId
     ON CONFLICT DO UPDATE SET value = @value`,
  ).run({ integrationId, key, value: memoryJson(value) })
}
