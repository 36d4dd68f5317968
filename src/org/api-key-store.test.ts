import { expect, test } from 'bun:test'
import Database from 'better-sqlite3'
import { migrations } from '../../migrations/index.ts'
import { openDatabase } from '../store/database.ts'

/** Returns a database with these rows in the schema before this migration. */
function before(migration: string, rows: readonly string[]): Buffer {
  const db = new Database(':memory:')
  const at = migrations.findIndex(({ name }) => name === migration)
  for (const { sql } of migrations.slice(0, at)) db.exec(sql)
  db.pragma(`user_version = ${at}`)
  for (const row of rows) db.exec(row)
  const bytes = db.serialize()
  db.close()
  return bytes
}

const org = (id: string) => `INSERT INTO org (id, name, webhookSecret, customerSalt, createdAt)
  VALUES ('${id}', '${id}', x'00', 's', 1)`
const user = (id: string) => `INSERT INTO user (id, email, createdAt) VALUES ('${id}', '${id}@example.com', 1)`
const member = (orgId: string, userId: string, inviteHash = 'NULL') =>
  `INSERT INTO member (orgId, userId, role, createdAt, inviteHash) VALUES ('${orgId}', '${userId}', 'member', 1, ${inviteHash})`
const key = (id: string, userId: string) =>
  `INSERT INTO apiKey (id, userId, name, secretHash, secretTail, readOnly, createdAt)
   VALUES ('${id}', '${userId}', '${id}', CAST('${id}' AS BLOB), 'tail', 0, 1)`
const entry = (orgId: string, fields: { act: string; keyId?: string; target?: string }) =>
  `INSERT INTO auditEntry (orgId, at, act, keyId, target, note)
   VALUES ('${orgId}', 1, '${fields.act}', '${fields.keyId ?? ''}', '${fields.target ?? ''}', '{}')`

test('the migration assigns each existing key to an organization', () => {
  const db = openDatabase(
    before('0037_keys_of_organizations', [
      ...['org_a', 'org_b', 'org_c'].map(org),
      ...['usr_one', 'usr_two', 'usr_none'].map(user),
      member('org_b', 'usr_one'),
      // An invited user is not a member.
      member('org_a', 'usr_one', "x'01'"),
      ...['org_a', 'org_b', 'org_c'].map((id) => member(id, 'usr_two')),
      key('of_only', 'usr_one'),
      key('of_creation', 'usr_two'),
      key('of_last_use', 'usr_two'),
      key('of_oldest', 'usr_two'),
      key('of_nobody', 'usr_none'),
      // The latest entry is in the audit log of the caller's own organization.
      entry('org_a', { act: 'createKey', target: 'of_creation' }),
      entry('org_c', { act: 'createKey', target: 'of_creation' }),
      entry('org_b', { act: 'createAlert', keyId: 'of_creation' }),
      entry('org_b', { act: 'createAlert', keyId: 'of_last_use' }),
      entry('org_c', { act: 'createAlert', keyId: 'of_last_use' }),
      entry('org_c', { act: 'createAlert', keyId: 'of_only' }),
    ]),
  )
  const rows = db.prepare('SELECT name, orgId, revokedAt FROM apiKey ORDER BY name').all()
  expect(rows).toEqual([
    { name: 'of_creation', orgId: 'org_c', revokedAt: null },
    { name: 'of_last_use', orgId: 'org_c', revokedAt: null },
    { name: 'of_nobody', orgId: null, revokedAt: 1 },
    { name: 'of_oldest', orgId: 'org_a', revokedAt: null },
    { name: 'of_only', orgId: 'org_b', revokedAt: null },
  ])
})
