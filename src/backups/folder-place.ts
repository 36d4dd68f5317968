import { createReadStream, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { open, rename, rm, utimes } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { syncFolder, writeWhole } from '../store/private-file.ts'
import { BackupDamage, CHECKSUM_FILE, MANIFEST_FILE, readManifest, writeManifest } from './backup-manifest.ts'
import type { BackupDraft, BackupPlace } from './backup-place.ts'
import type { SnapshotFile } from './take-snapshot.ts'

/** Folders of backups that are not complete or are being deleted. */
const HIDDEN = '.unfinished-'

/**
 * Backups in a folder: each is a folder with the same structure as the data folder. Files that did not change are hard
 * links to the previous backup, or to the data folder if it is on the same file system.
 */
export function folderPlace(path: string): BackupPlace {
  const folder = resolve(path)
  const of = (name: string, file = '') => join(folder, name, file)
  const whole = (name: string, file: string) => {
    if (!existsSync(of(name, file))) throw new BackupDamage(`${file} is missing`)
    return readFileSync(of(name, file), 'utf8')
  }
  return {
    title: folder,
    async names() {
      const names = existsSync(folder) ? readdirSync(folder) : []
      return names.filter((name) => !name.startsWith('.') && isBackupFolder(of(name))).toSorted()
    },
    manifest: async (name) => readManifest(whole(name, MANIFEST_FILE), whole(name, CHECKSUM_FILE)),
    async *read(name, { path }) {
      if (!existsSync(of(name, path))) throw new BackupDamage(`${path} is missing`)
      yield* createReadStream(of(name, path), { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Uint8Array>
    },
    identityOf(name, { path }) {
      const found = statSync(of(name, path), { throwIfNoEntry: false })
      return found ? `${found.dev}:${found.ino}` : of(name, path)
    },
    async begin(name, serverId) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const own = `${HIDDEN}${serverId ?? 'unknown'}-`
      for (const left of readdirSync(folder).filter((name) => name.startsWith(own)))
        await rm(of(left), { recursive: true, force: true })
      mkdirSync(of(own + name), { mode: 0o700 })
      return folderDraft({ draft: of(own + name), final: of(name), earlierOf: of })
    },
    async remove(name) {
      const hidden = of(`${HIDDEN}deleted-${name}`)
      // A backup that is deleted only in part would look damaged.
      await rename(of(name), hidden)
      await rm(hidden, { recursive: true, force: true })
    },
  }
}

const CHUNK_BYTES = 2 ** 20

function folderDraft({
  draft,
  final,
  earlierOf,
}: {
  draft: string
  final: string
  earlierOf(name: string, file: string): string
}): BackupDraft {
  const folders = new Set([draft])
  const targetOf = (path: string) => {
    const target = join(draft, path)
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    for (let at = dirname(target); at !== draft; at = dirname(at)) folders.add(at)
    return target
  }
  return {
    async add(file, earlier) {
      const target = targetOf(file.path)
      // Shares the bytes of the data folder, so that a damaged copy in an earlier backup is not spread.
      if (isLinked(file.source, target)) {
        return { sha256: earlier?.file.sha256 ?? (await hashOf(target)), added: file.isLink ? 0 : file.bytes }
      }
      if (earlier) {
        const copy = earlierOf(earlier.name, file.path)
        const isWhole = statSync(copy, { throwIfNoEntry: false })?.size === file.bytes
        if (isWhole && isLinked(copy, target)) return { sha256: earlier.file.sha256, added: 0 }
      }
      return await copyTo(target, file)
    },
    async finish(manifest) {
      const { json, checksum } = writeManifest(manifest)
      writeWhole(join(draft, CHECKSUM_FILE), Buffer.from(checksum))
      writeWhole(join(draft, MANIFEST_FILE), Buffer.from(json))
      for (const folder of folders) syncFolder(folder)
      await rename(draft, final)
      syncFolder(dirname(final))
    },
    discard: () => rm(draft, { recursive: true, force: true }),
  }
}

/** Returns false if the file system does not support the link, or if the file does not exist any more. */
function isLinked(source: string, target: string): boolean {
  try {
    linkSync(source, target)
    return true
  } catch (error) {
    if (NO_LINK.has(String((error as { code?: string }).code))) return false
    throw error
  }
}

const NO_LINK = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'ENOSYS', 'ENOENT'])

async function hashOf(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  const file = await open(path, 'r')
  try {
    for await (const chunk of file.createReadStream({ highWaterMark: CHUNK_BYTES, autoClose: false }))
      hash.update(chunk)
    await file.sync()
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}

async function copyTo(
  target: string,
  { source, modifiedAt }: SnapshotFile,
): Promise<{ sha256: string; added: number }> {
  const hash = new Bun.CryptoHasher('sha256')
  let added = 0
  const file = await open(target, 'wx', 0o600)
  try {
    for await (const chunk of createReadStream(source, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Uint8Array>) {
      hash.update(chunk)
      for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten
      added += chunk.length
    }
    await file.sync()
  } finally {
    await file.close()
  }
  await utimes(target, modifiedAt / 1000, modifiedAt / 1000)
  return { sha256: hash.digest('hex'), added }
}

/** True if the path is that of a single backup. */
export function isBackupFolder(path: string): boolean {
  return [MANIFEST_FILE, CHECKSUM_FILE].some((file) => existsSync(join(path, file)))
}
