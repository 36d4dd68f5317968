import { systemClock } from '../../../src/core/clock.ts'
import { openStores } from '../../../src/data-folder/open-folder.ts'
import { issueOfAlert, validationAlert } from '../../../src/issues/issue.fixture.ts'
import { applyChanges } from '../../../src/issues/store.ts'
import { tx } from '../../../src/store/database.ts'

export const ISSUES = 10_000

/** Adds many open issues to a data folder while its server is not running. */
export function fillWithIssues(folder: string): void {
  const { db } = openStores(folder)
  const orgId = db.prepare<[], string>('SELECT id FROM org').pluck().get() ?? ''
  const at = systemClock.now()
  const severities = ['critical', 'high', 'medium', 'low'] as const
  tx(db, () => {
    for (let n = 0; n < ISSUES; n++) {
      const own = { id: `iss_${n}`, orgId, domainId: null, alertId: `alr_${n}`, title: `Issue number ${n}` }
      const times = { firstSeenAt: at - 3_600_000, lastSeenAt: at - n * 1000, statusAt: at }
      const severity = severities[n % severities.length] ?? 'low'
      const issue = issueOfAlert({ ...validationAlert, orgId }, { ...own, ...times, severity })
      applyChanges(db, [{ kind: 'open', issue }], () => {})
    }
  })
  db.close()
}
