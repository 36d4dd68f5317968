import { loadAllAddons } from '../native/load-addon.ts'
import type { Command } from './command.ts'

export const unpack: Command = {
  name: 'unpack',
  summary: 'Unpacks the bundled libraries to the cache folder, so that the server can run on a read-only file system.',
  flags: {},
  async run() {
    loadAllAddons()
    return 0
  },
}
