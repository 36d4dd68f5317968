import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Db, openDatabase, tx } from './database.ts'
import { type RowChange, type WatchedTable, watchRows } from './watch-table-rows.ts'

const THING: WatchedTable = { kind: 'thing', table: 'thing', columns: ['size'], silent: ['mark', 'seenAt'] }

function openFixture(watched: Partial<WatchedTable> = {}) {
  const db = openDatabase(':memory:')
  db.exec(`CREATE TABLE thing (
    id TEXT PRIMARY KEY, orgId TEXT, size INTEGER, mark INTEGER, seenAt INTEGER, half INTEGER AS (size / 2) VIRTUAL
  ) STRICT`)
  const told: RowChange[] = []
  const pieces: number[] = []
  watchRows(db, [{ ...THING, ...watched }], (changes) => {
    told.push(...changes)
    pieces.push(changes.length)
  })
  return { db, told, pieces }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const add = (db: Db, id: string, size = 1) =>
  db.prepare('INSERT INTO thing (id, orgId, size) VALUES (?, ?, ?)').run(id, 'org_1', size)
const change = (id: string, size: number | null, isDeleted = false) => ({
  kind: 'thing',
  orgId: 'org_1',
  id,
  isDeleted,
  values: { size },
})

test('inserts, updates and deletes are reported in order, after the transaction that made them', async () => {
  const { db, told, pieces } = openFixture()
  add(db, 'a')
  db.exec(`UPDATE thing SET size = 2 WHERE id = 'a'`)
  tx(db, () => {
    add(db, 'b', 5)
    db.exec(`DELETE FROM thing WHERE id = 'a'`)
  })
  expect(told).toEqual([])
  await settled()
  expect(told).toEqual([change('a', 1), change('a', 2), change('b', 5), change('a', 2, true)])
  expect(pieces).toEqual([4])
  add(db, 'c')
  await settled()
  expect(told.slice(4)).toEqual([change('c', 1)])
})

test.each<[string, string, number]>([
  ['a reported column', 'UPDATE thing SET size = 9', 1],
  ['the organization column', `UPDATE thing SET orgId = 'org_2'`, 1],
  ['a column to the same value', 'UPDATE thing SET size = size, orgId = orgId', 0],
  ['only silent columns', 'UPDATE thing SET mark = 1, seenAt = 2', 0],
  ['a silent and a reported column', 'UPDATE thing SET mark = 1, size = 3', 1],
  ['no row', `UPDATE thing SET size = 3 WHERE id = 'z'`, 0],
  [
    'an existing row by an upsert',
    `INSERT INTO thing (id, size) VALUES ('a', 4) ON CONFLICT DO UPDATE SET size = 4`,
    1,
  ],
  ['no row by an ignored insert', `INSERT OR IGNORE INTO thing (id, size) VALUES ('a', 4)`, 0],
])('an update of %s is reported only if a reported column changes', async (_what, sql, count) => {
  const { db, told } = openFixture()
  add(db, 'a')
  await settled()
  db.exec(sql)
  await settled()
  expect(told.length - 1).toBe(count)
})

test('only the first value of a silent column is reported, and only when requested', async () => {
  const { db, told } = openFixture({ firsts: ['seenAt'] })
  add(db, 'a')
  await settled()
  for (const [value, count] of [
    [1, 1],
    [2, 1],
    [null, 1],
    [3, 2],
  ]) {
    db.prepare('UPDATE thing SET seenAt = ?').run(value ?? null)
    await settled()
    expect(told.length - 1).toBe(count ?? 0)
  }
})

test.each([
  ['changed', [change('a', 1)]],
  ['nothing', []],
] as const)('a deletion is reported as configured: %s', async (deletes, expected) => {
  const { db, told } = openFixture({ deletes })
  add(db, 'a')
  await settled()
  db.exec('DELETE FROM thing')
  await settled()
  expect(told.slice(1)).toEqual([...expected])
})

test('the ID and organization can be SQL expressions; a row without an organization is not reported', async () => {
  const { db, told } = openFixture({ id: `ROW.id || '!'`, orgId: `iif(ROW.size > 1, 'org_' || ROW.size, NULL)` })
  for (const [id, size] of [
    ['a', 1],
    ['b', 2],
  ] as const) {
    add(db, id, size)
  }
  await settled()
  expect(told).toEqual([{ ...change('b!', 2), orgId: 'org_2' }])
})

test('a nonexistent column causes an immediate error', () => {
  for (const wrong of [{ columns: ['colour'] }, { silent: ['colour'] }, { firsts: ['colour'] }]) {
    expect(() => openFixture(wrong)).toThrow('the table thing has no columns colour')
  }
})

test('a closed database reports nothing', async () => {
  const { db, told } = openFixture()
  add(db, 'a')
  db.close()
  await settled()
  expect(told).toEqual([])
})

/** A step in a transaction: rows to write, a failure, or a nested transaction whose error is caught. */
type Step = number | 'throw' | Step[]
const { step } = fc.letrec<{ step: Step }>((tie) => ({
  step: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.nat(9),
    fc.constant('throw' as const),
    fc.array(tie('step'), { maxLength: 4 }),
  ),
}))

test('rolled-back changes are never reported and all other changes are, regardless of the depth of failures', async () => {
  const { db, told } = openFixture({ silent: [] })
  let next = 0
  const carryOut = (steps: readonly Step[]) => {
    // Each level is a savepoint, like those that SQLite's own statements create.
    const name = `s${++next}`
    db.exec(`SAVEPOINT ${name}`)
    try {
      for (const one of steps) {
        if (one === 'throw') throw new RangeError('deliberate failure')
        if (Array.isArray(one)) carryOut(one)
        else db.prepare('INSERT INTO thing (id, orgId, size) VALUES (?, ?, ?)').run(`row ${++next}`, 'org_1', one)
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      db.exec(`ROLLBACK TO ${name}`)
    }
    db.exec(`RELEASE ${name}`)
  }
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 5 }), { maxLength: 4 }), async (transactions) => {
      db.exec('DELETE FROM thing')
      await settled()
      told.length = 0
      for (const steps of transactions) carryOut(steps)
      const kept = db.prepare('SELECT id FROM thing ORDER BY rowid').pluck().all()
      await settled()
      expect(told.map(({ id }) => id)).toEqual(kept as string[])
    }),
  )
})
