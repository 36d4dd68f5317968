import { AppError } from '../../core/error.ts'
import type { Alert, AlertKind } from '../alert.ts'
import type { AlertType } from './alert-type.ts'
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

/** True for enabled alerts whose rule is evaluated for each event on arrival. */
export function isJudgedOnArrival({ alertType, enabled }: Pick<Alert, 'alertType' | 'enabled'>): boolean {
  return enabled && alertTypes.some(({ kind, judgedOnArrival }) => kind === alertType && judgedOnArrival)
}
