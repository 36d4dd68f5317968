import { loadAddon } from './load-addon.ts'

/** DuckDB's bindings in the executable. `build.ts` replaces `@duckdb/node-bindings` with this module. */
export default loadAddon('duckdb')
