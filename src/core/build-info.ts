import { version } from '../../package.json'

declare const BUILD_COMMIT: string | undefined
declare const BUILD_DATE: string | undefined

/** What was built. */
export interface BuildInfo {
  version: string
  /** Hash of the commit, followed by `-modified` if files had been changed; null when run from source. */
  commit: string | null
  /** Day of the commit in UTC, such as `2026-11-28`; null when run from source. */
  date: string | null
}

/** Returns the version with its commit: `0.1.0 (commit 0123456789ab, 2026-11-28)`, or `0.1.0 (from source)`. */
export function versionText(): string {
  const { version, commit, date } = buildInfo
  if (commit === null) return `${version} (from source)`
  return `${version} (commit ${commit}${date === null ? '' : `, ${date}`})`
}

/** The build that is running. `build.ts` defines the two constants. */
export const buildInfo: BuildInfo = {
  version,
  commit: typeof BUILD_COMMIT === 'undefined' ? null : BUILD_COMMIT,
  date: typeof BUILD_DATE === 'undefined' ? null : BUILD_DATE,
}
