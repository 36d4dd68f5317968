import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../run-program.ts'

/** A disk for a data folder that can be filled and freed while a process runs. */
export interface SmallDisk {
  data: string
  /** Fills the disk, so that the process can store almost nothing. */
  fill(pid: number): void
  makeRoom(pid: number): void
  [Symbol.dispose](): void
}

const DISK_BYTES = 24 * 1024 * 1024
const LEFT_BYTES = 1024 * 1024

function command(...args: string[]): boolean {
  try {
    return Bun.spawnSync(args, { stdout: 'ignore', stderr: 'ignore' }).success
  } catch (error) {
    // The command is not installed.
    if ((error as { code?: string }).code === 'ENOENT') return false
    throw error
  }
}

/**
 * Creates a separate in-memory file system that can be filled with a large file. Null where mounting is not allowed.
 */
export function smallFileSystem(): SmallDisk | null {
  const folder = temporaryFolder()
  if (!command('mount', '-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder.path)) {
    folder[Symbol.dispose]()
    return null
  }
  const ballast = join(folder.path, 'ballast')
  return {
    data: join(folder.path, 'data'),
    fill() {
      const { bavail, bsize } = statfsSync(folder.path)
      writeFileSync(ballast, Buffer.alloc(bavail * bsize - LEFT_BYTES))
    },
    makeRoom: () => rmSync(ballast),
    [Symbol.dispose]() {
      command('umount', '-l', folder.path)
      folder[Symbol.dispose]()
    },
  }
}

/**
 * Limits the file size of the running process, so that no file can grow beyond the limit. Null where `prlimit` is
 * missing.
 */
export function limitedFiles(): SmallDisk | null {
  if (!command('prlimit', '--version')) return null
  const folder = temporaryFolder()
  const limit = (pid: number, bytes: string) => command('prlimit', '--pid', `${pid}`, `--fsize=${bytes}:`)
  return {
    data: join(folder.path, 'data'),
    fill(pid) {
      if (!limit(pid, `${LEFT_BYTES}`)) throw new Error('prlimit failed')
    },
    makeRoom(pid) {
      // The limit disappears when the process exits.
      limit(pid, 'unlimited')
    },
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}
