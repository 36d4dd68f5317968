import { judgeForParent } from '../alerts/judge-process.ts'
import { type Command, UsageError } from './command.ts'

/** Validates late batches. Started by the server, which communicates with it through a pipe. */
export const judge: Command = {
  name: 'judge',
  isInternal: true,
  summary: 'Evaluates batches for a server under load; started by the server',
  flags: {},
  async run() {
    if (!process.send) throw new UsageError('judge: can be started only by the server')
    await judgeForParent()
    return 0
  },
}
