/** Lists whose filters can be saved as views. */
export const SAVED_VIEW_PAGES = ['issues', 'events', 'alerts'] as const
export type SavedViewPage = (typeof SAVED_VIEW_PAGES)[number]
