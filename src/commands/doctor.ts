import { existsSync } from 'node:fs'
import { localUrlOf } from '../app/local-url.ts'
import { backupStatus } from '../backups/backup-schedule.ts'
import { findChromium, howToGetChromium } from '../browser/find-chromium.ts'
import type { Config } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { countText, firstFew, timeText } from '../core/text.ts'
import { examine, type Finding } from '../data-folder/examine-folder.ts'
import { type FolderPaths, folderPaths } from '../data-folder/folder-paths.ts'
import { checkDatabase } from '../data-folder/open-folder.ts'
import { type Rebuilt, rebuild } from '../data-folder/rebuild-file-list.ts'
import { forgetLost, type SealedCounts } from '../data-folder/sealed-secrets.ts'
import { openDatabase } from '../store/database.ts'
import { FolderInUse, lockFolder } from '../store/folder-lock.ts'
import { openToRead } from '../store/inspect-database.ts'
import { openCountryFile } from '../visitor/country-file.ts'
import { type Command, UsageError } from './command.ts'
import { configOf, DATA_FLAG } from './command-line-settings.ts'
import { hintsOf } from './serve.ts'

const PROGRESS_AFTER_MS = 2000
const MARKS: Record<Finding['state'], string> = { good: 'ok   ', note: 'note ', wrong: 'WRONG' }

export const doctor: Command = {
  name: 'doctor',
  summary:
    'Checks a data folder and describes what it finds. Exits with 1 when something is wrong. Repairs only what you specify.',
  flags: {
    ...DATA_FLAG,
    rebuild: {
      type: 'boolean',
      meaning: 'Add event files that are missing from the database, and recreate their organizations. Deletes nothing',
    },
    'forget-secrets': {
      type: 'boolean',
      meaning:
        'Continue without the secrets that master.key cannot decrypt: webhooks get new ones, and those of integrations must be entered again',
    },
    json: { type: 'boolean', meaning: 'Print {findings: [{check, state, says}], rebuilt, forgotten} as JSON' },
  },
  async run(invocation) {
    const { flags } = invocation
    const config = configOf(invocation)
    const paths = folderPaths(config.data)
    if (!existsSync(config.data)) throw new UsageError(`doctor: data folder not found: ${config.data}`)
    const unlock = lockUnlessRunning(paths, flags.rebuild === true || flags['forget-secrets'] === true)
    try {
      const forgotten = flags['forget-secrets'] ? forget(paths) : null
      const rebuilt = flags.rebuild ? await rebuild(paths, systemClock, progressOf('added')) : null
      const findings = await examine(paths, { isRunning: unlock === null, progress: progressOf('read') })
      const hints = hintsOf(config, config.publicUrl || localUrlOf(config.listen))
      findings.push(...hints.map((says): Finding => ({ check: 'settings', state: 'note', says })))
      if (findings.some(({ check, state }) => check === 'database' && state === 'good'))
        findings.push(backupFinding(paths, config))
      findings.push(...(await countryFindings(config.countryFile)), chromiumFinding(config.chromium))
      if (flags.json) console.log(JSON.stringify({ findings, rebuilt, forgotten }, null, 2))
      else console.log([...forgottenLines(forgotten), ...rebuiltLines(rebuilt), ...findings.map(lineOf)].join('\n'))
      return findings.some(({ state }) => state === 'wrong') ? 1 : 0
    } finally {
      unlock?.()
    }
  },
}

function chromiumFinding(setting: string): Finding {
  const path = findChromium(setting)
  if (path !== null) return { check: 'settings', state: 'good', says: `flow tests and audits use ${path}` }
  // A missing Chromium is an error only when the setting is given, because a server without flow tests does not need
  // Chromium.
  const state = setting === '' ? 'note' : 'wrong'
  return { check: 'settings', state, says: `flow tests and audits cannot run: ${howToGetChromium(setting)}` }
}

