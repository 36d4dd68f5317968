/** Lowest glibc with which every native library in the executable loads; better-sqlite3's addon needs the most. */
export const GLIBC_MIN = '2.34'

/** Returns why the program can't run with this version of glibc, as a sentence; null when it can. */
export function glibcFault(version: string): string | null {
  if (Bun.semver.order(`${version}.0`, `${GLIBC_MIN}.0`) >= 0) return null
  return `this machine has glibc ${version}; glibc ${GLIBC_MIN} or later is required (Debian 12, Ubuntu 22.04, RHEL 9 or later)`
}
