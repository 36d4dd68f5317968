import { CString, dlopen, FFIType, type Pointer, ptr } from 'bun:ffi'
import { clickhouseLibrary } from './clickhouse-library.ts'

/*
 * Runs `clickhouse local` with the arguments of this process. The package `chdb` contains it as a library.
 */

const { symbols } = dlopen(clickhouseLibrary(), {
  chdb_query_cmdline: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.ptr },
  chdb_result_error: { args: [FFIType.ptr], returns: FFIType.ptr },
})
const args = ['clickhouse', ...process.argv.slice(2)].map((arg) => Buffer.from(`${arg}\0`))
const pointers = new BigUint64Array(args.map((arg) => BigInt(ptr(arg))))
const result = symbols.chdb_query_cmdline(args.length, ptr(pointers))
const error = result ? symbols.chdb_result_error(result as Pointer) : null
if (error) throw new Error(String(new CString(error)))
