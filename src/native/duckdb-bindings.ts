import { basename, join } from 'node:path'
import addon from '@duckdb/node-bindings-linux-x64/duckdb.node' with { type: 'file' }
import library from '@duckdb/node-bindings-linux-x64/libduckdb.so' with { type: 'file' }
import { messageOf } from '../core/error.ts'
import { cacheFolders, unpack } from './unpack.ts'

/**
 * DuckDB's bindings inside the executable, where `build.ts` puts this module in the place of `@duckdb/node-bindings`.
 * The system's loader opens files on disk only, and finds the library beside the addon under its own name.
 */
const files = [
  { name: 'libduckdb.so', source: library },
  { name: 'duckdb.node', source: addon },
]

/** The embedded files are named after their content. */
const version = files.map(({ source }) => basename(source)).join('-')

function load(): object {
  try {
    return unpack(files, version, cacheFolders(process.env), (folder) => {
      const module = { exports: {} }
      process.dlopen(module, join(folder, 'duckdb.node'))
      return module.exports
    })
  } catch (error) {
    // Nothing else of the program is loaded yet that could say so.
    console.error(`tagwarden: ${messageOf(error)}`)
    process.exit(1)
  }
}

export default load()
