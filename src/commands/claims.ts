import { answerClaims } from '../collectors/claim-process.ts'
import { type Command, UsageError } from './command.ts'

/** Claims batches for collectors. Started by the server, which communicates with it through a pipe. */
export const claims: Command = {
  name: 'claims',
  operands: 'FILE',
  isInternal: true,
  summary: 'Decides which collector stores a batch; started by the server',
  flags: {},
  async run({ names: [path] }) {
    if (!process.send || path === undefined) throw new UsageError('claims: can be started only by the server')
    await answerClaims(path)
    return 0
  },
}
