import type { Severity } from '../../../contract/severities.ts'

/** Terms of other products for a severity. */
interface ProductSeverity {
  /** Color of a Discord embed. */
  color: number
  /** Priority in ntfy, from 1 to 5. */
  ntfy: number
  /** Priority in Opsgenie. */
  opsgenie: string
  /** Severity in PagerDuty. */
  pagerduty: string
}

/** The severities of Tagwarden in the terms of other products. */
export const PRODUCT_SEVERITIES: Record<Severity, ProductSeverity> = {
  low: { color: 0x3b82f6, ntfy: 2, opsgenie: 'P5', pagerduty: 'info' },
  medium: { color: 0xeab308, ntfy: 3, opsgenie: 'P3', pagerduty: 'warning' },
  high: { color: 0xf97316, ntfy: 4, opsgenie: 'P2', pagerduty: 'error' },
  critical: { color: 0xdc2626, ntfy: 5, opsgenie: 'P1', pagerduty: 'critical' },
}
