import type { Channel } from '#client/types.gen'

/** The default channel, which allows a form to be saved immediately. */
export const DEFAULT_CHANNEL: Channel = { type: 'email', target: 'owners' }

/** An escalation step being edited. */
export interface EditedStep {
  /** An empty string while the field is empty. */
  afterMinutes: number | string
  channels: readonly Channel[]
}

/** Paths of the fields of escalation steps, as spelled in error messages. */
export function escalationPaths(steps: readonly EditedStep[]): string[] {
  return steps.flatMap(({ channels }, step) => [
    `steps[${step}].afterMinutes`,
    ...channels.flatMap((_, channel) =>
      ['type', 'target'].map((field) => `steps[${step}].channels[${channel}].${field}`),
    ),
  ])
}
