/** Severities of alerts and issues, lowest first. */
export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Severities, highest first. */
export const SEVERITIES_DESCENDING: readonly Severity[] = SEVERITIES.toReversed()
