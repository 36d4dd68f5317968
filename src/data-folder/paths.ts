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
    browsers: join(folder, 'browsers'),
