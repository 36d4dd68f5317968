import type { EffectKind } from './change.ts'

/** A tested difference, with the probability that it occurs by chance. */
export interface Suspect {
  kind: EffectKind
  vendor: string
  event: string
  key: string | null
  before: number
  after: number
  /** Size of the effect, 0 to 1. */
  effect: number
  /** Probability that such a difference occurs by chance. */
  chance: number
  /** True when the difference is large enough to matter. */
  matters: boolean
  /** True for a key that not all events have and that has no history. */
  isUnknownKey?: boolean
}

/** Returns a string that identifies the vendor and event. */
export const nameKey = ({ vendor, event }: { vendor: string; event: string }): string => JSON.stringify([vendor, event])
