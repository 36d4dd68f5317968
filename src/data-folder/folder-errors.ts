import { firstFew } from '../core/text.ts'
import type { FolderPaths } from './folder-paths.ts'

/**
 * A data folder can't be used: its message says in a sentence or two what is wrong, what is kept, and how to continue.
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
    `${paths.database} is damaged (${reason}). Nothing was changed. Put back a copy of it, or let "${doctorCommand(paths, '--rebuild')}" set it aside and make a new one from the files of events; users, alerts and issues are in no other file`,
  )
}

export function cutDatabase(paths: FolderPaths, reason: string): FolderError {
  return new FolderError(
    `${paths.database}-wal, which has the latest changes of the database, ${reason}. Nothing was changed. Put back a copy of both files, or let "${doctorCommand(paths, '--rebuild')}" go on without these changes`,
  )
}

export function lostDatabase(
  paths: FolderPaths,
  { files, segments }: { files: number; segments: number },
): FolderError {
  const has = [
    ...(files > 0 ? [`${files} ${files === 1 ? 'file' : 'files'} of events in ${paths.events}`] : []),
    ...(segments > 0 ? [`${segments} ${segments === 1 ? 'file' : 'files'} in ${paths.spool}`] : []),
  ].join(' and ')
  return new FolderError(
    `${paths.database} is lost or empty, but there are ${has}. Nothing was changed. Put back a copy of it, or let "${doctorCommand(paths, '--rebuild')}" make a new one from these files; users, alerts and issues are in no other file`,
  )
}

export function lostEvents(paths: FolderPaths, files: number): FolderError {
  return new FolderError(
    `${paths.events} is gone, but the database lists ${files} ${files === 1 ? 'file' : 'files'} in it. Nothing was changed. Put the folder back (is its volume mounted?), or let "${doctorCommand(paths, '--rebuild')}" take these files off the list`,
  )
}

export function olderDatabase(paths: FolderPaths, strays: readonly string[]): FolderError {
  return new FolderError(
    `${paths.database} does not belong to the files in ${paths.events}: it is younger or older than they are and does not list ${strays.length} of them (${firstFew(strays)}). Nothing was changed. Put the right one back, or let "${doctorCommand(paths, '--rebuild')}" list these files too`,
  )
}

/** Returns the warning about files that a start ignores. */
export function strayWarning(paths: FolderPaths, strays: readonly string[]): string {
  return `no list of files has ${strays.length} of those in ${paths.events} (${firstFew(strays)}): they are kept and not read; "${doctorCommand(paths, '--rebuild')}" takes them in`
}

interface Counts {
  orgs: number
  integrations: number
}

const count = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`

/** Returns advice on how to continue without a key that opens everything. */
function withoutKey(paths: FolderPaths): string {
  return `Nothing was changed. Put back the ${paths.key} that belongs to this database; or go on without them by "${doctorCommand(paths, '--forget-secrets')}": receivers of webhooks are then given new secrets, and integrations theirs anew`
}

export function lostKey(paths: FolderPaths, problem: string, { orgs, integrations }: Counts): FolderError {
  const what = `the webhook secrets of ${count(orgs, 'organization')} and the secrets of ${count(integrations, 'integration')}`
  return new FolderError(`${paths.key} ${problem}; it alone opens ${what}. ${withoutKey(paths)}`)
}

export function closedKey(paths: FolderPaths, { closed, sealed }: { closed: Counts; sealed: Counts }): FolderError {
  const what = `the webhook secrets of ${closed.orgs} of ${count(sealed.orgs, 'organization')} and the secrets of ${closed.integrations} of ${count(sealed.integrations, 'integration')}`
  return new FolderError(
    `${paths.key} does not open ${what}: it is another one, or they were damaged. ${withoutKey(paths)}`,
  )
}
