import { resolve } from 'node:path'
import { collectSettings } from '../collect/collect-settings.ts'
import { versionText } from '../core/build-info.ts'
import { SettingError } from '../setting-source.ts'
import { type Command, UsageError } from './command.ts'
import { configOf, DATA_FLAG, LISTEN_FLAGS } from './command-line-settings.ts'
import { logTo } from './json-log.ts'
import { machineHints } from './serve.ts'
import { untilStopped } from './until-stopped.ts'

export const collect: Command = {
  name: 'collect',
  summary: 'Runs a collector, which receives events for a server that stores them in ClickHouse.',
  flags: {
    control: { type: 'string', value: 'URL', meaning: 'URL of the control node, the server that has the settings' },
    ...DATA_FLAG,
    listen: LISTEN_FLAGS.listen,
  },
  async run(invocation) {
    const config = configOf(invocation)
    if (!config.listen) throw new UsageError('collect: --listen is empty')
    const { controlUrl } = readSettings(config)
    const log = logTo(config.logLevel)
    // Loaded on demand, because it is a large part of the program.
    const { startCollector } = await import('./start-collector.ts')
    const running = await startCollector(config, log)
    const stopped = untilStopped()
    log.info(`Tagwarden ${versionText()} collects for ${controlUrl} with the data folder ${resolve(config.data)}`)
    console.log(`listening on ${running.url}`)
    for (const hint of [...hintsOf(config), ...machineHints(invocation.env)]) log.warn(hint)
    const signal = await stopped
    log.info(`stopping, because the process received ${signal}`)
    await running.stop()
    log.info('stopped')
    return 0
  },
}

function readSettings(config: Parameters<typeof collectSettings>[0]): ReturnType<typeof collectSettings> {
  try {
    return collectSettings(config)
  } catch (error) {
    if (error instanceof SettingError) throw new UsageError(error.message)
    throw error
  }
}

function hintsOf({ publicUrl, collectUrl }: { publicUrl: string; collectUrl: string }): string[] {
  return publicUrl === '' && collectUrl === ''
    ? ['TAGWARDEN_COLLECT_URL is not set: the browser script from here works only on this machine']
    : []
}
