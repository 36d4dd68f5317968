import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, release, type as systemName, tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../../../migrations/index.ts'
import { findChromium, hasSandbox, howToGetChromium, versionOf } from '../../browser/find-chromium.ts'
import { PLAIN_PRIVACY } from '../../conditions/privacy-settings.ts'
import type { Config } from '../../config.ts'
import { versionText } from '../../core/build-info.ts'
import { childEnv } from '../../core/child-env.ts'
import { AppError, messageOf } from '../../core/error.ts'
import { countText, oneLine } from '../../core/text.ts'
import { type Finding, good, note, wrong } from '../../data-folder/examine-folder.ts'
import { sqliteVersion } from '../../store/inspect-database.ts'
import { openCountryFile } from '../../visitor/country-file.ts'
import { engineVersion } from '../../warehouse/inspect-warehouse-folder.ts'

/** Checks that programs can be executed in this folder, which must be in the system's folder for temporary files. */
export function checkTemporaryFolder(folder: string): Finding {
  const check = 'temporary folder'
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 })
  const { error } = spawnSync(program, { env: childEnv() })
  if ((error as { code?: string } | undefined)?.code !== 'EACCES')
    return good(check, `programs can be executed in ${tmpdir()}`)
  return note(
    check,
    `programs cannot be executed in ${tmpdir()} (mounted with noexec): if the cache folder cannot be used either, the server does not start; set TMPDIR to another folder`,
  )
}

/** Starts Chromium as for a flow test, in a folder for temporary files. */
export async function checkBrowser(config: Config, temporaryFolder: string): Promise<Finding> {
  const check = 'browser'
  const chromium = findChromium(config.chromium)
  // A missing Chromium is an error only when the setting is given, because a server without flow tests does not need
  // Chromium.
  if (chromium === null) {
    const says = `flow tests and audits cannot run: ${howToGetChromium(config.chromium)}`
    return config.chromium === '' ? note(check, says) : wrong(check, says)
  }
  const folder = join(temporaryFolder, 'browser')
  mkdirSync(folder)
  const { outboundAllow, outboundProxy, outboundCa } = config
  try {
    const { openBrowsing } = await import('../../browser/open-browsing.ts')
    await using _ = await openBrowsing(
      {
        chromium,
        folder,
        device: 'desktop',
        vendorRequests: 'answer',
        secrets: [],
        privacy: PLAIN_PRIVACY,
        outboundAllow,
        outboundProxy,
        outboundCa,
        userAgentSuffix: '',
      },
      new AbortController().signal,
    )
  } catch (error) {
    const reason = messageOf(error)
    const advice = /sandbox|namespace/i.test(reason)
      ? 'allow user namespaces for this user or container, which the sandbox needs'
      : 'run it by hand to see what is missing, such as libraries or fonts'
    return wrong(check, `${chromium} cannot be used for flow tests and audits: ${oneLine(reason, 300)}; ${advice}`)
  }
  // `hintsOf` warns about root.
  return good(check, `flow tests and audits use ${chromium}, which starts${hasSandbox() ? ' with its sandbox' : ''}`)
}

/** Checks the file with countries, if there is one. */
export async function checkCountryFile(path: string): Promise<Finding[]> {
  if (path === '') return []
  try {
    const { ranges } = await openCountryFile(path)
    return [good('settings', `countries of IP addresses are read from ${path}; ranges: ${countText(ranges)}`)]
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return [wrong('settings', `TAGWARDEN_COUNTRY_FILE: ${error.message}`)]
  }
}

/** Versions of the program and of everything that it depends on. Null: not installed, or not known. */
export interface Versions {
  tagwarden: string
  schema: number
  bun: string
  duckdb: string
  sqlite: string
  chromium: string | null
  system: string
  glibc: string | null
}

export async function readVersions({ chromium }: Pick<Config, 'chromium'>): Promise<Versions> {
  const path = findChromium(chromium)
  return {
    tagwarden: versionText(),
    schema: migrations.length,
    bun: Bun.version,
    duckdb: await engineVersion(),
    sqlite: sqliteVersion(),
    chromium: path && (await versionOf(path)),
    system: `${distribution() ?? systemName()}, kernel ${release()}, ${arch()}`,
    glibc: glibcVersion(),
  }
}

export function versionFinding({ tagwarden, schema, bun, duckdb, sqlite, chromium, system, glibc }: Versions): Finding {
  const parts = [
    `Tagwarden ${tagwarden}`,
    `schema ${schema}`,
    `Bun ${bun}`,
    `DuckDB ${duckdb}`,
    `SQLite ${sqlite}`,
    ...(chromium === null ? [] : [`Chromium ${chromium}`]),
    system,
    ...(glibc === null ? [] : [`glibc ${glibc}`]),
  ]
  return good('versions', parts.join('; '))
}

/** Name of the Linux distribution: https://www.freedesktop.org/software/systemd/man/latest/os-release.html */
function distribution(): string | null {
  try {
    return /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? null
  } catch {
    return null
  }
}

function glibcVersion(): string | null {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: unknown } } | undefined
  const version = report?.header?.glibcVersionRuntime
  return typeof version === 'string' && version !== '' ? version : null
}
