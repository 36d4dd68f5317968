/** The pages of this folder are bundled as one chunk. */
export { DictionaryPage } from './dictionary/dictionary-page.tsx'
export { EventLabelsPage } from './event-labels-page.tsx'
export { EventsPage } from './events/events-page.tsx'
export { SessionPage } from './events/session-page.tsx'
export { JourneysPage } from './journeys/journeys-page.tsx'
export { OrdersPage } from './order-reconciliation-page.tsx'
export { ExecutionPage } from './tag-execution-page.tsx'
export { PerformancePage } from './tag-performance-page.tsx'
