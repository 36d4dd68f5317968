import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { migrations } from '../../migrations/index.ts'
import { type Db, openDatabase, tx } from './database.ts'
import { lockFolder } from './folder-lock.ts'

const folder = mkdtempSync(join(tmpdir(), 'database-'))
afterAll(() => rmSync(folder, { recursive: true }))

const schemaOf = (db: Db) => db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all()
const versionOf = (db: Db) => db.pragma('user_version', { simple: true })

describe('opening a database', () => {
  test('migrates an empty file to the current schema and preserves it when reopened', () => {
    const path = join(folder, 'fresh.db')
    const first = openDatabase(path)
    expect(versionOf(first)).toBe(migrations.length)
    const schema = schemaOf(first)
    expect(schema.length).toBeGreaterThan(10)
    first.exec('CREATE TABLE mark (n INTEGER) STRICT; INSERT INTO mark VALUES (1)')
    first.close()
    const second = openDatabase(path)
    expect(second.prepare('SELECT n FROM mark').pluck().all()).toEqual([1])
    second.exec('DROP TABLE mark')
    expect(schemaOf(second)).toEqual(schema)
  })

  test('survives a power cut: every commit is synced through a write-ahead log', () => {
    const db = openDatabase(join(folder, 'durable.db'))
    const settings = ['journal_mode', 'synchronous', 'foreign_keys'].map((name) => db.pragma(name, { simple: true }))
    // 2 is FULL: https://www.sqlite.org/pragma.html#pragma_synchronous
    expect(settings).toEqual(['wal', 2, 1])
  })

  test("gives other users no access to its files, regardless of the folder's mode", () => {
    const shared = mkdtempSync(join(folder, 'shared-'))
    chmodSync(shared, 0o755)
    const unlock = lockFolder(shared)
    const db = openDatabase(join(shared, 'tagwarden.db'))
    db.exec('CREATE TABLE mark (n INTEGER) STRICT; INSERT INTO mark VALUES (1)')
    const files = readdirSync(shared)
    expect(files).toContain('tagwarden.db-wal')
    expect(files.map((name) => [name, statSync(join(shared, name)).mode & 0o777])).toEqual(
      files.map((name) => [name, 0o600]),
    )
    db.close()
    unlock()
  })

  test('rejects a database written by a newer version without changing it, and closes it', () => {
    const path = join(folder, 'newer.db')
    const newer = openDatabase(path)
    newer.pragma(`user_version = ${migrations.length + 1}`)
    const schema = schemaOf(newer)
    expect(() => openDatabase(path)).toThrow(
      `written by a newer version (schema ${migrations.length + 1}, this version supports ${migrations.length})`,
    )
    expect(versionOf(newer)).toBe(migrations.length + 1)
    expect(schemaOf(newer)).toEqual(schema)
    newer.pragma('journal_mode = DELETE')
    expect(newer.pragma('journal_mode', { simple: true })).toBe('delete')
  })

  test('creates only tables with strict types', () => {
    const loose = openDatabase(':memory:')
      .prepare(`SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict = 0 AND name NOT LIKE 'sqlite_%'`)
      .pluck()
      .all()
    expect(loose).toEqual([])
  })
})

/** A step in a transaction: a number to insert, a failure, or a nested transaction whose error is caught or not. */
type Step = number | 'throw' | { inner: Step[]; caught: boolean }

const { step: aStep } = fc.letrec<{ step: Step }>((tie) => ({
  step: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.nat(9),
    fc.constant('throw' as const),
    fc.record({ inner: fc.array(tie('step'), { maxLength: 4 }), caught: fc.boolean() }),
  ),
}))

function carryOut(db: Db, steps: readonly Step[], written: number[]): void {
  tx(db, () => {
    for (const step of steps) {
      if (step === 'throw') throw new RangeError('deliberate failure')
      if (typeof step === 'number') {
        db.prepare('INSERT INTO mark VALUES (?)').run(step)
        written.push(step)
      } else if (step.caught) {
        try {
          carryOut(db, step.inner, written)
        } catch (error) {
          if (!(error instanceof RangeError)) throw error
        }
      } else {
        carryOut(db, step.inner, written)
      }
    }
  })
}

describe('a transaction', () => {
  const db = openDatabase(':memory:')
  db.exec('CREATE TABLE mark (n INTEGER) STRICT')
  const marks = () => db.prepare('SELECT n FROM mark ORDER BY rowid').pluck().all()

  test('returns the result of its callback', () => {
    expect(tx(db, () => 7)).toBe(7)
    expect(tx(db, () => tx(db, () => 'inside'))).toBe('inside')
  })

  test('is atomic, including nested transactions at any depth', () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 6 }), (steps) => {
        db.exec('DELETE FROM mark')
        const written: number[] = []
        let failed = false
        try {
          carryOut(db, steps, written)
        } catch (error) {
          if (!(error instanceof RangeError)) throw error
          failed = true
        }
        expect(db.inTransaction).toBe(false)
        expect(marks()).toEqual(failed ? [] : written)
      }),
    )
  })

  test("holds the write lock from its start, so that the data it read can't change", () => {
    const path = join(folder, 'locked.db')
    const [mine, other] = [openDatabase(path), openDatabase(path)]
    other.pragma('busy_timeout = 0')
    tx(mine, () => {
      expect(() => tx(other, () => null)).toThrow('database is locked')
    })
    expect(tx(other, () => 'free')).toBe('free')
  })
})
