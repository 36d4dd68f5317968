import { Kind, TypeRegistry } from '@sinclair/typebox'
import { checkRule, MAX_RULE_COST, RuleCheck } from '../conditions/condition.ts'
import { AppError, checkAll } from '../core/error.ts'
import { Closed, parser, Type } from '../core/schema.ts'
import { checkTimezone } from '../core/timezone.ts'
import type { AlertInput } from './alert.ts'
import { parsePeriod } from './alert-period.ts'
import { AlertInputSchema } from './alert-schema.ts'
import { checkStepOrder } from './escalation.ts'
import { checkConfiguration, FIELDS_SHAPED_BY_TYPE } from './type-specific-fields.ts'
import { ALERT_KINDS, alertTypeOf } from './types/index.ts'

TypeRegistry.Set('ReadByHandler', () => true)

/** Maximum body size of a preview or backtest. Large enough for any rule that `MAX_RULE_COST` allows. */
export const MAX_PREVIEW_BODY_BYTES = 1024 * 1024

/**
 * `AlertInput` for routes whose handler validates the value with `readAlertInput`. In a bulk request, an invalid alert
 * then fails separately, and the error names the field instead of "one of three shapes".
 */
export const RawAlertInputSchema = Type.Unsafe<AlertInput>({ ...AlertInputSchema, [Kind]: 'ReadByHandler' })

export const AlertBulkInputSchema = Closed(
  { alerts: Type.Array(RawAlertInputSchema, { minItems: 1, maxItems: 500 }) },
  { $id: 'AlertBulkInput' },
)

/** Validates all fields except those whose shape depends on the alert type, which are validated by the type. */
const readShared = parser(
  Closed({
    ...AlertInputSchema.properties,
    ...Object.fromEntries(FIELDS_SHAPED_BY_TYPE.map((field) => [field, Type.Optional(Type.Unknown())])),
  }),
)

/**
 * Validates an alert in a request. Throws `AppError('invalid')` naming the first field that does not match the schema,
 * the alert type, or the syntax of periods, time zones and conditions. The error's `faults` name the other fields.
 * `root`: path of the alert in the body (`alerts[3]`; empty for the whole body). Domains and channels are not validated
 * here. The cost of conditions is limited to `MAX_RULE_COST` for types that query the event history, and to `maxCost`
 * for types that are evaluated on arrival.
 */
export function readAlertInput(value: unknown, root = '', maxCost = Number.POSITIVE_INFINITY): AlertInput {
  checkAll([() => readShared(value, root), ...fieldChecks(value).map((check) => () => withPathPrefix(root, check))])
  const given = value as AlertInput
  // An empty time zone selects the default.
  const input = given.timezone === '' ? { ...given, timezone: 'UTC' } : given
  return withPathPrefix(root, () => {
    const type = alertTypeOf(input.alertType)
    const rule = new RuleCheck(type.evaluated === 'on arrival' ? maxCost : MAX_RULE_COST)
    checkAll([() => checkRule(input, '', rule), () => type.form.check(input, rule)])
    return input
  })
}

/** Returns checks that the schemas can't express, for fields of the right type. */
function fieldChecks(value: unknown): (() => void)[] {
  if (typeof value !== 'object' || value === null) return []
  const { name, period, timezone, alertType, escalation } = value as Record<string, unknown>
  const kind = ALERT_KINDS.find((one) => one === alertType)
  const blank = () => {
    throw new AppError('invalid', 'name: must not be blank')
  }
  return [
    ...(typeof name === 'string' && !name.trim() ? [blank] : []),
    ...(typeof period === 'string' ? [() => void parsePeriod(period)] : []),
    ...(typeof timezone === 'string' && timezone !== '' ? [() => checkTimezone(timezone)] : []),
    () => withPathPrefix('escalation', () => checkStepOrder(escalation)),
    ...(kind ? [() => checkConfiguration(alertTypeOf(kind), value as AlertInput)] : []),
  ]
}

/** Runs `work` and adds the path to the field named by an `AppError`: `period: …` becomes `alerts[3].period: …`. */
export function withPathPrefix<T>(root: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof AppError && root ? error.at(`${root}.`) : error
  }
}
