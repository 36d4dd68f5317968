import { join } from 'node:path'

/** The paths in a data folder. */
export interface FolderPaths {
  folder: string
  database: string
  key: string
  events: string
  spool: string
  /** Batches that wait to be judged. */
  late: string
  /** Screenshots and HARs, in a folder for each run. */
  runs: string
  /** Profiles of browsers that run; of no value afterwards. */
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
