import { existsSync } from 'node:fs'
import { systemClock } from '../../core/clock.ts'
import { firstFew } from '../../core/text.ts'
import { type Finding, wrong } from '../../data-folder/examine-folder.ts'
import { openToExamine } from '../../data-folder/folder-access.ts'
import { FolderError } from '../../data-folder/folder-errors.ts'
import { type FolderPaths, folderPaths } from '../../data-folder/folder-paths.ts'
import { checkDatabase } from '../../data-folder/open-folder.ts'
import { type Rebuilt, rebuild } from '../../data-folder/rebuild-file-list.ts'
import { forgetLost, type SealedCounts } from '../../data-folder/sealed-secrets.ts'
import { openDatabase } from '../../store/database.ts'
import { type Command, UsageError } from '../command.ts'
import { configOf, DATA_FLAG, LISTEN_FLAGS } from '../command-line-settings.ts'
import { runChecks } from './run-checks.ts'

const PROGRESS_AFTER_MS = 2000
const MARKS: Record<Finding['state'], string> = { good: 'ok   ', note: 'WARN ', wrong: 'WRONG' }

export const doctor: Command = {
  name: 'doctor',
  summary:
    'Checks a data folder, its server, the machine and all configured connections. Exits with 1 when something is wrong. Repairs only what you specify.',
  flags: {
    ...DATA_FLAG,
    listen: { ...LISTEN_FLAGS.listen, meaning: 'Address of the running server (default 127.0.0.1:8787)' },
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
    const isChange = flags.rebuild === true || flags['forget-secrets'] === true
    let [forgotten, rebuilt]: [SealedCounts | null, Rebuilt | null] = [null, null]
    let findings: Finding[]
    try {
      using examined = openToExamine(paths, { isChange })
      if (flags['forget-secrets']) forgotten = forget(paths)
      if (flags.rebuild)
        rebuilt = await rebuild(paths, systemClock, {
          isClickhouse: config.warehouse !== null,
          progress: progressOf('added'),
          log: console.error,
        })
      findings = (await runChecks(examined, { config, clock: systemClock, progress: progressOf('read') })).findings
    } catch (error) {
      if (isChange || !(error instanceof FolderError)) throw error
      findings = [wrong('folder', error.message)]
    }
    if (flags.json) console.log(JSON.stringify({ findings, rebuilt, forgotten }, null, 2))
    else console.log([...forgottenLines(forgotten), ...rebuiltLines(rebuilt), ...findings.map(lineOf)].join('\n'))
    return findings.some(({ state }) => state === 'wrong') ? 1 : 0
  },
}

/** One line for each finding. */
export const lineOf = ({ check, state, says }: Finding) => `${MARKS[state]} ${check}: ${says}`

function forget(paths: FolderPaths): SealedCounts {
  checkDatabase(paths)
  const db = openDatabase(paths.database, console.error)
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
