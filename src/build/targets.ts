import { openLibc } from '../core/libc.ts'

/** A platform for which the executable can be built. */
export interface Target {
  /** Value of `Bun.build`'s `compile.target`. */
  compile: Bun.Build.CompileTarget
  /** npm package with the runtime, and the path of the runtime in it. */
  runtime: NativeFile
  /** Files of the native addons; the addon itself is the last one. DuckDB's addon looks for its library by file name. */
  addons: { sqlite: readonly NativeFile[]; duckdb: readonly NativeFile[] }
  /** Extension of the executable; empty except on Windows. */
  extension: string
}

/** A file in an npm package. */
export interface NativeFile {
  package: string
  path: string
}

interface TargetParts {
  compile: Bun.Build.CompileTarget
  bun: string
  sqlite: string
  duckdb: string
  library: string
}

function target({ compile, bun, sqlite, duckdb, library }: TargetParts): Target {
  const extension = compile.startsWith('bun-windows') ? '.exe' : ''
  const bindings = `@duckdb/node-bindings-${duckdb}`
  return {
    compile,
    runtime: { package: `@oven/bun-${bun}`, path: `bin/bun${extension}` },
    addons: {
      sqlite: [{ package: 'better-sqlite3', path: `prebuilds/${sqlite}.node` }],
      duckdb: [
        { package: bindings, path: library },
        { package: bindings, path: 'duckdb.node' },
      ],
    },
    extension,
  }
}

/** All targets by name. */
export const TARGETS = {
  'linux-x64': target({
    compile: 'bun-linux-x64',
    bun: 'linux-x64',
    sqlite: 'linux-x64',
    duckdb: 'linux-x64',
    library: 'libduckdb.so',
  }),
  'linux-arm64': target({
    compile: 'bun-linux-arm64',
    bun: 'linux-aarch64',
    sqlite: 'linux-arm64',
    duckdb: 'linux-arm64',
    library: 'libduckdb.so',
  }),
  'linux-x64-musl': target({
    compile: 'bun-linux-x64-musl',
    bun: 'linux-x64-musl',
    sqlite: 'linuxmusl-x64',
    duckdb: 'linux-x64-musl',
    library: 'libduckdb.so',
  }),
  'linux-arm64-musl': target({
    compile: 'bun-linux-arm64-musl',
    bun: 'linux-aarch64-musl',
    sqlite: 'linuxmusl-arm64',
    duckdb: 'linux-arm64-musl',
    library: 'libduckdb.so',
  }),
  'darwin-arm64': target({
    compile: 'bun-darwin-arm64',
    bun: 'darwin-aarch64',
    sqlite: 'darwin-arm64',
    duckdb: 'darwin-arm64',
    library: 'libduckdb.dylib',
  }),
  'darwin-x64': target({
    compile: 'bun-darwin-x64',
    bun: 'darwin-x64',
    sqlite: 'darwin-x64',
    duckdb: 'darwin-x64',
    library: 'libduckdb.dylib',
  }),
  'windows-x64': target({
    compile: 'bun-windows-x64',
    bun: 'windows-x64',
    sqlite: 'win32-x64',
    duckdb: 'win32-x64',
    library: 'duckdb.dll',
  }),
} as const satisfies Record<string, Target>

export type TargetName = keyof typeof TARGETS

const isMusl = () =>
  process.platform === 'linux' && openLibc({ gnu_get_libc_version: { args: [], returns: 'cstring' } }) === null

/** Returns the target of the machine that runs this program; null if there is none. */
export function hostTarget(): TargetName | null {
  const os = process.platform === 'win32' ? 'windows' : process.platform
  const name = `${os}-${process.arch}${isMusl() ? '-musl' : ''}`
  return name in TARGETS ? (name as TargetName) : null
}
