import type { Clock } from '../core/clock.ts'
import { planMerges, runMerge } from '../warehouse/compact.ts'
import { compactRollups } from '../warehouse/compact-rollups.ts'
import type { DuckdbWarehouse } from '../warehouse/duckdb.ts'
import type { Manifest } from '../warehouse/manifest.ts'
import { compactPages } from '../warehouse/pages.ts'
import type { Job } from './job.ts'

/** Makes few sorted files out of many small ones, of events and of their counts. */
export function compactJob(parts: {
  warehouse: DuckdbWarehouse
  manifest: Manifest
  folder: string
  clock: Clock
}): Job {
  const { warehouse, manifest, folder, clock } = parts
  return {
    name: 'compact',
    pattern: '*/5 * * * * *',
    async run() {
      for (const merge of planMerges(manifest.files(), clock.now())) await runMerge(warehouse, manifest, folder, merge)
      await compactRollups(warehouse, manifest, folder, clock.now())
      await compactPages(warehouse, manifest, folder, clock.now())
    },
  }
}
