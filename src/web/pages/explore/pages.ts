/** The pages of this folder are bundled as one chunk. */
export { DictionaryPage } from './dictionary/dictionary-page.tsx'
export { EventsPage } from './events/events-page.tsx'
export { SessionPage } from './events/session-page.tsx'
export { ExecutionPage } from './execution-page.tsx'
export { JourneysPage } from './journeys/journeys-page.tsx'
export { LabelsPage } from './labels-page.tsx'
export { OrdersPage } from './orders-page.tsx'
export { PerformancePage } from './performance-page.tsx'
