import { dlopen, FFIType } from 'bun:ffi'
import { glibcFault } from './core/glibc.ts'

// Elysia reads this when it is loaded. Anywhere but in production its error messages quote what was sent, and a hostile
// body can make building such a message fail.
process.env.NODE_ENV = 'production'

/**
 * Threads of the runtime for what is not done in the event loop: files, and each query as long as it takes. By default as
 * many as there are cores, so that two long queries would keep every other query and every `fdatasync` waiting.
 */
const WORKERS = '16'

// The runtime reads it from the process itself, where `process.env` does not write. From the sources its threads are there
// before this: `run` sets it.
if (process.platform === 'linux') {
  const { symbols } = dlopen('libc.so.6', {
    gnu_get_libc_version: { args: [], returns: FFIType.cstring },
    setenv: { args: [FFIType.cstring, FFIType.cstring, FFIType.i32], returns: FFIType.i32 },
  })
  const fault = glibcFault(String(symbols.gnu_get_libc_version()))
  if (fault !== null) {
    console.error(`tagwarden: ${fault}`)
    process.exit(1)
  }
  const cText = (text: string) => Buffer.from(`${text}\0`)
  const UNLESS_SET = 0
  symbols.setenv(cText('UV_THREADPOOL_SIZE'), cText(WORKERS), UNLESS_SET)
}
