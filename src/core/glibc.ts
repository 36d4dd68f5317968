/**
 * Minimum glibc version for the native libraries in the executable. better-sqlite3's addon has the highest requirement.
 */
export const GLIBC_MIN = '2.34'

/** Returns an error message if this glibc version is too old; null if it is supported. */
export function glibcFault(version: string): string | null {
  if (Bun.semver.order(`${version}.0`, `${GLIBC_MIN}.0`) >= 0) return null
  return `this machine has glibc ${version}; glibc ${GLIBC_MIN} or later is required (Debian 12, Ubuntu 22.04, RHEL 9 or later)`
}
