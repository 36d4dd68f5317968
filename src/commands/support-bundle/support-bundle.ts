import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { type Config, describeConfig } from '../../config.ts'
import { PROVIDER_SETTINGS } from '../../connectors.ts'
import { type Instant, systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/error.ts'
import { sizeText } from '../../core/text.ts'
import { type ExaminedFolder, openToExamine } from '../../data-folder/folder-access.ts'
import { folderPaths } from '../../data-folder/folder-paths.ts'
import type { Db } from '../../store/database.ts'
import { openToRead } from '../../store/inspect-database.ts'
import { writeWhole } from '../../store/private-file.ts'
import { type Command, type Invocation, UsageError } from '../command.ts'
import { configOf, DATA_FLAG, LISTEN_FLAGS, settingsOf } from '../command-line-settings.ts'
import { lineOf } from '../doctor/doctor.ts'
import { runChecks } from '../doctor/run-checks.ts'
import {
  collectorFacts,
  databaseParts,
  folderSizes,
  MAX_LOG_BYTES,
  machineFacts,
  privateWords,
  schemaText,
  scrubLog,
  scrubMetrics,
  shownSettings,
} from './collect-parts.ts'
import { Scrubber } from './scrub-text.ts'

export const supportBundle: Command = {
  name: 'support-bundle',
  summary:
    'Writes an archive that describes an installation for support: checks, settings, metrics, sizes, timings and log, without secrets and without personal data.',
  flags: {
    ...DATA_FLAG,
    listen: { ...LISTEN_FLAGS.listen, meaning: 'Address of the running server (default 127.0.0.1:8787)' },
    log: {
      type: 'string',
      multiple: true,
      value: 'FILE',
      meaning: "File with the server's log, or - for standard input. Can be given several times",
    },
    to: { type: 'string', value: 'FILE', meaning: 'Archive to write (default tagwarden-support-TIME.tar.gz)' },
    json: { type: 'boolean', meaning: 'Print {file, bytes, contents} as JSON' },
  },
  async run(invocation) {
    const { flags, lists = {} } = invocation
    const config = configOf(invocation)
    if (!existsSync(config.data)) throw new UsageError(`support-bundle: data folder not found: ${config.data}`)
    const createdAt = systemClock.now()
    const name = `tagwarden-support-${new Date(createdAt).toISOString().slice(0, 19).replaceAll(/\D/g, '')}`
    const file = resolve(typeof flags.to === 'string' && flags.to !== '' ? flags.to : `${name}.tar.gz`)
    if (existsSync(file)) throw new UsageError(`support-bundle: ${file} already exists`)
    const logs = await Promise.all((lists.log ?? []).map(readLog))
    const contents = await collect(invocation, config, { logs, createdAt })
    const mtime = new Date(createdAt)
    const entries = Object.entries(contents).map(([path, body]) => {
      const header = { name: `${name}/${path}`, size: Buffer.byteLength(body), mode: 0o600, mtime }
      return { header, body }
    })
    const archive = gzipSync(await packTar(entries))
    writeWhole(file, archive)
    if (flags.json) console.log(JSON.stringify({ file, bytes: archive.length, contents: Object.keys(contents) }))
    else {
      console.log(`${file} (${sizeText(archive.length)}): ${Object.keys(contents).join(', ')}`)
      if (logs.length === 0) console.log(HOW_TO_ADD_LOG)
      console.log('Read its files before you send it.')
    }
    return 0
  },
}

/** The program logs only to stderr. */
const HOW_TO_ADD_LOG =
  'It contains no log. To add it: journalctl --unit tagwarden --output cat --since -2d | tagwarden support-bundle --log -'

async function readLog(path: string): Promise<string> {
  if (path === '-') return (await Bun.stdin.text()).slice(-MAX_LOG_BYTES)
  try {
    // A missing file is empty for `slice`.
    const { size } = statSync(path)
    return await Bun.file(path)
      .slice(Math.max(0, size - MAX_LOG_BYTES))
      .text()
  } catch (error) {
    throw new UsageError(`support-bundle: --log ${path} can't be read: ${(error as { code?: string }).code}`)
  }
}

interface Sources {
  logs: readonly string[]
  createdAt: Instant
}

/** Returns the files of the bundle by name. */
async function collect(
  invocation: Invocation,
  config: Config,
  { logs, createdAt }: Sources,
): Promise<Record<string, string>> {
  const paths = folderPaths(config.data)
  using examined = openToExamine(paths, { isChange: false })
  const { findings, server, versions } = await runChecks(examined, {
    config,
    clock: systemClock,
    progress: () => undefined,
  })
  const settings = describeConfig(settingsOf(invocation), invocation.env, PROVIDER_SETTINGS)
  using db = openIfSound(
    examined,
    findings.every(({ check, state }) => check !== 'database' || state !== 'wrong'),
  )
  const scrubber = new Scrubber({
    privateWords: privateWords(db.value, settings),
    settings: settings.map(({ name }) => name),
  })
  const scrubbed = findings.map((finding) => ({ ...finding, says: scrubber.text(finding.says) }))
  const missing: Record<string, string> = {}
  const fromDatabase: Record<string, string> = {}
  if (db.value) {
    fromDatabase['schema.sql'] = schemaText(db.value)
    fromDatabase['collectors.json'] = json(collectorFacts(db.value))
    try {
      const { tables, timings } = await databaseParts(examined, db.value)
      fromDatabase['tables.json'] = json(tables)
      fromDatabase['timings.json'] = json(timings)
    } catch (error) {
      missing['tables.json, timings.json'] = scrubber.text(messageOf(error))
    }
  } else missing['schema.sql, collectors.json, tables.json, timings.json'] = 'the database cannot be read'
  const hasMetrics = server !== null && server.kind !== 'silent'
  if (!hasMetrics) missing['metrics.txt'] = server === null ? 'no server is running' : 'the server does not answer'
  if (logs.length === 0) missing['log.ndjson'] = 'no log was given with --log'
  return {
    'README.txt': readme(missing),
    'bundle.json': json({ createdAt, versions, machine: machineFacts(paths) }),
    'doctor.txt': `${scrubbed.map(lineOf).join('\n')}\n`,
    'doctor.json': json(scrubbed),
    'settings.json': json(shownSettings(settings)),
    'files.json': json(folderSizes(paths)),
    ...fromDatabase,
    ...(hasMetrics ? { 'metrics.txt': scrubMetrics(server.metrics, scrubber) } : {}),
    ...(logs.length > 0 ? { 'log.ndjson': logs.map((log) => scrubLog(log, scrubber)).join('') } : {}),
  }
}

function openIfSound({ database }: ExaminedFolder, isSound: boolean): Disposable & { value: Db | null } {
  const value = isSound ? openToRead(database) : null
  return { value, [Symbol.dispose]: () => value?.close() }
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

const readme = (missing: Readonly<Record<string, string>>) => `Support bundle of a Tagwarden server

bundle.json      versions and the machine
doctor.txt       results of "tagwarden doctor" (doctor.json: the same for programs)
settings.json    settings; "(set)" replaces values that could contain hosts, addresses, paths or names
files.json       number and size of the files in each part of the data folder
schema.sql       tables of the database
collectors.json  collectors by slot, without names
tables.json      rows and bytes of each table, and the time for counting the rows
timings.json     durations of queries that read event files
metrics.txt      metrics of the running server
log.ndjson       log

It contains no events, e-mail addresses, names, hosts, passwords, keys, tokens or URLs. In doctor.txt and log.ndjson, everything
except plain words, numbers, times and error codes is replaced by a number in angle brackets. The same text has the same number.
${Object.entries(missing)
  .map(([part, reason]) => `\nMissing: ${part} (${reason})`)
  .join('')}
`
