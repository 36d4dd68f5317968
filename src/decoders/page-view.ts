/** Names that vendors use for page views and app screen views, in lower case. The comparison ignores case. */
export const PAGE_VIEWS = [
  'page_view',
  'pageview',
  'page view',
  'page-view',
  'page',
  'page_load',
  'pageload',
  'pagevisit',
  'viewpage',
  'pv',
  '$pageview',
  '$mp_web_page_view',
  '[amplitude] page viewed',
  'page viewed',
  'viewed page',
  'page.display',
  'web.webpagedetails.pageviews',
  'screen_view',
  'screenview',
  'screen view',
  'screen-view',
  'screen',
] as const

const NAMES = new Set<string>(PAGE_VIEWS)

/** True when some vendor uses this event name for page views. */
export function isPageView(event: string): boolean {
  return NAMES.has(event.toLowerCase())
}
