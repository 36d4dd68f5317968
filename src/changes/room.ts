import type { Room } from '../base.ts'
import { hasDomains } from '../domains/domain-directory.ts'
import type { HistoryBase } from '../history-base.ts'
import { detectReleases } from './detect-releases.ts'
import { judgeChanges } from './judge-changes.ts'
import { type ChangeRouteDeps, changeRoutes } from './routes.ts'

export function openChanges(
  { db, clock, warehouse, watermark, retentionMs, privacyOf }: HistoryBase,
  { gateRunsOf }: Pick<ChangeRouteDeps, 'gateRunsOf'>,
): Room {
  return {
    routes: changeRoutes({ db, clock, retentionMs, privacyOf, gateRunsOf }),
    jobs: [
      {
        name: 'detect releases',
        pattern: '*/5 * * * * *',
        async run(stopping) {
          // A new server has no history, so the query engine need not be started.
          if (hasDomains(db)) await detectReleases({ db, warehouse, watermark }, stopping)
        },
      },
      {
        name: 'evaluate changes',
        pattern: '* * * * * *',
        run: (stopping) => judgeChanges({ db, clock, warehouse, watermark }, stopping),
      },
    ],
  }
}
