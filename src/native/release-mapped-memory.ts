import { FFIType } from 'bun:ffi'
import { readFileSync } from 'node:fs'
import { openLibc } from '../core/libc.ts'

// Optimisation: see docs/develop/tuning.md
/** https://man7.org/linux/man-pages/man2/madvise.2.html */
const MADV_DONTNEED = 4
/** Smaller mappings are skipped. */
const MIN_KB = 256

/** A memory mapping of a file. */
export interface FileMapping {
  from: bigint
  to: bigint
  file: string
}

/** Libraries stay mapped until the program ends. Address ranges of other files may be reused at any time. */
const LIBRARY = /\.(?:node|so(?:\.\d+)*)$/

const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \d+\s*(.*)$/

/**
 * Returns the read-only mappings of `program` and its libraries that have no modified pages. All of their pages can be
 * read from the file again.
 * @param smaps content of `/proc/PID/smaps` (https://man7.org/linux/man-pages/man5/proc_pid_smaps.5.html)
 */
export function untouchedMappings(smaps: string, program: string): FileMapping[] {
  const found: FileMapping[] = []
  let mapping: FileMapping | null = null
  let residentKb = 0
  for (const line of smaps.split('\n')) {
    const head = MAPPING.exec(line)
    if (head) {
      const [, from, to, access = '', file = ''] = head
      const isLasting = file === program || LIBRARY.test(file)
      mapping = isLasting && /^r-.p$/.test(access) ? { from: BigInt(`0x${from}`), to: BigInt(`0x${to}`), file } : null
      continue
    }
    const [, field, kb] = /^(Rss|Anonymous): +(\d+) kB$/.exec(line) ?? []
    if (field === 'Rss') residentKb = Number(kb)
    // Modified pages, such as those with relocations, would be lost.
    if (field === 'Anonymous' && kb === '0' && mapping && residentKb >= MIN_KB) found.push(mapping)
  }
  return found
}

/**
 * Releases memory pages of the program and its libraries, most of which are needed only at startup. The pages remain in
 * the system's file cache and are mapped again when used. Takes about 5 ms. Has no effect on systems other than Linux.
 */
export function releaseFilePages(): void {
  const libc = openLibc({ madvise: { args: [FFIType.u64, FFIType.u64, FFIType.i32], returns: FFIType.i32 } })
  if (libc === null) return
  for (const { from, to } of untouchedMappings(readFileSync('/proc/self/smaps', 'utf8'), process.execPath))
    libc.symbols.madvise(from, to - from, MADV_DONTNEED)
  libc.close()
}
