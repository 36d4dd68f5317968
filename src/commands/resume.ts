import { existsSync } from 'node:fs'
import { systemClock } from '../core/clock.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import { checkDatabase } from '../data-folder/open-folder.ts'
import { type Db, openBeside, openDatabase } from '../store/database.ts'
import { FolderInUse, lockFolder } from '../store/folder-lock.ts'
import { checkFolderMark, resumeSending } from '../store/folder-mark.ts'
import { type Command, UsageError } from './command.ts'
import { configOf, DATA_FLAG } from './command-line-settings.ts'

export const resume: Command = {
  name: 'resume',
  summary:
    'Lets the server of a restored or copied data folder send notifications again. Run it on one of the copies only.',
  flags: { ...DATA_FLAG, json: { type: 'boolean', meaning: 'Print {wasQuiet} as JSON' } },
  async run(invocation) {
    const { data } = configOf(invocation)
    const paths = folderPaths(data)
    if (!existsSync(paths.database)) throw new UsageError(`resume: data folder not found: ${data}`)
    const { db, close } = open(data)
    try {
      const wasQuiet = checkFolderMark(db, data, systemClock.now()) !== null
      if (wasQuiet) resumeSending(db, data)
      if (invocation.flags.json) console.log(JSON.stringify({ wasQuiet }))
      else
        console.log(
          wasQuiet
            ? 'The server sends notifications again, including those that were due in the meantime.'
            : 'This data folder is not a copy. Nothing was changed.',
        )
      return 0
    } finally {
      close()
    }
  },
}

/** Opens the database, also while the server is running. */
function open(data: string): { db: Db; close(): void } {
  const paths = folderPaths(data)
  try {
    const unlock = lockFolder(data)
    checkDatabase(paths)
    const db = openDatabase(paths.database, console.error)
    return {
      db,
      close() {
        db.close()
        unlock()
      },
    }
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    const db = openBeside(paths.database)
    if (!db) throw new UsageError('resume: the running server has another version')
    return { db, close: () => db.close() }
  }
}
