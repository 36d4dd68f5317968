import { Kind, TypeRegistry } from '@sinclair/typebox'
import { checkRule } from '../conditions/condition.ts'
import { AppError } from '../core/error.ts'
import { Closed, parser, type Static, Type } from '../core/schema.ts'
import type { AlertInput } from './alert.ts'
import { AlertInputSchema } from './alert-schema.ts'
import { checkConfiguration, SHAPED_FIELDS } from './configuration.ts'
import { checkTimezone, parsePeriod } from './period.ts'
import { alertTypeOf } from './types/index.ts'

TypeRegistry.Set('ReadByHandler', () => true)

/** A body of one rule: what `MAX_RULE_COST` lets it have, however it is spelled. */
export const RULE_BODY_BYTES = 1024 * 1024

/**
 * An `AlertInput` in the description of a route whose handler gives the value to `readAlertInput`. So one bad alert
 * among many does not cost the others, and a refusal names the field instead of "one of three shapes".
 */
export const RawAlertInputSchema = Type.Unsafe<AlertInput>({ ...AlertInputSchema, [Kind]: 'ReadByHandler' })

export const AlertBulkInputSchema = Closed(
  { alerts: Type.Array(RawAlertInputSchema, { minItems: 1, maxItems: 500 }) },
  { $id: 'AlertBulkInput' },
)
export type AlertBulkInput = Static<typeof AlertBulkInputSchema>

/** All but fields that may have one of several shapes: which one is meant, the type knows. */
const readShared = parser(
  Closed({
    ...AlertInputSchema.properties,
    ...Object.fromEntries(SHAPED_FIELDS.map((field) => [field, Type.Optional(Type.Unknown())])),
  }),
)

/**
 * Reads an alert as it comes in. `AppError('invalid')` names the first field that does not fit the schema, the type
 * of alert, or the language of periods, time zones and conditions; `root` is what the body calls the alert itself
 * (`alerts[3]`, empty for the whole body). Domains and channels, which need more than the value, are not looked at.
 */
export function readAlertInput(value: unknown, root = ''): AlertInput {
  const input: AlertInput = readShared(value, root)
  return within(root, () => {
    if (!input.name.trim()) throw new AppError('invalid', 'name: must not be blank')
    const type = alertTypeOf(input.alertType)
    parsePeriod(input.period)
    checkTimezone(input.timezone ?? 'UTC')
    checkRule(input)
    checkConfiguration(type, input)
    type.check(input)
    return input
  })
}

/** Runs `work`; a refusal that it throws says `alerts[3].period: …` where it said `period: …`. */
export function within<T>(root: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof AppError) || !root) throw error
    throw new AppError(error.code, `${root}.${error.message}`, error.retryAfterS)
  }
}
