import type { Room } from '../base.ts'
import { addressCheck } from '../browser/check-browser-url.ts'
import type { BrowserRoom } from '../browser/room.ts'
import type { HistoryBase } from '../history-base.ts'
import { channelCheck } from '../integrations/channel-targets.ts'
import type { Enqueue } from '../issues/issue.ts'
import { AuditRuns } from './audit-runs.ts'
import { auditRoutes } from './routes.ts'

interface Deps {
  browser: BrowserRoom
  enqueue: Enqueue
}

/** Creates the module for audits. Marks audits that were interrupted by a shutdown or crash as failed. */
export function openAudits(base: HistoryBase, { browser: { browsers }, enqueue }: Deps): Room {
  const { db, box, clock, config, privacyOf, report } = base
  const audits = new AuditRuns({ db, clock, browsers, enqueue, privacyOf, report })
  return {
    routes: auditRoutes({
      db,
      box,
      clock,
      region: config.region,
      audits,
      checkAddress: addressCheck(config.outboundAllow),
      checkChannels: channelCheck(base),
      privacyOf,
    }),
    jobs: [{ name: 'run audits', isOutbound: true, pattern: '* * * * * *', run: async () => audits.start() }],
    idle: () => audits.idle(),
    stop: () => audits.close(),
  }
}
