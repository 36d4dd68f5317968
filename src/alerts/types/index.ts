import { AppError } from '../../core/error.ts'
import type { AlertKind } from '../alert.ts'
import type { AlertType } from './alert-type.ts'
import { dataValidation } from './data-validation/data-validation.ts'
import { journey } from './journey/journey.ts'
import { volumeAnomaly } from './volume/anomaly.ts'
import { tagVolumeChange } from './volume/change.ts'
import { volumeThreshold } from './volume/threshold.ts'

/** Every kind of alert that can be saved. */
export const alertTypes: readonly AlertType[] = [
  dataValidation,
  tagVolumeChange,
  volumeThreshold,
  volumeAnomaly,
  journey,
]

/** Throws `AppError('invalid')` for a kind that this version does not know. */
export function alertTypeOf(kind: AlertKind): AlertType {
  const type = alertTypes.find((candidate) => candidate.kind === kind)
  if (!type) throw new AppError('invalid', `alertType: ${kind} is not available in this version`)
  return type
}

/** `AlertType.countsFirings` of a kind. */
export function countsFirings(kind: AlertKind): boolean {
  return alertTypeOf(kind).countsFirings
}
