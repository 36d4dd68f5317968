import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { findChromium, hasSandbox } from '../browser/find-chromium.ts'
import type { Config } from '../config.ts'
import { versionText } from '../core/build-info.ts'
import { isOfKubernetes } from '../setting-source.ts'
import { type Command, UsageError } from './command.ts'
import { configOf, DATA_FLAG, LISTEN_FLAGS } from './command-line-settings.ts'
import { logTo } from './json-log.ts'
import { untilStopped } from './until-stopped.ts'

export const serve: Command = {
  name: 'serve',
  summary: 'Runs the server: API, collector and background jobs.',
  flags: {
    ...DATA_FLAG,
    ...LISTEN_FLAGS,
    warehouse: { type: 'string', value: 'URL', meaning: 'ClickHouse database that stores the events' },
    'print-schema': { type: 'boolean', meaning: 'Prints the tables for ClickHouse as SQL, and starts no server' },
  },
  async run(invocation) {
    if (invocation.flags['print-schema']) {
      const { clickhouseSchema } = await import('../warehouse/open-warehouse.ts')
      console.log(clickhouseSchema(configOf(invocation).warehouse))
      return 0
    }
    const config = configOf(invocation)
    if (!config.listen) throw new UsageError('serve: --listen is empty')
    const log = logTo(config.logLevel)
    // Loaded on demand, because the doctor imports hints from this file but does not need the server.
    const { startServer } = await import('./start-server.ts')
    const running = await startServer(config, log)
    const stopped = untilStopped()
    log.info(`Tagwarden ${versionText()} started with the data folder ${resolve(config.data)}`)
    console.log(`listening on ${running.url}${config.collectListen ? `, collector on ${running.collectUrl}` : ''}`)
    for (const hint of [...hintsOf(config, running.app.publicUrl), ...machineHints(invocation.env)]) log.warn(hint)
    if (running.app.setupUrl) log.warn(`this server has no owner yet; set it up at ${running.app.setupUrl}`)
    // The warm-up comes last, because it takes longer than the rest of startup. A first query on the history does not
    // wait longer because of this order.
    await running.app.warm()
    const signal = await stopped
    log.info(`stopping, because the process received ${signal}`)
    await running.stop()
    log.info('stopped')
    return 0
  },
}

/** Open files that the server needs: one for each connection (MAX_CONNECTIONS), event file and browser. */
const MIN_OPEN_FILES = 4096

/** Returns hints for the operator about the environment and the limits of the process. */
export function machineHints(env: NodeJS.ProcessEnv): string[] {
  const ofKubernetes = Object.entries(env).filter(([name, value]) => isOfKubernetes(name, value))
  const ignored = ofKubernetes.map(([name]) => name).join(', ')
  const openFiles = maxOpenFiles()
  return [
    ...(ignored === '' ? [] : [`ignored variables that Kubernetes sets for services: ${ignored}`]),
    ...(openFiles === null || openFiles >= MIN_OPEN_FILES
      ? []
      : [`this process can open only ${openFiles} files: raise the limit (ulimit -n) to at least ${MIN_OPEN_FILES}`]),
  ]
}

/** Returns the limit of open files; null if the system doesn't tell or there is none. */
function maxOpenFiles(): number | null {
  if (!existsSync('/proc/self/limits')) return null
  const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return limit === undefined ? null : Number(limit)
}

/** Returns hints for the operator about missing settings. */
export function hintsOf(
  { publicUrl, smtpUrl, chromium }: Pick<Config, 'publicUrl' | 'smtpUrl' | 'chromium'>,
  ownUrl: string,
): string[] {
  const here = ownUrl.endsWith(':0')
    ? 'TAGWARDEN_PUBLIC_URL is not set and the port is chosen at startup: links and the browser script do not work'
    : `TAGWARDEN_PUBLIC_URL is not set: links and the browser script use ${ownUrl}, which works only on this machine`
  const noMail = 'TAGWARDEN_SMTP_URL is not set: e-mails cannot be sent'
  const unsafe = 'Chromium runs without its sandbox, because the server runs as root: run it as a separate user'
  const isUnsafe = !hasSandbox() && findChromium(chromium) !== null
  return [...(publicUrl === '' ? [here] : []), ...(smtpUrl === '' ? [noMail] : []), ...(isUnsafe ? [unsafe] : [])]
}
