import { firstFew } from '../core/text.ts'
import type { FolderPaths } from './folder-paths.ts'

/**
 * The data folder can't be used. The message describes the problem, states that nothing was changed, and explains how
 * to continue.
 */
export class FolderError extends Error {
  override readonly name = 'FolderError'
}

/** Returns the command that repairs a folder. */
export function doctorCommand({ folder }: Pick<FolderPaths, 'folder'>, flag: string): string {
  return `tagwarden doctor --data ${/^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`} ${flag}`
}

export function damagedDatabase(paths: FolderPaths, reason: string): FolderError {
  return new FolderError(
    `${paths.database} is damaged (${reason}). Nothing was changed. Restore a backup of it, or run "${doctorCommand(paths, '--rebuild')}" to set it aside and create a new one from the event files. Users, alerts and issues are stored only in the database`,
  )
}

export function cutDatabase(paths: FolderPaths, reason: string): FolderError {
  return new FolderError(
    `${paths.database}-wal, which has the latest changes of the database, ${reason}. Nothing was changed. Restore a backup of both files, or run "${doctorCommand(paths, '--rebuild')}" to continue without these changes`,
  )
}

export function lostDatabase(
  paths: FolderPaths,
  { files, segments }: { files: number; segments: number },
): FolderError {
  const has = [
    ...(files > 0 ? [`${files} event ${files === 1 ? 'file' : 'files'} in ${paths.events}`] : []),
    ...(segments > 0 ? [`${segments} ${segments === 1 ? 'file' : 'files'} in ${paths.spool}`] : []),
  ].join(' and ')
  return new FolderError(
    `${paths.database} is missing or empty, but there are ${has}. Nothing was changed. Restore a backup of it, or run "${doctorCommand(paths, '--rebuild')}" to create a new one from these files. Users, alerts and issues are stored only in the database`,
  )
}

export function lostEvents(paths: FolderPaths, files: number): FolderError {
  return new FolderError(
    `${paths.events} is missing, but the database lists ${files} ${files === 1 ? 'file' : 'files'} in it. Nothing was changed. Restore the folder (is its volume mounted?), or run "${doctorCommand(paths, '--rebuild')}" to remove these files from the list`,
  )
}

export function olderDatabase(paths: FolderPaths, strays: readonly string[]): FolderError {
  return new FolderError(
    `${paths.database} does not belong to the files in ${paths.events}: it does not list ${strays.length} of them (${firstFew(strays)}), which are newer than its latest entry. Nothing was changed. Restore the matching database, or run "${doctorCommand(paths, '--rebuild')}" to add these files to its list`,
  )
}

/** `stored`: where the events are. */
export function otherEngine({ folder }: Pick<FolderPaths, 'folder'>, stored: 'files' | 'clickhouse'): FolderError {
  return new FolderError(
    stored === 'files'
      ? `the events of ${folder} are in its own files, but TAGWARDEN_WAREHOUSE names a ClickHouse server, which does not have them. Nothing was changed. Remove the setting, or move the events with "tagwarden migrate warehouse"`
      : `the events of ${folder} are in ClickHouse. Nothing was changed. Start the server with the address of ClickHouse in TAGWARDEN_WAREHOUSE`,
  )
}

/** `owner`: what the folder belongs to. */
export function otherProcess({ folder }: Pick<FolderPaths, 'folder'>, owner: 'collector' | 'server'): FolderError {
  return new FolderError(
    owner === 'collector'
      ? `${folder} is the data folder of a collector. Nothing was changed. Start it with "tagwarden collect", or use another data folder`
      : `${folder} is the data folder of a server. Nothing was changed. Start the collector with another data folder`,
  )
}

/** Returns the warning about files that are ignored at startup. */
export function strayWarning(paths: FolderPaths, strays: readonly string[]): string {
  return `the database does not list ${strays.length} of the files in ${paths.events} (${firstFew(strays)}): they are kept but not read; run "${doctorCommand(paths, '--rebuild')}" to add them`
}

interface Counts {
  orgs: number
  integrations: number
}

const count = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`

/** Returns instructions for continuing if secrets can't be decrypted. */
function withoutKey(paths: FolderPaths): string {
  return `Nothing was changed. Restore the ${paths.key} that belongs to this database, or run "${doctorCommand(paths, '--forget-secrets')}" to continue without these secrets: webhooks get new ones, and those of integrations must be entered again`
}

export function lostKey(paths: FolderPaths, problem: string, { orgs, integrations }: Counts): FolderError {
  const what = `the webhook secrets of ${count(orgs, 'organization')} and the secrets of ${count(integrations, 'integration')}`
  return new FolderError(`${paths.key} ${problem}; without it, ${what} can't be decrypted. ${withoutKey(paths)}`)
}

export function closedKey(paths: FolderPaths, { closed, sealed }: { closed: Counts; sealed: Counts }): FolderError {
  const what = `the webhook secrets of ${closed.orgs} of ${count(sealed.orgs, 'organization')} and the secrets of ${closed.integrations} of ${count(sealed.integrations, 'integration')}`
  return new FolderError(
    `${paths.key} can't decrypt ${what}: it is a different key, or the secrets are damaged. ${withoutKey(paths)}`,
  )
}
