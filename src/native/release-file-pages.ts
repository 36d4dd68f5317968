import { dlopen, FFIType } from 'bun:ffi'
import { readFileSync } from 'node:fs'

/** https://man7.org/linux/man-pages/man2/madvise.2.html */
const MADV_DONTNEED = 4
/** Smaller ones are not worth the call. */
const LEAST_KB = 256

/** Memory into which a file is mapped. */
export interface FileMapping {
  from: bigint
  to: bigint
  file: string
}

/** Libraries stay mapped until the program ends, other files do not: their addresses may be somebody else's a moment later. */
const LIBRARY = /\.(?:node|so(?:\.\d+)*)$/

const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \d+\s*(.*)$/

/**
 * Returns the mappings of `program` and of libraries that can only be read and have nothing of their own in memory, so that
 * all of it can be read again from the file. `smaps`: the text of `/proc/PID/smaps` (https://man7.org/linux/man-pages/man5/proc_pid_smaps.5.html).
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
    // Relocations, for example, are pages of a file that were changed: they would be lost.
    if (field === 'Anonymous' && kb === '0' && mapping && residentKb >= LEAST_KB) found.push(mapping)
  }
  return found
}

/**
 * Gives back to the system the pages of the program and its libraries that were read from their files, most of which only the
 * start needs. They stay in the system's cache of files, and each that is used again is mapped again. Takes about 5 ms; does
 * nothing where the system is not Linux.
 */
export function releaseFilePages(): void {
  if (process.platform !== 'linux') return
  const { symbols, close } = dlopen('libc.so.6', {
    madvise: { args: [FFIType.u64, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
  })
  for (const { from, to } of untouchedMappings(readFileSync('/proc/self/smaps', 'utf8'), process.execPath))
    symbols.madvise(from, to - from, MADV_DONTNEED)
  close()
}
