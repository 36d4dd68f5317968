import type { Room } from '../base.ts'
import type { HistoryBase } from '../history-base.ts'
import type { Enqueue } from '../issues/issue.ts'
import { checkConsent } from './consent-check.ts'
import type { FilingDeps } from './file-findings-as-issues.ts'
import { complianceRoutes } from './routes.ts'
import { scanPersonalData } from './scan-personal-data.ts'

interface Deps extends Pick<FilingDeps, 'alertsChanged'> {
  enqueue: Enqueue
}

export function openCompliance(base: HistoryBase, { enqueue, alertsChanged }: Deps): Room {
  const { db, clock, warehouse, privacyOf } = base
  return {
    routes: complianceRoutes({ db, clock, enqueue, privacyOf, alertsChanged }),
    jobs: [
      {
        name: 'scan for personal data',
        pattern: '3-59/10 * * * * *',
        run: (stopping) => scanPersonalData({ db, warehouse }, stopping),
      },
      {
        name: 'check consent',
        pattern: '5,25,45 * * * * *',
        run: (stopping) => checkConsent({ db, warehouse, visible: base, privacyOf }, stopping),
      },
    ],
  }
}
