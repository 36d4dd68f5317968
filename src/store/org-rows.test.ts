import { expect, test } from 'bun:test'
import { memoryDb } from '../../test/fixtures.ts'
import { AppError } from '../core/error.ts'
import { deleteOrgRow, findOrgRow } from './org-rows.ts'

const MISSING = 'no such thing'
const gone = new AppError('notFound', MISSING)

function setUp() {
  const db = memoryDb()
  db.exec(`CREATE TABLE thing (id TEXT PRIMARY KEY, orgId TEXT NOT NULL, size INTEGER NOT NULL);
    INSERT INTO thing VALUES ('a', 'one', 1), ('b', 'one', 2), ('c', 'two', 3)`)
  return db
}

test('a row is found only in its organization', () => {
  const db = setUp()
  const select = 'SELECT size * @factor AS size FROM thing'
  const find = (orgId: string, id: string) => {
    const key = { orgId, id, factor: 10 }
    return findOrgRow(db, select, key, MISSING)
  }
  expect(find('one', 'b')).toEqual({ size: 20 })
  expect(() => find('two', 'b')).toThrow(gone)
  expect(() => find('one', 'x')).toThrow(gone)
})

test('a row is deleted once, and only by its organization', () => {
  const db = setUp()
  const remove = (orgId: string) => deleteOrgRow(db, 'DELETE FROM thing', { orgId, id: 'a' }, MISSING)
  expect(() => remove('two')).toThrow(gone)
  remove('one')
  expect(() => remove('one')).toThrow(gone)
  expect(db.prepare('SELECT id FROM thing ORDER BY id').all()).toEqual([{ id: 'b' }, { id: 'c' }])
})
