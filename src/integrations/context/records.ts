import { type Db, prepared } from '../../store/database.ts'
import { memoryText } from '../store.ts'

interface RecordRow {
  key: string
  value: string
}

/** What a provider remembers of one thing under this key; null: nothing. */
export function recordOf(db: Db, integrationId: string, key: string): unknown {
  const sql = 'SELECT value FROM integrationRecord WHERE integrationId = ? AND key = ?'
  const row = prepared<[string, string], { value: string }>(db, sql).get(integrationId, key)
  return row ? JSON.parse(row.value) : null
}

/** All of an integration, by key. */
export function recordsOf(db: Db, integrationId: string): { key: string; value: unknown }[] {
  const sql = 'SELECT key, value FROM integrationRecord WHERE integrationId = ? ORDER BY key'
  return prepared<[string], RecordRow>(db, sql)
    .all(integrationId)
    .map(({ key, value }) => ({ key, value: JSON.parse(value) }))
}

/** Replaces it; does nothing when the integration is gone. Fails with `invalid` when it is longer than 64 KiB as JSON. */
export function keepRecord(db: Db, integrationId: string, key: string, value: unknown): void {
  prepared<[object]>(
    db,
    `INSERT INTO integrationRecord (integrationId, key, value) SELECT id, @key, @value FROM integration WHERE id = @integrationId
     ON CONFLICT DO UPDATE SET value = @value`,
  ).run({ integrationId, key, value: memoryText(value) })
}
