import { type Command, UsageError } from './command.ts'
import { logTo, startServer, untilStopped } from './server.ts'
import { configOf, DATA_FLAG, LISTEN_FLAGS } from './settings.ts'

export const serve: Command = {
  name: 'serve',
  summary: 'Runs the server: API, collector and everything that happens by itself.',
  flags: { ...DATA_FLAG, ...LISTEN_FLAGS },
  async run(invocation) {
    const config = configOf(invocation)
    if (!config.listen) throw new UsageError('serve: --listen is empty')
    const log = logTo(config.logLevel)
    const running = await startServer(config, log)
    console.log(`listening on ${running.url}${config.collectListen ? `, collector on ${running.collectUrl}` : ''}`)
    if (running.app.setupUrl) log.warn(`nobody owns this server yet; set it up at ${running.app.setupUrl}`)
    await untilStopped()
    await running.stop()
    return 0
  },
}
