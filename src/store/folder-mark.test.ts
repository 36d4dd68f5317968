import { expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../test/run-program.ts'
import { openDatabase } from './database.ts'
import { checkFolderMark, markRestored, quietState, resumeSending, serverIdOf } from './folder-mark.ts'

const NOW = 1_800_000_000_000

/** Opens the folder as a start of the server does. Returns the reason why it is quiet, and its server id. */
function start(folder: string) {
  mkdirSync(folder, { recursive: true })
  const db = openDatabase(join(folder, 'tagwarden.db'))
  try {
    return { reason: checkFolderMark(db, folder, NOW)?.reason ?? null, serverId: serverIdOf(db) }
  } finally {
    db.close()
  }
}

const run = (command: string[]) => {
  const { exitCode, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(stderr.toString())
}

test.each<[string, (from: string, to: string) => string]>([
  ['a restart', (from) => from],
  [
    'a rename of the folder',
    (from, to) => {
      renameSync(from, to)
      return to
    },
  ],
  [
    'mv',
    (from, to) => {
      run(['mv', from, to])
      return to
    },
  ],
  [
    'a change of modes and times',
    (from) => {
      run(['chmod', '-R', 'go-rwx', from])
      run(['touch', '-d', '2020-01-01', join(from, 'folder.mark')])
      return from
    },
  ],
])('after %s, the server is not quiet', (_, move) => {
  using root = temporaryFolder()
  const folder = join(root.path, 'data')
  const { serverId } = start(folder)
  expect(start(move(folder, join(root.path, 'moved')))).toEqual({ reason: null, serverId })
})

test.each<[string, (from: string, to: string) => void, string]>([
  ['cp -a', (from, to) => run(['cp', '-a', from, to]), 'the data folder is a copy'],
  ['tar', (from, to) => copyByTar(from, to), 'the data folder is a copy'],
  [
    'a copy without the mark',
    (from, to) => {
      cpSync(from, to, { recursive: true })
      rmSync(join(to, 'folder.mark'))
    },
    'the data folder was copied without its file folder.mark',
  ],
  [
    'a database from another folder',
    (from, to) => {
      start(to)
      cpSync(join(from, 'tagwarden.db'), join(to, 'tagwarden.db'))
    },
    'the database and the file folder.mark are from different data folders',
  ],
  [
    'a damaged mark',
    (from, to) => {
      renameSync(from, to)
      writeFileSync(join(to, 'folder.mark'), '{"mark":')
    },
    'the data folder was copied without its file folder.mark',
  ],
  [
    'a restored backup',
    (from, to) => {
      cpSync(from, to, { recursive: true })
      markRestored(to, '2026-01-05T03-00-00-000Z')
    },
    'the data folder was restored from the backup 2026-01-05T03-00-00-000Z',
  ],
])('after %s, the server is quiet until it is resumed', (_, copy, reason) => {
  using root = temporaryFolder()
  const [folder, copied] = [join(root.path, 'data'), join(root.path, 'copied')]
  const { serverId } = start(folder)
  copy(folder, copied)
  expect(start(copied)).toEqual({ reason, serverId })
  // The state does not depend on the files any more.
  expect(start(copied)).toEqual({ reason, serverId })
  const db = openDatabase(join(copied, 'tagwarden.db'))
  expect(quietState(db)).toEqual({ since: NOW, reason })
  resumeSending(db, copied)
  expect(quietState(db)).toBeNull()
  db.close()
  expect(start(copied)).toEqual({ reason: null, serverId })
  expect(statSync(join(copied, 'folder.mark')).mode & 0o777).toBe(0o600)
})

function copyByTar(from: string, to: string): void {
  mkdirSync(to)
  run(['sh', '-c', `tar -C '${from}' -cf - . | tar -C '${to}' -xpf -`])
}

test('a backup of a folder without a mark is quiet after it is restored', () => {
  using root = temporaryFolder()
  const folder = join(root.path, 'data')
  mkdirSync(folder)
  openDatabase(join(folder, 'tagwarden.db')).close()
  markRestored(folder, 'early')
  expect(start(folder).reason).toBe('the data folder was restored from the backup early')
})

test('the mark contains no id of the machine', () => {
  using root = temporaryFolder()
  start(root.path)
  expect(Object.keys(JSON.parse(readFileSync(join(root.path, 'folder.mark'), 'utf8'))).sort()).toEqual([
    'born',
    'inode',
    'machine',
    'mark',
  ])
})
