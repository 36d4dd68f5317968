import { draftForParent } from '../flows/draft-process.ts'
import type { Command } from './command.ts'

/** Creates a draft of a flow test from a HAR on standard input. Started by the server. */
export const draft: Command = {
  name: 'draft',
  isInternal: true,
  summary: 'Drafts a flow test from a HAR; started by the server',
  flags: {},
  async run() {
    await draftForParent()
    return 0
  },
}
