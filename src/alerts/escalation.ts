import { AppError, checkAll } from '../core/error.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Principal } from '../http/principal.ts'
import type { AlertChannel, Escalation, EscalationStep } from './alert.ts'
import { acceptChannels, showChannels } from './encrypt-channel-target.ts'

/**
 * Throws `AppError('invalid')`, naming the field (`steps[1].afterMinutes`), unless each step comes later than the one
 * before. The value may be of any shape; other faults are left to the schema.
 */
export function checkStepOrder(value: unknown): void {
  const { steps } = Object(value) as { steps?: unknown }
  if (!Array.isArray(steps)) return
  const minutes = steps.map((step) => (Object(step) as { afterMinutes?: unknown }).afterMinutes)
  checkAll(
    minutes.map((own, index) => () => {
      const before = minutes[index - 1]
      if (typeof own !== 'number' || typeof before !== 'number' || own > before) return
      throw new AppError(
        'invalid',
        `steps[${index}].afterMinutes: must be greater than ${before}, the value of the previous step`,
      )
    }),
  )
}

/**
 * Returns the escalation for storage, with sealed targets, like `acceptChannels`. Masked targets are taken from
 * `stored`, which may contain channels of the same alert. Throws `AppError('invalid')`, naming the field
 * (`steps[0].channels[2].target`).
 */
export function acceptEscalation(
  box: SecretBox,
  { steps }: Escalation,
  {
    stored,
    others = [],
    check,
  }: {
    stored: Escalation | undefined
    others?: readonly AlertChannel[]
    check: (channels: readonly AlertChannel[]) => void
  },
): Escalation {
  const all = [...others, ...(stored?.steps ?? []).flatMap(({ channels }) => channels)]
  const accepted: EscalationStep[] = []
  checkAll(
    steps.map((step, index) => () => {
      // The channels of the same step come first, because masked e-mail addresses can be ambiguous.
      const known = [...(stored?.steps[index]?.channels ?? []), ...all]
      try {
        accepted.push({ ...step, channels: acceptChannels(box, step.channels, { stored: known, check }) })
      } catch (error) {
        throw error instanceof AppError ? error.at(`steps[${index}].`) : error
      }
    }),
  )
  return { steps: accepted }
}

/** Returns the escalation as the caller may see it: targets are masked for viewers and read-only keys. */
export function showEscalation(box: SecretBox, { steps }: Escalation, principal: Principal): Escalation {
  return { steps: steps.map((step) => ({ ...step, channels: showChannels(box, step.channels, principal) })) }
}
