import type { Room } from '../base.ts'
import type { HistoryBase } from '../history-base.ts'
import { commentRoutes } from './comment-routes.ts'
import { escalateDue } from './escalate-issues.ts'
import { type EscalationRouteDeps, escalationRoutes } from './escalation-routes.ts'
import type { Enqueue } from './issue.ts'
import { ownershipRoutes } from './ownership-routes.ts'
import { issueRoutes } from './routes.ts'
import { unmuteDue } from './store.ts'

interface Deps extends Pick<EscalationRouteDeps, 'checkChannels'> {
  enqueue: Enqueue
}

export function openIssues({ db, box, clock, report }: HistoryBase, { enqueue, checkChannels }: Deps): Room {
  return {
    routes: [
      ...issueRoutes({ db, box, clock, enqueue }),
      ...commentRoutes({ db, clock, enqueue }),
      ...ownershipRoutes({ db, box, checkChannels }),
      ...escalationRoutes({ db, box, clock, checkChannels }),
    ],
    jobs: [
      { name: 'unmute issues', pattern: '* * * * * *', run: async () => unmuteDue(db, clock.now(), enqueue) },
      {
        name: 'escalate issues',
        pattern: '* * * * * *',
        run: (stopping) => escalateDue({ db, clock, enqueue, report }, stopping),
      },
    ],
  }
}
