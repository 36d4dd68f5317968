import { beforeConsent } from './before-consent.ts'
import { causes } from './causes.ts'
import { compare } from './compare.ts'
import { consentShares } from './consent-shares.ts'
import { eventDictionary } from './event-dictionary.ts'
import { eventSearch } from './event-search.ts'
import { flatDictionary } from './flat-dictionary.ts'
import type { AnyInsight } from './insight.ts'
import { orgValue } from './org-value.ts'
import { pageViewSampling } from './page-view-sampling.ts'
import { pairedEvents } from './paired-events.ts'
import { performanceStats } from './performance-stats.ts'
import { reconcileOrders } from './reconcile-orders.ts'
import { scores } from './scores.ts'
import { sessionFlows } from './session-flows.ts'
import { signalList } from './signal-list.ts'
import { silentLibraries } from './silent-libraries.ts'
import { suggestions } from './suggestions.ts'
import { tagPerformance } from './tag-performance.ts'
import { volumeSegments } from './volume-segments.ts'
import { volumeSeries } from './volume-series.ts'
import { weeklyReport } from './weekly-report.ts'

/** All insights except issue evidence, which is in `src/evidence`. */
export const insights: readonly AnyInsight[] = [
  eventSearch,
  eventDictionary,
  flatDictionary,
  performanceStats,
  volumeSeries,
  volumeSegments,
  compare,
  beforeConsent,
  pageViewSampling,
  silentLibraries,
  signalList,
  causes,
  scores,
  consentShares,
  suggestions,
  orgValue,
  reconcileOrders,
  pairedEvents,
  sessionFlows,
  tagPerformance,
  weeklyReport,
]
