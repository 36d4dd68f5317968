import { attemptEach } from '../core/attempt.ts'
import type { Clock } from '../core/clock.ts'
import { compactEvents } from '../warehouse/duckdb/compact.ts'
import { compactRollups } from '../warehouse/duckdb/compact-rollups.ts'
import type { Manifest } from '../warehouse/duckdb/manifest.ts'
import { compactPages } from '../warehouse/duckdb/pages.ts'
import type { DuckdbWarehouse } from '../warehouse/duckdb/warehouse.ts'

export interface CompactParts {
  warehouse: DuckdbWarehouse
  manifest: Manifest
  /** Of event files. */
  folder: string
  clock: Clock
}

/**
 * Makes few sorted files out of many small ones, of events, of their counts and of `pages`. A merge that fails costs the
 * others nothing and is tried again in the next round; the round fails at its end.
 */
export function compact({ warehouse, manifest, folder, clock }: CompactParts): Promise<void> {
  return attemptEach('merges', [compactEvents, compactRollups, compactPages], (merge) =>
    merge(warehouse, manifest, folder, clock.now()),
  )
}
