import { eventSearch } from './event-search.ts'
import type { Insight } from './insight.ts'
import { pageViewSampling } from './page-view-sampling.ts'
import { volumeSeries } from './volume-series.ts'

/** Every question that can be asked of the history. */
// The list is typed by the widest insight: each one checks its own input by its own schema before it is asked.
export const insights = [eventSearch, volumeSeries, pageViewSampling] as unknown as readonly Insight[]
