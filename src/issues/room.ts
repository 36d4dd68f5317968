import type { Room } from '../base.ts'
import type { HistoryBase } from '../history-base.ts'
import type { Enqueue } from './issue.ts'
import { issueRoutes } from './routes.ts'
import { unmuteDue } from './store.ts'

export function openIssues({ db, box, clock }: HistoryBase, { enqueue }: { enqueue: Enqueue }): Room {
  return {
    routes: issueRoutes({ db, box, clock, enqueue }),
    jobs: [{ name: 'unmute issues', pattern: '* * * * * *', run: async () => unmuteDue(db, clock.now(), enqueue) }],
  }
}
