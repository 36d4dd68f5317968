import { judgeForParent } from '../alerts/judge-process.ts'
import { type Command, UsageError } from './command.ts'

/** Validates late batches. Started by the server, which communicates with it through a pipe. */
export const judge: Command = {
  name: 'judge',
  isInternal: true,
  summary: 'Judges batches for a server that has no time to; started by it',
  flags: {},
  async run() {
    if (!process.send) throw new UsageError('judge: is started by the server only')
    await judgeForParent()
    return 0
  },
}
