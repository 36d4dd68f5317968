import { basename, join } from 'node:path'
import addon from '@duckdb/node-bindings-linux-x64/duckdb.node' with { type: 'file' }
import library from '@duckdb/node-bindings-linux-x64/libduckdb.so' with { type: 'file' }
import { cacheFolders, unpack } from './unpack-files.ts'

/**
 * DuckDB's bindings in the executable. `build.ts` replaces `@duckdb/node-bindings` with this module. The system's
 * loader can open only files on disk, and looks for the library next to the addon by file name.
 */
const files = [
  { name: 'libduckdb.so', source: library },
  { name: 'duckdb.node', source: addon },
]

/** The names of embedded files contain hashes of their content. */
const version = files.map(({ source }) => basename(source)).join('-')

export default unpack(files, version, cacheFolders(process.env), (folder) => {
  const module = { exports: {} }
  process.dlopen(module, join(folder, 'duckdb.node'))
  return module.exports
})
