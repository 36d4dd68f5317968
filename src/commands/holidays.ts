import { answerParent } from '../calendars/country-holidays.ts'
import { type Command, UsageError } from './command.ts'

/** Computes the holidays of a country. Started by the server, which communicates with it through a pipe. */
export const holidays: Command = {
  name: 'holidays',
  isInternal: true,
  summary: "Lists a country's holidays; started by the server",
  flags: {},
  async run() {
    if (!process.send) throw new UsageError('holidays: can be started only by the server')
    await answerParent()
    return 0
  },
}
