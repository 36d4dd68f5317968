import { describe, expect, test } from 'bun:test'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { temporaryFolder } from '../../test/run-program.ts'
import { systemClock } from '../core/clock.ts'
import { openDatabase } from '../store/database.ts'
import { inspectDatabase } from '../store/inspect-database.ts'
import { markClickhouse, storedEngine } from '../warehouse/stored-engine.ts'
import { type FolderPaths, folderPaths } from './folder-paths.ts'
import { openStores } from './open-folder.ts'
import { rebuild } from './rebuild-file-list.ts'

describe('a rebuilt database states where the events are stored', () => {
  /** Creates a data folder, and returns where its events are stored after `damage` and a rebuild. */
  async function rebuilt({
    isMarked = false,
    isClickhouse = false,
    damage = () => {},
  }: {
    isMarked?: boolean
    isClickhouse?: boolean
    damage?(paths: FolderPaths): void
  }) {
    using root = temporaryFolder()
    const paths = folderPaths(root.path)
    const { db } = openStores(root.path)
    if (isMarked) markClickhouse(db)
    db.close()
    damage(paths)
    const { setAside } = await rebuild(paths, systemClock, { isClickhouse })
    const after = openDatabase(paths.database)
    try {
      return { engine: storedEngine(after), isSetAside: setAside !== null }
    } finally {
      after.close()
    }
  }

  /** Makes one table unreadable. */
  function damageTable({ database }: FolderPaths): void {
    const db = openDatabase(database)
    const page = db.prepare<[], number>("SELECT rootpage FROM sqlite_schema WHERE name = 'alert'").pluck().get() ?? 0
    const size = db.pragma('page_size', { simple: true }) as number
    db.close()
    const file = openSync(database, 'r+')
    writeSync(file, new Uint8Array(size).fill(255), 0, size, (page - 1) * size)
    closeSync(file)
    expect(inspectDatabase(database).kind).toBe('damaged')
  }
  const loseDatabase = ({ database }: FolderPaths) => rmSync(database)

  test('as the damaged database does', async () => {
    expect(await rebuilt({ isMarked: true, damage: damageTable })).toEqual({ engine: 'clickhouse', isSetAside: true })
    expect(await rebuilt({ isClickhouse: true, damage: damageTable })).toEqual({ engine: 'files', isSetAside: true })
  })

  test('as the settings do, if the database is lost', async () => {
    expect(await rebuilt({ isClickhouse: true, damage: loseDatabase })).toMatchObject({ engine: 'clickhouse' })
    expect(await rebuilt({ isMarked: true, damage: loseDatabase })).toMatchObject({ engine: 'files' })
  })

  test('as before, if it is intact', async () => {
    expect(await rebuilt({ isMarked: true })).toEqual({ engine: 'clickhouse', isSetAside: false })
    expect(await rebuilt({ isClickhouse: true })).toEqual({ engine: 'files', isSetAside: false })
  })
})
