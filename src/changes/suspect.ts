import type { EffectKind } from './change.ts'

/** A difference that was looked for, and how sure it is. */
export interface Suspect {
  kind: EffectKind
  vendor: string
  event: string
  key: string | null
  before: number
  after: number
  /** 0 to 1. */
  effect: number
  /** The chance of a difference like it where nothing changed. */
  chance: number
  /** Whether it is large enough to matter. */
  matters: boolean
  /** True for an optional key of which the past says nothing. */
  isUnknownKey?: boolean
}

/** The same text for the same vendor and event. */
export const nameKey = ({ vendor, event }: { vendor: string; event: string }): string => JSON.stringify([vendor, event])
