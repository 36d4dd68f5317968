import type { Task } from '../browser/browser-task.ts'
import { browseForParent } from '../browser/browsing-process.ts'
import { type Command, UsageError } from './command.ts'

/** Runs a browser for a flow test or an audit. Started by the server, which communicates with it through a pipe. */
export const browse: Command = {
  name: 'browse',
  isInternal: true,
  summary: 'Runs a browser for a flow test or an audit; started by the server',
  flags: {},
  async run() {
    if (!process.send) throw new UsageError('browse: can be started only by the server')
    return await browseForParent({
      walk: async () => (await import('../flows/walk/walk.ts')).walk as Task,
      crawl: async () => (await import('../audits/crawl/crawl.ts')).crawl as Task,
    })
  },
}
