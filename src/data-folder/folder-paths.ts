import { join } from 'node:path'

/** Paths in a data folder. */
export interface FolderPaths {
  folder: string
  database: string
  key: string
  events: string
  spool: string
  /** Batches waiting to be judged. */
  late: string
  /** Screenshots and HAR files, one folder per run. */
  runs: string
  /** Profiles of running browsers; disposable afterwards. */
  browsers: string
}

export function folderPaths(folder: string): FolderPaths {
  return {
    folder,
    database: join(folder, 'tagwarden.db'),
    key: join(folder, 'master.key'),
    events: join(folder, 'events'),
    spool: join(folder, 'spool'),
    late: join(folder, 'spool/late'),
    runs: join(folder, 'runs'),
    browsers: join(folder, 'browsers'),
  }
}
