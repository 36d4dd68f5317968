import type { Command } from '../command.ts'
import { LISTEN_FLAGS } from '../command-line-settings.ts'

export const demo: Command = {
  name: 'demo',
  summary: 'A server with a sample organization, replayed real traffic, alerts and a built-in inbox.',
  flags: { listen: LISTEN_FLAGS.listen },
  async run(invocation) {
    // Imported here so that a server does not load the demo's mail server and recordings.
    const { runDemo } = await import('./run-demo.ts')
    return runDemo(invocation)
  },
}
