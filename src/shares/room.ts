import type { Room } from '../base.ts'
import type { RunFiles } from '../flows/run-files.ts'
import type { HistoryBase } from '../history-base.ts'
import { RateLimit } from '../http/rate-limit.ts'
import { shareRoutes } from './routes.ts'
import { shareableRuns } from './shareable-runs.ts'

export function openShares(base: HistoryBase, { runFiles }: { runFiles: RunFiles }): Room {
  const { db, clock, config, publicUrl, privacyOf } = base
  const limit = new RateLimit(clock, config.rateSigninPerMinute / 60, 60)
  return { routes: shareRoutes({ db, clock, publicUrl, privacyOf, limit, findRun: shareableRuns(db, runFiles) }) }
}
