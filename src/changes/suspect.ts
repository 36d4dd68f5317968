import type { EffectKind } from './change.ts'

/** A tested difference and its certainty. */
export interface Suspect {
  kind: EffectKind
  vendor: string
  event: string
  key: string | null
  before: number
  after: number
  /** 0 to 1. */
  effect: number
  /** Probability of such a difference by chance. */
  chance: number
  /** True when it is large enough to matter. */
  matters: boolean
  /** True for an optional key without a history. */
  isUnknownKey?: boolean
}

/** Identifies the vendor and event. */
export const nameKey = ({ vendor, event }: { vendor: string; event: string }): string => JSON.stringify([vendor, event])
