import { type Config, readConfig, type SettingName } from '../config.ts'
import { PROVIDER_SETTINGS } from '../connectors.ts'
import { SettingError } from '../setting-source.ts'
import { type Flag, type Invocation, UsageError } from './command.ts'

/** Flags shared by the commands that open a data folder or listen. */
export const DATA_FLAG = {
  data: { type: 'string', value: 'DIR', meaning: 'Data folder (default ./data)' },
} as const satisfies Record<string, Flag>
export const LISTEN_FLAGS = {
  listen: { type: 'string', value: 'HOST:PORT', meaning: 'Address of the server (default 127.0.0.1:8787)' },
  'collect-listen': { type: 'string', value: 'HOST:PORT', meaning: 'Separate address for the collector' },
} as const satisfies Record<string, Flag>

const BY_FLAG: Record<string, SettingName> = {
  data: 'data',
  listen: 'listen',
  'collect-listen': 'collectListen',
  warehouse: 'warehouse',
  control: 'control',
}

/** Returns the settings given as flags. */
export function settingsOf({ flags }: Invocation): Partial<Record<SettingName, string>> {
  const given = Object.entries(flags).flatMap(([flag, value]) => {
    const setting = BY_FLAG[flag]
    return setting && typeof value === 'string' ? [[setting, value]] : []
  })
  return Object.fromEntries(given)
}

/** With a smaller budget, events would be deleted as soon as they arrive. */
const MIN_BUDGET = 10 * 2 ** 20

/** Returns all settings. Throws `UsageError` for an invalid setting. */
export function configOf(invocation: Invocation, more: Partial<Record<SettingName, string>> = {}): Config {
  try {
    const config = readConfig({ ...settingsOf(invocation), ...more }, invocation.env, PROVIDER_SETTINGS)
    if (config.diskBudget !== 0 && config.diskBudget < MIN_BUDGET)
      throw new SettingError('TAGWARDEN_DISK_BUDGET: must be at least 10MB, or empty for no limit')
    return config
  } catch (error) {
    if (error instanceof SettingError) throw new UsageError(error.message)
    throw error
  }
}
