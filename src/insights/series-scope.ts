import type { Alert } from '../alerts/alert.ts'
import { autoAlertOf, signalSensitivity } from '../alerts/auto-alert.ts'
import { signalOf } from '../alerts/finding.ts'
import { seriesOf } from '../alerts/types/index.ts'
import type { IssueRecord } from '../issues/issue.ts'
import { ALL_SIGNALS, type Series, type SeriesScope } from '../signals/series.ts'
import { SIGNAL_SENSITIVITY } from '../signals/signal.ts'
import { settingsOf } from '../signals/signal-setting-store.ts'
import type { Db } from '../store/database.ts'

/**
 * Returns the scope of a series with the settings for automatic signals. The domain does not need an automatic alert.
 */
export function signalScope(db: Db, series: Omit<Series, 'timezone'>): SeriesScope {
  const alert = autoAlertOf(db, series)
  const sensitivity = alert ? signalSensitivity(alert) : SIGNAL_SENSITIVITY
  return withSetting(db, { ...series, sensitivity, timezone: alert?.timezone ?? 'UTC' })
}

/** Returns the scope of the series that the issue's alert monitors; null for alert types without a series. */
export function followedScope(db: Db, { domainId, evidence }: IssueRecord, rule: Alert): SeriesScope | null {
  if (domainId === null) return null
  const [scope] = seriesOf(rule, [{ id: domainId, createdAt: 0 }])
  if (!scope || scope.vendor !== ALL_SIGNALS) return scope ?? null
  return withSetting(db, { ...scope, ...signalOf(evidence) })
}

/** Returns the scope with the signal's own sensitivity, if one is set. */
function withSetting(db: Db, scope: SeriesScope): SeriesScope {
  const { orgId, domainId, vendor, event } = scope
  const own = settingsOf(db, orgId).find(
    (setting) => setting.domainId === domainId && setting.vendor === vendor && setting.event === event,
  )
  return { ...scope, sensitivity: own?.sensitivity ?? scope.sensitivity }
}
