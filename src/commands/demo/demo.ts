import type { Command } from '../command.ts'
import { LISTEN_FLAGS } from '../settings.ts'

export const demo: Command = {
  name: 'demo',
  summary: 'A server with a sample organization, replayed real traffic, alerts and a built-in inbox.',
  flags: { listen: LISTEN_FLAGS.listen },
  async run(invocation) {
    // Its mail server and recordings are no part of a server.
    const { runDemo } = await import('./run.ts')
    return runDemo(invocation)
  },
}
