import { readThirdPartyLicenses } from '../build/third-party-licenses.ts'
import type { Command } from './command.ts'

export const licenses: Command = {
  name: 'licenses',
  summary: 'Prints the licences of the packages that the program contains.',
  flags: {},
  async run() {
    console.log(await readThirdPartyLicenses())
    return 0
  },
}