/** The age of the last backup is not an error, because backups can also be made by other programs. */
function backupFinding(paths: FolderPaths, { backupTo, backupSchedule }: Config): Finding {
  const note = (says: string): Finding => ({ check: 'backup', state: 'note', says })
  const db = openToRead(paths.database)
  try {
    const now = systemClock.now()
    const { state, lastSuccess, lastEnded } = backupStatus(db, backupTo === '' ? null : backupSchedule, now)
    const last = lastSuccess ? `the last backup is of ${timeText(lastSuccess.startedAt)}` : 'there is no backup'
    if (state === 'failed') return note(`${last}; the most recent attempt failed: ${lastEnded?.error}`)
    if (state === 'stale') return note(`${last}; later ones are missing`)
    return state === 'none'
      ? note(`${last}; run "tagwarden backup", or set TAGWARDEN_BACKUP_TO`)
      : { check: 'backup', state: 'good', says: last }
  } finally {
    db.close()
  }
}

async function countryFindings(path: string): Promise<Finding[]> {
  if (path === '') return []
  try {
    const { ranges } = await openCountryFile(path)
    const says = `countries of IP addresses are read from ${path}; ranges: ${countText(ranges)}`
    return [{ check: 'settings', state: 'good', says }]
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return [{ check: 'settings', state: 'wrong', says: `TAGWARDEN_COUNTRY_FILE: ${error.message}` }]
  }
}

const lineOf = ({ check, state, says }: Finding) => `${MARKS[state]} ${check}: ${says}`

/**
 * Locks the folder and returns a function that unlocks it. Returns null when a running server uses the folder. When
 * `isChange` is true, throws `FolderInUse` instead.
 */
function lockUnlessRunning({ folder }: FolderPaths, isChange: boolean): (() => void) | null {
  try {
    return lockFolder(folder)
  } catch (error) {
    if (error instanceof FolderInUse && !isChange) return null
    throw error
  }
}

function forget(paths: FolderPaths): SealedCounts {
  checkDatabase(paths)
  const db = openDatabase(paths.database)
  try {
    return forgetLost(paths, db, systemClock)
  } finally {
    db.close()
  }
}

function forgottenLines(forgotten: SealedCounts | null): string[] {
  if (!forgotten) return []
  const { orgs, integrations } = forgotten
  return [
    `organizations with a new webhook secret: ${orgs}; admins can read it with GET /v1/org and must enter it in the receivers`,
    `integrations whose secrets must be entered again: ${integrations}; they are shown as failing until then`,
    '',
  ]
}

function rebuiltLines(rebuilt: Rebuilt | null): string[] {
  if (!rebuilt) return []
  const { setAside, listed, unreadable, gone, orgs, domains } = rebuilt
  const idsOf = (ids: readonly string[]) => (ids.length === 0 ? '' : ` (${firstFew(ids)})`)
  return [
    ...(setAside ? [`the damaged file was saved as ${setAside}`] : []),
    `event files added: ${listed.length}`,
    ...(unreadable.length > 0 ? [`unreadable files, left unchanged: ${firstFew(unreadable)}`] : []),
    ...(gone.length > 0 ? [`missing files, removed from the list: ${firstFew(gone)}`] : []),
    `organizations recreated: ${orgs.length}${idsOf(orgs)}, domains: ${domains.length}${idsOf(domains)}`,
    ...(orgs.length > 0 ? [OWNERS_TO_BE] : []),
    '',
  ]
}

/** Hint about data that a rebuild can't restore. */
const OWNERS_TO_BE =
  'To become the owner of these organizations, open the link shown at the next start or run "tagwarden init". Each domain has a new token, which its pages and apps must use. Denied hostnames, alerts and users must be created again'

/** Returns a function that shows progress on a terminal. */
function progressOf(done: string): (files: number, of: number) => void {
  const started = performance.now()
  return (files, of) => {
    if (!process.stderr.isTTY || performance.now() - started < PROGRESS_AFTER_MS) return
    process.stderr.write(files < of ? `\r${files} of ${of} files ${done}` : '\r\x1b[K')
  }
}
