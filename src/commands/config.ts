import { describeConfig } from '../config.ts'
import { PROVIDER_SETTINGS } from '../connectors.ts'
import type { Command } from './command.ts'
import { configOf, DATA_FLAG, LISTEN_FLAGS, settingsOf } from './command-line-settings.ts'

export const config: Command = {
  name: 'config',
  summary: 'Prints every setting: name, value (secrets masked), default and meaning.',
  flags: { ...DATA_FLAG, ...LISTEN_FLAGS, json: { type: 'boolean', meaning: 'Print as JSON' } },
  async run(invocation) {
    configOf(invocation)
    const settings = describeConfig(settingsOf(invocation), invocation.env, PROVIDER_SETTINGS)
    if (invocation.flags.json) {
      console.log(JSON.stringify(settings, null, 2))
      return 0
    }
    for (const { name, value, default: fallback, meaning } of settings) {
      console.log(`${name}=${value}\n    ${meaning} (default: ${fallback === '' ? 'empty' : fallback})`)
    }
    return 0
  },
}
