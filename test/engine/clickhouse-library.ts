import { dirname, join } from 'node:path'

/** Path of the library in the package `chdb`. Throws if there is none for this platform. */
export function clickhouseLibrary(): string {
  const platform = `${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`
  return join(dirname(Bun.resolveSync(`@chdb/lib-${platform}/package.json`, import.meta.dir)), 'libchdb.so')
}
