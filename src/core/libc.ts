import { dlopen, type FFIFunction } from 'bun:ffi'

const MUSL_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' }

/** File names of the C library on Linux: of glibc, and of musl. */
const NAMES = ['libc.so.6', `libc.musl-${MUSL_ARCHITECTURES[process.arch]}.so.1`]

/** Opens the C library. Returns null on systems other than Linux, and if a symbol is missing. */
export function openLibc<Symbols extends Record<string, FFIFunction>>(symbols: Symbols) {
  if (process.platform !== 'linux') return null
  for (const name of NAMES) {
    try {
      return dlopen(name, symbols)
    } catch {
      // The other C library, or an older version.
    }
  }
  return null
}
