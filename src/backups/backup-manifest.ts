import type { Instant } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { Closed, InstantSchema, Int, Nullable, parser, type Static, Type } from '../core/schema.ts'

const BackupFileSchema = Closed({
  /** Path in the data folder, with `/` between folders. */
  path: Type.String({
    pattern: String.raw`^(?:tagwarden\.db|master\.key|(?:events|spool|runs)(?:/[\w-][\w.-]*)+)$`,
    maxLength: 300,
  }),
  bytes: Int({ minimum: 0 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** Time of the last change in the data folder. An unchanged file is not read again by later backups. */
  modifiedAt: Type.Number({ minimum: 0 }),
})

const ManifestSchema = Closed({
  format: Type.Literal(1),
  name: Type.String({ pattern: String.raw`^[\w-]+$`, maxLength: 60 }),
  /** Null for a folder that no server has opened since this was introduced. */
  serverId: Nullable(Type.String()),
  /** Version of the program that made the backup, and schema of the database. */
  version: Type.String(),
  schema: Int({ minimum: 0 }),
  createdAt: InstantSchema,
  /** Event files that the database lists but that were missing from the data folder. */
  missing: Type.Array(Type.String()),
  files: Type.Array(BackupFileSchema),
})

const parseManifest = parser(ManifestSchema)

/** One file of a backup. */
export type BackupFile = Static<typeof BackupFileSchema>
/** The list of a backup's files with their checksums, stored next to them as `backup.json`. */
export type BackupManifest = Static<typeof ManifestSchema>

export const MANIFEST_FILE = 'backup.json'
/** Contains the checksum of `backup.json`, in the format of `sha256sum`. */
export const CHECKSUM_FILE = 'backup.json.sha256'

/** A backup, or one of its files, is damaged or incomplete. The message names the file. */
export class BackupDamage extends Error {
  override readonly name = 'BackupDamage'
}

/** Returns the name of a backup that is made now. Names sort by time. */
export function backupName(now: Instant): string {
  return new Date(now).toISOString().replaceAll(/[:.]/g, '-')
}

const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')

/** Returns the contents of `backup.json` and of its checksum file. */
export function writeManifest(manifest: BackupManifest): { json: string; checksum: string } {
  const files = manifest.files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const lines = files.map((file) => `\n${JSON.stringify(file)}`).join(',')
  const json = `${JSON.stringify({ ...manifest, files: [] }).slice(0, -2)}${lines}\n]}\n`
  return { json, checksum: `${sha256(json)}  ${MANIFEST_FILE}\n` }
}

/** Reads the contents of the two files. Throws `BackupDamage` if they don't match or are not a manifest. */
export function readManifest(json: string, checksum: string): BackupManifest {
  if (checksum !== `${sha256(json)}  ${MANIFEST_FILE}\n`)
    throw new BackupDamage(
      `${MANIFEST_FILE} does not match its checksum in ${CHECKSUM_FILE}; one of the two is damaged`,
    )
  const manifest = JSON.parse(json) as BackupManifest
  if (manifest.format !== 1) throw new BackupDamage(`${MANIFEST_FILE} was written by a newer version of Tagwarden`)
  try {
    return parseManifest(manifest)
  } catch (error) {
    throw new BackupDamage(`${MANIFEST_FILE} is not the list of a backup: ${messageOf(error)}`)
  }
}
