import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { messageOf } from '../core/error.ts'
import { writeWhole } from '../store/private-file.ts'

/** A file to be on disk: its name there, and the path to read it from. */
export interface Packed {
  name: string
  source: string
}

export interface CacheFolders {
  /** Where files may stay from one start to the next, best first. */
  folders: readonly string[]
  /** Where a folder for one start may be made. */
  spare: string
}

/** The user's cache folder, then the system's one for temporary files. */
export function cacheFolders({ XDG_CACHE_HOME: cache = '' }: NodeJS.ProcessEnv): CacheFolders {
  const own = isAbsolute(cache) ? cache : join(homedir(), '.cache')
  return { folders: [join(own, 'tagwarden'), join(tmpdir(), `tagwarden-${userId()}`)], spare: tmpdir() }
}

/**
 * Puts the files side by side into `<folder>/<version>` of the first folder that will do, and answers what `use` makes
 * of that path. Files that are there already are kept: each appears whole or not at all, and only in folders that
 * nobody else can write to. Where none of them will do, a folder is made in `spare` and removed after its use. Fails
 * with all reasons when that will not do either.
 */
export function unpack<T>(
  files: readonly Packed[],
  version: string,
  { folders, spare }: CacheFolders,
  use: (folder: string) => T,
): T {
  const reasons: string[] = []
  const attempt = (folder: string, take: () => void): { result: T } | null => {
    try {
      take()
      for (const file of files) place(file, folder)
      return { result: use(folder) }
    } catch (error) {
      // A full disk, somebody else's folder, a file system that executes nothing: the next folder may do.
      reasons.push(`${folder}: ${messageOf(error)}`)
      return null
    }
  }
  for (const base of folders) {
    const folder = join(base, version)
    const used = attempt(folder, () => {
      for (const path of [base, folder]) takeFolder(path)
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
  throw new Error(`no folder takes the libraries of this program: ${reasons.join('; ')}`)
}

/** What lies in the folder becomes part of this process, so nobody else may be able to put it there. */
function takeFolder(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  }
  const found = lstatSync(path)
  if (!found.isDirectory()) throw new Error('it is no folder')
  if (found.uid !== userId()) throw new Error('it belongs to another user')
  if ((found.mode & 0o022) !== 0) throw new Error('other users can write to it')
}

function place({ name, source }: Packed, folder: string): void {
  const path = join(folder, name)
  if (lstatSync(path, { throwIfNoEntry: false })?.size === statSync(source).size) return
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    // A file whose name outlived a power cut and whose content did not would stand in the way forever.
    writeWhole(draft, readFileSync(source), 0o700)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

function userId(): number {
  return process.getuid?.() ?? 0
}
