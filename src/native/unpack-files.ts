import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { messageOf } from '../core/error.ts'
import { writeWhole } from '../store/private-file.ts'

/** A file to unpack. */
export interface PackedFile {
  /** Name on disk. */
  name: string
  /** Path of the file's content, compressed with Zstandard. */
  source: string
  /** Uncompressed size. */
  bytes: number
}

export interface CacheFolders {
  /** Folders in which files are kept between starts, in order of preference. */
  folders: readonly string[]
  /** Parent of the temporary folder, which is used for a single start. */
  spare: string
}

/** Returns the user's cache folder and the system's temporary folder. */
export function cacheFolders({ XDG_CACHE_HOME: cache = '' }: NodeJS.ProcessEnv): CacheFolders {
  const own = isAbsolute(cache) ? cache : join(homedir(), '.cache')
  return { folders: [join(own, 'tagwarden'), join(tmpdir(), `tagwarden-${userId()}`)], spare: tmpdir() }
}

/**
 * Writes the files to `<folder>/<version>` in the first usable folder, and returns the result of `use` for that path.
 * Files are written atomically, and only to folders that no other user can write to, so existing files of the right
 * size are reused. If no folder is usable, a temporary folder is created in `spare` and removed afterwards. If this
 * fails as well, throws an error with the reasons for all folders.
 */
export function unpack<T>(
  files: readonly PackedFile[],
  version: string,
  { folders, spare }: CacheFolders,
  use: (folder: string) => T,
): T {
  const reasons: string[] = []
  const attempt = (folder: string, prepare: () => void): { result: T } | null => {
    try {
      prepare()
      for (const file of files) writeUnlessPresent(file, folder)
      return { result: use(folder) }
    } catch (error) {
      // The disk is full, another user owns the folder, or the file system is mounted with `noexec`. The next folder
      // may work.
      reasons.push(`${folder}: ${messageOf(error)}`)
      return null
    }
  }
  for (const base of folders) {
    const folder = join(base, version)
    const used = attempt(folder, () => {
      for (const path of [base, folder]) ensurePrivateFolder(path)
    })
    if (used) return used.result
  }
  const own = mkdtempSync(join(spare, 'tagwarden-'))
  try {
    const used = attempt(own, () => undefined)
    if (used) return used.result
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
  throw new Error(`the bundled libraries could not be unpacked to any folder: ${reasons.join('; ')}`)
}

/**
 * Creates the folder if it does not exist. Throws if another user can write to it, because its files are loaded as
 * code.
 */
function ensurePrivateFolder(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  }
  const found = lstatSync(path)
  if (!found.isDirectory()) throw new Error('not a folder')
  // On Windows, a folder in the user's profile has the permissions of the profile, and these fields are not set.
  if (process.platform === 'win32') return
  if (found.uid !== userId()) throw new Error('owned by another user')
  if ((found.mode & 0o022) !== 0) throw new Error('writable by other users')
}

function writeUnlessPresent({ name, source, bytes }: PackedFile, folder: string): void {
  const path = join(folder, name)
  if (lstatSync(path, { throwIfNoEntry: false })?.size === bytes) return
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    // The file is synced before it is renamed. Otherwise, a power cut could leave a file of the right size without its
    // content.
    writeWhole(draft, Bun.zstdDecompressSync(readFileSync(source)), 0o700)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

function userId(): number {
  return process.getuid?.() ?? 0
}
