import { AppError } from '../../core/error.ts'
import type { SeriesScope } from '../../signals/series.ts'
import type { Alert, AlertKind } from '../alert.ts'
import type { AlertType, MeasuredType, SeriesType, WatchedDomain } from './alert-type.ts'
import { dataValidation } from './data-validation/data-validation.ts'
import { journey } from './journey/journey.ts'
import { volumeAnomaly } from './volume/volume-anomaly.ts'
import { tagVolumeChange } from './volume/volume-change.ts'
import { volumeThreshold } from './volume/volume-threshold.ts'

/** All alert types that can be saved, in the order of the documentation. */
export const alertTypes: readonly AlertType[] = [
  dataValidation,
  tagVolumeChange,
  volumeThreshold,
  volumeAnomaly,
  journey,
]

/** The wire name of each type. */
export const ALERT_KINDS: readonly AlertKind[] = alertTypes.map(({ kind }) => kind)

/** Returns the type. Throws `AppError('invalid')` for a kind that this version does not support. */
export function alertTypeOf(kind: AlertKind): AlertType {
  const type = alertTypes.find((candidate) => candidate.kind === kind)
  if (!type) throw new AppError('invalid', `alertType: ${kind} is not available in this version`)
  return type
}

/** The types whose rows come from queries, and those whose rows come from a series monitor. */
export const measuredTypes = alertTypes.filter((type): type is MeasuredType => type.evaluated !== 'along a series')
export const seriesTypes = alertTypes.filter((type): type is SeriesType => type.evaluated === 'along a series')

/** Returns the type, whose rows come from queries. Throws a plain `Error` for a type that monitors series. */
export function measuredTypeOf(kind: AlertKind): MeasuredType {
  const type = alertTypeOf(kind)
  if (type.evaluated === 'along a series') throw new Error(`${kind} monitors series and has no query`)
  return type
}

/** Returns the series that an alert monitors. Empty for types that monitor none. */
export function seriesOf(alert: Alert, domains: readonly WatchedDomain[]): SeriesScope[] {
  const type = alertTypeOf(alert.alertType)
  return type.evaluated === 'along a series' ? type.series(alert, domains) : []
}

/** True for enabled alerts whose rule is evaluated for each event on arrival. */
export function isJudgedOnArrival({ alertType, enabled }: Pick<Alert, 'alertType' | 'enabled'>): boolean {
  return enabled && alertTypes.some(({ kind, evaluated }) => kind === alertType && evaluated === 'on arrival')
}
