import { eventSearch } from './event-search.ts'
import type { AnyInsight } from './insight.ts'
import { pageViewSampling } from './page-view-sampling.ts'
import { signalList } from './signal-list.ts'
import { volumeSeries } from './volume-series.ts'

/** Every question that can be asked of the history; that for the evidence of an issue is in a room of its own. */
export const insights: readonly AnyInsight[] = [eventSearch, volumeSeries, pageViewSampling, signalList]
