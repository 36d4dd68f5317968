import { join } from 'node:path'

/** Paths within a data folder. */
export interface FolderPaths {
  folder: string
  database: string
  key: string
  events: string
  spool: string
  /** Batches that collectors have claimed. */
  claims: string
  /** Batches that are waiting for evaluation. */
  late: string
  /** Segments of a collector that could not be stored. */
  rejected: string
  /** Screenshots and HAR files, with one folder per run. */
  runs: string
  /** Profiles of running browsers. They can be deleted when no browser is running. */
  browsers: string
  /** Files that the running backup uses. They can be deleted when no backup is running. */
  backupDraft: string
  /** Backups for which no other place is configured. */
  backups: string
}

export function folderPaths(folder: string): FolderPaths {
  return {
    folder,
    database: join(folder, 'tagwarden.db'),
    key: join(folder, 'master.key'),
    events: join(folder, 'events'),
    spool: join(folder, 'spool'),
    claims: join(folder, 'claims.sqlite'),
    late: join(folder, 'spool/late'),
    rejected: join(folder, 'rejected'),
    runs: join(folder, 'runs'),
    browsers: join(folder, 'browsers'),
    backupDraft: join(folder, 'backup-draft'),
    backups: join(folder, 'backups'),
  }
}
