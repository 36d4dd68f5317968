import { expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesOf, flipByte, killedFolder } from '../../test/hostile/killed-server-folder.ts'
import { temporaryFolder } from '../../test/run-program.ts'
import { testApp } from '../../test/test-app.ts'
import { DAY_MS, HOUR_MS, systemClock } from '../core/clock.ts'
import type { BackupPlace } from './backup-place.ts'
import { checkBackup } from './check-backup.ts'
import { createBackup } from './create-backup.ts'
import { folderPlace } from './folder-place.ts'
import { restoreBackup } from './restore-backup.ts'

const unexpected = (message: string) => {
  throw new Error(message)
}

const order = (folder: string, place: BackupPlace, keep: number | null = null) => ({
  folder,
  place,
  keep,
  clock: systemClock,
  warn: unexpected,
})

test('a backup of a folder with every kind of file is restored unchanged', async () => {
  using root = temporaryFolder()
  const { path } = await killedFolder(join(root.path, 'data'))
  const place = folderPlace(join(root.path, 'backups'))
  const { name, files } = await createBackup(order(path, place))
  expect(await place.names()).toEqual([name])
  const { faults } = await checkBackup(place, name)
  expect(faults).toEqual([])
  const restored = join(root.path, 'restored')
  await restoreBackup(place, name, restored)
  const before = bytesOf(path)
  const after = bytesOf(restored)
  expect(after.size).toBe(files + 1)
  for (const [file, bytes] of after) {
    if (/^(?:events|spool|runs|master)/.test(file)) expect(before.get(file)?.equals(bytes)).toBe(true)
  }
  const stored = [...before.keys()].filter((file) => /^(?:events|spool|master|tagwarden.db$)/.test(file))
  expect(stored.filter((file) => !after.has(file))).toEqual([])
  for (const file of after.keys()) expect(statSync(join(restored, file)).mode & 0o077).toBe(0)
})
