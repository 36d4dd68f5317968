import type { BackupFile, BackupManifest } from './backup-manifest.ts'
import type { SnapshotFile } from './take-snapshot.ts'

/** Where backups are stored: a folder, or a bucket of an S3-compatible service. */
export interface BackupPlace {
  /** The folder or address, without credentials. */
  readonly title: string
  /** Names of the complete backups, oldest first. */
  names(): Promise<string[]>
  /** Reads the list of a backup's files. Throws `BackupDamage`. */
  manifest(name: string): Promise<BackupManifest>
  /** Reads a file of a backup. Throws `BackupDamage` if it is missing. */
  read(name: string, file: BackupFile): AsyncIterable<Uint8Array>
  /** Identifies the stored bytes of a file, which several backups may share. */
  identityOf(name: string, file: BackupFile): string
  /** Starts a backup. It becomes visible only when it is complete. */
  begin(name: string, serverId: string | null): Promise<BackupDraft>
  /** Deletes a backup, except the files that other backups use. */
  remove(name: string): Promise<void>
}

/** A backup that is being written. */
export interface BackupDraft {
  /**
   * Stores a file and returns its checksum and the number of bytes written.
   * @param earlier the same file in an earlier backup, if it has not changed since
   */
  add(
    file: SnapshotFile,
    earlier: { name: string; file: BackupFile } | null,
  ): Promise<{ sha256: string; added: number }>
  /** Completes the backup. */
  finish(manifest: BackupManifest): Promise<void>
  /** Deletes what was written. */
  discard(): Promise<void>
}
