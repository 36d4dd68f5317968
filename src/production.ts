import { FFIType } from 'bun:ffi'
import { glibcFault } from './core/glibc.ts'
import { openLibc } from './core/libc.ts'

// Elysia reads this variable when it is loaded. In other modes, its error messages quote the request, and building such
// a message can fail on a malicious body.
process.env.NODE_ENV = 'production'

// Optimisation: see docs/develop/tuning.md

/**
 * Number of runtime threads for file access and queries. The default is the number of CPU cores, with which two long
 * queries could block all other queries and every `fdatasync`.
 */
const WORKERS = '16'

// The runtime reads the variable from the process environment, which `process.env` does not modify. When run from
// source, the threads are created before this line, so `run` sets the variable.
const cText = (text: string) => Buffer.from(`${text}\0`)
const UNLESS_SET = 0
openLibc({
  setenv: { args: [FFIType.cstring, FFIType.cstring, FFIType.i32], returns: FFIType.i32 },
})?.symbols.setenv(cText('UV_THREADPOOL_SIZE'), cText(WORKERS), UNLESS_SET)

const glibc = openLibc({ gnu_get_libc_version: { args: [], returns: FFIType.cstring } })
const fault = glibc === null ? null : glibcFault(String(glibc.symbols.gnu_get_libc_version()))
if (fault !== null) {
  console.error(`tagwarden: ${fault}`)
  process.exit(1)
}
